/** Requests: MPI 5.0 §3.7 (completion, freeing, cancelling) and §3.9 (persistent ones). */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkOf, wordFilter } from "../arguments/arguments.ts";
import { S_CANCELLED, S_ERROR, statusBytes } from "../arguments/status.ts";
import { type Call, type CallTable, callsOf } from "../call-table.ts";
import type { CRequest } from "../handles/objects.ts";
import { listLengthMax, type Program, REQUEST_NULL } from "../program.ts";
import {
  allDone,
  chooseAny,
  chooseAnyLater,
  chooseSome,
  chooseSomeLater,
  chooseTest,
  isActive,
} from "../replay/choices.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { conclude, failed, putEmptyStatus, putStatus } from "../waiting/conclude-requests.ts";
import { queryThen } from "../waiting/generalized-requests.ts";
import { forget } from "../waiting/unattended-requests.ts";
import { CallAgain, waitForOne, waitUntil } from "../waiting/waiting.ts";
import { cancelGeneralized, freeGeneralized } from "./generalized-requests.ts";

/**
 * A complete request of the program's: ended, and its handle gone unless it can be started again. A list may name one twice: it
 * ends once, and in its second place it is a request which is not active.
 */
function end(program: Program, request: CRequest, handleAt: number, status: number): number {
  const { ints, requests } = program;
  // It is still there, and can be completed when the program has acknowledged the dead.
  if (isActive(request) && isPending(program, request)) return putStatus(program, request, status);
  const isOneShot = request.restart === null;
  if (isOneShot) ints[handleAt >> 2] = REQUEST_NULL;
  if (!isActive(request)) {
    putEmptyStatus(ints, status);
    return 0;
  }
  const error = conclude(program, request, status);
  if (isOneShot) requests.remove(request.handle);
  return error;
}

function isPending(program: Program, request: CRequest): boolean {
  return program.operations.isStalled(request.record) || request.after?.isPending?.(program, request) === true;
}

/** The program has acknowledged deaths: requests of which a part stood still go on. */
export function resumePending(program: Program): void {
  const { operations, requests } = program;
  for (const request of requests.list()) {
    if (isActive(request) && operations.isComplete(request.record)) request.after?.isPending?.(program, request);
  }
}

export const statusAt = (statuses: number, i: number): number => (statuses === 0 ? 0 : statuses + i * statusBytes);

class EndOne implements Continuation {
  private readonly request: CRequest;
  private readonly handleAt: number;
  private readonly status: number;

  constructor(request: CRequest, handleAt: number, status: number) {
    this.request = request;
    this.handleAt = handleAt;
    this.status = status;
  }

  resume(program: Program): number {
    const error = end(program, this.request, this.handleAt, this.status);
    return error === 0 ? 0 : program.raise(failed(program, this.request, error));
  }
}

/** Of several requests the first that has failed: its communicator's handler hears of its error. */
interface FailedRequest {
  readonly request: CRequest;
  readonly error: number;
}

function raiseInStatus(program: Program, { request, error }: FailedRequest): number {
  return program.raise(failed(program, request, error), ErrorClass.IN_STATUS);
}

/** Ends all of them; with an error in one the statuses tell which. */
class EndAll implements Continuation {
  private readonly requests: readonly (CRequest | null)[];
  private readonly handles: number;
  private readonly statuses: number;

  constructor(requests: readonly (CRequest | null)[], handles: number, statuses: number) {
    this.requests = requests;
    this.handles = handles;
    this.statuses = statuses;
  }

  resume(program: Program): number {
    const { ints } = program;
    const { handles, statuses } = this;
    let failing: FailedRequest | null = null;
    const errors = this.requests.map((request, i) => {
      const status = statusAt(statuses, i);
      if (request === null) {
        putEmptyStatus(ints, status);
        return 0;
      }
      const error = end(program, request, handles + 4 * i, status);
      if (error !== 0) failing ??= { request, error };
      return error;
    });
    if (failing === null) return 0;
    if (statuses !== 0) for (const [i, error] of errors.entries()) ints[(statusAt(statuses, i) >> 2) + S_ERROR] = error;
    return raiseInStatus(program, failing);
  }
}

/** Addresses of what MPI_Waitsome and MPI_Testsome give. */
interface SomeOuts {
  readonly outcount: number;
  readonly indices: number;
  readonly statuses: number;
}

/** Ends those of the requests whose indices are given, which are complete. */
class EndSome implements Continuation {
  private readonly requests: readonly (CRequest | null)[];
  private readonly done: readonly number[];
  private readonly handles: number;
  private readonly outs: SomeOuts;

  constructor(requests: readonly (CRequest | null)[], done: readonly number[], handles: number, outs: SomeOuts) {
    this.requests = requests;
    this.done = done;
    this.handles = handles;
    this.outs = outs;
  }

  resume(program: Program): number {
    const { ints } = program;
    const { outcount, indices, statuses } = this.outs;
    let failing: FailedRequest | null = null;
    let ended = 0;
    for (const i of this.done) {
      const request = this.requests[i]!;
      const isEnded = !isActive(request);
      const status = isEnded ? 0 : statusAt(statuses, ended);
      const error = end(program, request, this.handles + 4 * i, status);
      if (isEnded) continue;
      if (status !== 0) ints[(status >> 2) + S_ERROR] = error;
      if (error !== 0) failing ??= { request, error };
      ints[(indices >> 2) + ended] = i;
      ended++;
    }
    ints[outcount >> 2] = ended;
    return failing === null ? 0 : raiseInStatus(program, failing);
  }
}

/** The request behind a handle in memory; null for MPI_REQUEST_NULL. */
function requestAt(program: Program, handleAt: number): CRequest | null {
  const handle = program.ints[handleAt >> 2]!;
  if (handle === REQUEST_NULL) return null;
  const request = program.requests.find(handle);
  if (request !== undefined) return request;
  program.owner = program.anyone;
  return program.requests.get(handle);
}

function requestsAt(program: Program, count: number, handles: number): (CRequest | null)[] {
  if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: counts are from 0`);
  if (count > listLengthMax) {
    throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: there are not as many`);
  }
  return Array.from({ length: count }, (_, i) => requestAt(program, handles + 4 * i));
}

type Requests = readonly (CRequest | null)[];

const endOne = (program: Program, request: CRequest, handleAt: number, status: number): number =>
  queryThen(program, [request], new EndOne(request, handleAt, status));

const endAll = (program: Program, requests: Requests, handles: number, statuses: number): number =>
  queryThen(program, requests, new EndAll(requests, handles, statuses));

function endSome(program: Program, requests: Requests, done: readonly number[], handles: number, outs: SomeOuts) {
  const complete = done.map((i) => requests[i]!);
  return queryThen(program, complete, new EndSome(requests, done, handles, outs));
}

/** None of the requests is active. */
function putNone({ ints }: Program, index: number, status: number): number {
  ints[index >> 2] = UNDEFINED;
  putEmptyStatus(ints, status);
  return 0;
}

function start(program: Program, handleAt: number): void {
  const request = requestAt(program, handleAt);
  if (request === null || request.restart === null || request.record >= 0) {
    const state = request === null || request.restart === null ? "it is not persistent" : "it is under way";
    throw new MpiError(ErrorClass.REQUEST, `Cannot start the request: ${state}`);
  }
  program.owner = request.comm;
  request.restart.start(program, request);
}

/** `choose`: whether the call waits for one that is complete. */
const some =
  (name: "MPI_Waitsome" | "MPI_Testsome", choose: typeof chooseSome) =>
  (program: Program, count: number, handles: number, outcount: number, indices: number, statuses: number): number => {
    const requests = requestsAt(program, count, handles);
    if (!requests.some(isActive)) {
      program.ints[outcount >> 2] = UNDEFINED;
      return 0;
    }
    const outs = { outcount, indices, statuses };
    const tell = (done: readonly number[]) => endSome(program, requests, done, handles, outs);
    return choose(program, requests, tell, new CallAgain(name, count, handles, outcount, indices, statuses));
  };

const table: CallTable = {
  MPI_Test(program, handleAt: number, flag: number, status: number) {
    const { ints } = program;
    const request = requestAt(program, handleAt);
    if (!isActive(request)) {
      ints[flag >> 2] = 1;
      putEmptyStatus(ints, status);
      return 0;
    }
    program.owner = request.comm;
    const tell = (done: boolean) => {
      ints[flag >> 2] = done ? 1 : 0;
      return done ? endOne(program, request, handleAt, status) : 0;
    };
    return chooseTest(program, [request], tell, new CallAgain("MPI_Test", handleAt, flag, status));
  },
  MPI_Testall(program, count: number, handles: number, flag: number, statuses: number) {
    const requests = requestsAt(program, count, handles);
    const tell = (done: boolean) => {
      program.ints[flag >> 2] = done ? 1 : 0;
      return done ? endAll(program, requests, handles, statuses) : 0;
    };
    return chooseTest(program, requests, tell, new CallAgain("MPI_Testall", count, handles, flag, statuses));
  },
  MPI_Waitany(program, count: number, handles: number, index: number, status: number) {
    const requests = requestsAt(program, count, handles);
    if (!requests.some(isActive)) return putNone(program, index, status);
    const tell = (i: number) => {
      program.ints[index >> 2] = i;
      return endOne(program, requests[i]!, handles + 4 * i, status);
    };
    return chooseAnyLater(program, requests, tell, new CallAgain("MPI_Waitany", count, handles, index, status));
  },
  MPI_Testany(program, count: number, handles: number, index: number, flag: number, status: number) {
    const { ints } = program;
    const requests = requestsAt(program, count, handles);
    if (!requests.some(isActive)) {
      ints[flag >> 2] = 1;
      return putNone(program, index, status);
    }
    const tell = (i: number) => {
      ints[flag >> 2] = i < 0 ? 0 : 1;
      ints[index >> 2] = i < 0 ? UNDEFINED : i;
      return i < 0 ? 0 : endOne(program, requests[i]!, handles + 4 * i, status);
    };
    return chooseAny(program, requests, tell, new CallAgain("MPI_Testany", count, handles, index, flag, status));
  },
  MPI_Waitsome: some("MPI_Waitsome", chooseSomeLater),
  MPI_Testsome: some("MPI_Testsome", chooseSome),
  MPI_Request_free(program, handleAt: number) {
    const request = requestAt(program, handleAt);
    if (request === null) throw new MpiError(ErrorClass.REQUEST, "Cannot free the request: it is MPI_REQUEST_NULL");
    program.owner = request.comm;
    if (request.generalized !== null) return freeGeneralized(program, request, handleAt);
    if (request.record >= 0) forget(program, request);
    program.requests.remove(request.handle);
    program.ints[handleAt >> 2] = REQUEST_NULL;
    return 0;
  },
  MPI_Cancel(program, handleAt: number) {
    const { operations } = program;
    const request = requestAt(program, handleAt);
    if (!isActive(request)) throw new MpiError(ErrorClass.REQUEST, "Cannot cancel the request: it is not under way");
    program.owner = request.comm;
    if (request.generalized !== null) return cancelGeneralized(program, request);
    if (!operations.isMessage(request.record)) {
      throw new MpiError(ErrorClass.REQUEST, "Cannot cancel the request: it is not that of one message");
    }
    operations.cancel(request.record);
    return 0;
  },
  MPI_Test_cancelled({ ints }, status: number, flag: number) {
    ints[flag >> 2] = ints[(status >> 2) + S_CANCELLED]! & 1;
    return 0;
  },
  MPI_Status_set_cancelled({ ints }, status: number, flag: number) {
    const at = (status >> 2) + S_CANCELLED;
    ints[at] = (ints[at]! & ~1) | (flag === 0 ? 0 : 1);
    return 0;
  },
  MPI_Start(program, handleAt: number) {
    start(program, handleAt);
    return 0;
  },
  MPI_Startall(program, count: number, handles: number) {
    if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot start ${count} requests: counts are from 0`);
    for (let i = 0; i < count; i++) start(program, handles + 4 * i);
    return 0;
  },
};

/** Perhaps the next call needs no engine. (Calls that wait end with the same question.) */
function opened({ process }: Program, answer: number): number {
  if (process.pass.isUsed) process.openPass();
  return answer;
}

/** MPI_Wait, one of the fastest calls. */
function waiter(program: Program): Call {
  const { ints, operations } = program;
  const isNoWord = wordFilter(program);
  const checkArguments = checkOf(program, "MPI_Wait")!;
  return (handleAt: number, status: number): number => {
    program.call = "MPI_Wait";
    try {
      program.checkRunning("MPI_Wait");
      if (isNoWord(handleAt, 4) || (status !== 0 && isNoWord(status, statusBytes))) {
        program.owner = program.anyone;
        checkArguments([handleAt, status]);
      }
      const request = requestAt(program, handleAt);
      if (!isActive(request)) {
        putEmptyStatus(ints, status);
        return 0;
      }
      program.owner = request.comm;
      const finish = () => endOne(program, request, handleAt, status);
      if (operations.isComplete(request.record)) return opened(program, finish());
      return waitForOne(program, request.record, finish, new CallAgain("MPI_Wait", handleAt, status));
    } catch (error) {
      return program.raise(error);
    }
  };
}

function allWaiter(program: Program): Call {
  const isNoWord = wordFilter(program);
  const checkArguments = checkOf(program, "MPI_Waitall")!;
  return (count: number, handles: number, statuses: number): number => {
    program.call = "MPI_Waitall";
    try {
      program.checkRunning("MPI_Waitall");
      if (isNoWord(handles, 4 * count) || (statuses !== 0 && isNoWord(statuses, statusBytes * count))) {
        program.owner = program.anyone;
        checkArguments([count, handles, statuses]);
      }
      const requests = requestsAt(program, count, handles);
      const isReady = () => allDone(program, requests);
      const finish = () => endAll(program, requests, handles, statuses);
      if (isReady()) return opened(program, finish());
      return waitUntil(program, isReady, finish, new CallAgain("MPI_Waitall", count, handles, statuses));
    } catch (error) {
      return program.raise(error);
    }
  };
}

export function requestCalls(program: Program): Record<string, Call> {
  return { ...callsOf(program, table), MPI_Wait: waiter(program), MPI_Waitall: allWaiter(program) };
}

saves({ EndOne, EndAll, EndSome });
