/** Looking at requests without ending them: MPI 5.0 §3.7.6. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Continuation } from "../callbacks.ts";
import { chooseAny, chooseSome, chooseTest } from "../choices.ts";
import { lookThen } from "../generalized.ts";
import type { CRequest } from "../objects.ts";
import { type Program, REQUEST_NULL } from "../program.ts";
import { CallAgain, interrupted } from "../waiting.ts";
import { isActive, putEmptyStatus, putStatus, statusAt } from "./requests.ts";

/** Writes the statuses of requests that are complete or not active, one behind the other. */
class Tell implements Continuation {
  private readonly requests: readonly (CRequest | null)[];
  private readonly statuses: number;

  constructor(requests: readonly (CRequest | null)[], statuses: number) {
    this.requests = requests;
    this.statuses = statuses;
  }

  resume(program: Program): number {
    for (const [i, request] of this.requests.entries()) {
      const status = statusAt(this.statuses, i);
      if (isActive(request)) putStatus(program, request, status);
      else putEmptyStatus(program.ints, status);
    }
    return 0;
  }
}

export function requestStatusCalls(program: Program) {
  const { engine, ints, process } = program;

  const find = (handle: number): CRequest | null => (handle === REQUEST_NULL ? null : program.requests.get(handle));

  function all(count: number, handles: number): (CRequest | null)[] {
    if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: counts are from 0`);
    return program.list(handles, count).map(find);
  }

  const isDone = (request: CRequest | null): boolean => !isActive(request) || engine.isComplete(request.record);

  const tell = (requests: readonly (CRequest | null)[], statuses: number): number =>
    lookThen(program, requests, new Tell(requests, statuses));

  return {
    MPI_Request_get_status(handle: number, flag: number, status: number): number {
      const request = find(handle);
      const finish = (done: boolean) => {
        ints[flag >> 2] = done ? 1 : 0;
        return done ? tell([request], status) : 0;
      };
      const again = new CallAgain("MPI_Request_get_status", handle, flag, status);
      if (process.choices !== null) return chooseTest(program, [request], finish, again);
      return interrupted(program, again) ?? finish(isDone(request));
    },
    MPI_Request_get_status_all(count: number, handles: number, flag: number, statuses: number): number {
      const requests = all(count, handles);
      const finish = (done: boolean) => {
        ints[flag >> 2] = done ? 1 : 0;
        return done ? tell(requests, statuses) : 0;
      };
      const again = new CallAgain("MPI_Request_get_status_all", count, handles, flag, statuses);
      if (process.choices !== null) return chooseTest(program, requests, finish, again);
      return interrupted(program, again) ?? finish(requests.every(isDone));
    },
    MPI_Request_get_status_any(count: number, handles: number, index: number, flag: number, status: number): number {
      const requests = all(count, handles);
      const hasActive = requests.some(isActive);
      const finish = (i: number) => {
        const isOver = i >= 0 || !hasActive;
        ints[flag >> 2] = isOver ? 1 : 0;
        ints[index >> 2] = i < 0 ? UNDEFINED : i;
        return isOver ? tell([requests[i] ?? null], status) : 0;
      };
      const again = new CallAgain("MPI_Request_get_status_any", count, handles, index, flag, status);
      if (process.choices !== null && hasActive) return chooseAny(program, requests, finish, again);
      const firstDone = () => requests.findIndex((request) => isActive(request) && isDone(request));
      return interrupted(program, again) ?? finish(firstDone());
    },
    MPI_Request_get_status_some(
      count: number,
      handles: number,
      outcount: number,
      indices: number,
      statuses: number,
    ): number {
      const requests = all(count, handles);
      const hasActive = requests.some(isActive);
      const finish = (done: readonly number[]) => {
        ints[outcount >> 2] = hasActive ? done.length : UNDEFINED;
        program.putList(indices, done);
        return tell(
          done.map((i) => requests[i]!),
          statuses,
        );
      };
      const again = new CallAgain("MPI_Request_get_status_some", count, handles, outcount, indices, statuses);
      if (process.choices !== null && hasActive) return chooseSome(program, requests, finish, again);
      const allDone = () => [...requests.keys()].filter((i) => isActive(requests[i]!) && isDone(requests[i]!));
      return interrupted(program, again) ?? finish(allDone());
    },
  };
}

saves({ Tell });
