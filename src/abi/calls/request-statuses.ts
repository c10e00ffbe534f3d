/** Looking at requests without ending them: MPI 5.0 §3.7.6. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Continuation } from "../callbacks.ts";
import { lookThen } from "../generalized.ts";
import type { CRequest } from "../objects.ts";
import { type Program, REQUEST_NULL } from "../program.ts";
import { CallAgain, look } from "../waiting.ts";
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
  const { engine, ints } = program;

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
      const finish = () => {
        const done = isDone(request);
        ints[flag >> 2] = done ? 1 : 0;
        return done ? tell([request], status) : 0;
      };
      return look(program, finish, new CallAgain("MPI_Request_get_status", handle, flag, status));
    },
    MPI_Request_get_status_all(count: number, handles: number, flag: number, statuses: number): number {
      const requests = all(count, handles);
      const finish = () => {
        const done = requests.every(isDone);
        ints[flag >> 2] = done ? 1 : 0;
        return done ? tell(requests, statuses) : 0;
      };
      return look(program, finish, new CallAgain("MPI_Request_get_status_all", count, handles, flag, statuses));
    },
    MPI_Request_get_status_any(count: number, handles: number, index: number, flag: number, status: number): number {
      const requests = all(count, handles);
      const finish = () => {
        const i = requests.findIndex((request) => isActive(request) && isDone(request));
        const isOver = i >= 0 || !requests.some(isActive);
        ints[flag >> 2] = isOver ? 1 : 0;
        ints[index >> 2] = i < 0 ? UNDEFINED : i;
        return isOver ? tell([requests[i] ?? null], status) : 0;
      };
      const again = new CallAgain("MPI_Request_get_status_any", count, handles, index, flag, status);
      return look(program, finish, again);
    },
    MPI_Request_get_status_some(
      count: number,
      handles: number,
      outcount: number,
      indices: number,
      statuses: number,
    ): number {
      const requests = all(count, handles);
      const finish = () => {
        const done = [...requests.keys()].filter((i) => isActive(requests[i]!) && isDone(requests[i]!));
        ints[outcount >> 2] = requests.some(isActive) ? done.length : UNDEFINED;
        program.putList(indices, done);
        return tell(
          done.map((i) => requests[i]!),
          statuses,
        );
      };
      const again = new CallAgain("MPI_Request_get_status_some", count, handles, outcount, indices, statuses);
      return look(program, finish, again);
    },
  };
}

saves({ Tell });
