/** Looking at requests without ending them: MPI 5.0 §3.7.6. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import type { CRequest } from "../handles/objects.ts";
import { type Program, REQUEST_NULL } from "../program.ts";
import { chooseAny, chooseSome, chooseTest, isActive } from "../replay/choices.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { putEmptyStatus, putStatus } from "../waiting/conclude-requests.ts";
import { lookThen } from "../waiting/generalized-requests.ts";
import { CallAgain, look } from "../waiting/waiting.ts";
import { statusAt } from "./requests.ts";

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
      if (isActive(request)) {
        program.operations.show(request.record);
        putStatus(program, request, status);
      } else putEmptyStatus(program.ints, status);
    }
    return 0;
  }
}

const find = (program: Program, handle: number): CRequest | null =>
  handle === REQUEST_NULL ? null : program.requests.get(handle);

function findAll(program: Program, count: number, handles: number): (CRequest | null)[] {
  if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: counts are from 0`);
  return program.list(handles, count).map((handle) => find(program, handle));
}

const tell = (program: Program, requests: readonly (CRequest | null)[], statuses: number): number =>
  lookThen(program, requests, new Tell(requests, statuses));

const table: CallTable = {
  MPI_Request_get_status(program, handle: number, flag: number, status: number) {
    const request = find(program, handle);
    const finish = (done: boolean) => {
      program.ints[flag >> 2] = done ? 1 : 0;
      return done ? tell(program, [request], status) : 0;
    };
    return chooseTest(program, [request], finish, new CallAgain("MPI_Request_get_status", handle, flag, status));
  },
  MPI_Request_get_status_all(program, count: number, handles: number, flag: number, statuses: number) {
    const requests = findAll(program, count, handles);
    const finish = (done: boolean) => {
      program.ints[flag >> 2] = done ? 1 : 0;
      return done ? tell(program, requests, statuses) : 0;
    };
    const again = new CallAgain("MPI_Request_get_status_all", count, handles, flag, statuses);
    return chooseTest(program, requests, finish, again);
  },
  MPI_Request_get_status_any(program, count: number, handles: number, index: number, flag: number, status: number) {
    const { ints } = program;
    const requests = findAll(program, count, handles);
    const hasActive = requests.some(isActive);
    const finish = (i: number) => {
      const isOver = i >= 0 || !hasActive;
      ints[flag >> 2] = isOver ? 1 : 0;
      ints[index >> 2] = i < 0 ? UNDEFINED : i;
      return isOver ? tell(program, [requests[i] ?? null], status) : 0;
    };
    const again = new CallAgain("MPI_Request_get_status_any", count, handles, index, flag, status);
    if (hasActive) return chooseAny(program, requests, finish, again);
    return look(program, () => finish(-1), again);
  },
  MPI_Request_get_status_some(
    program,
    count: number,
    handles: number,
    outcount: number,
    indices: number,
    statuses: number,
  ) {
    const requests = findAll(program, count, handles);
    const hasActive = requests.some(isActive);
    const finish = (done: readonly number[]) => {
      program.ints[outcount >> 2] = hasActive ? done.length : UNDEFINED;
      program.putList(indices, done);
      const complete = done.map((i) => requests[i]!);
      return tell(program, complete, statuses);
    };
    const again = new CallAgain("MPI_Request_get_status_some", count, handles, outcount, indices, statuses);
    if (hasActive) return chooseSome(program, requests, finish, again);
    return look(program, () => finish([]), again);
  },
};

export const requestStatusCalls = (program: Program) => callsOf(program, table);

saves({ Tell });
