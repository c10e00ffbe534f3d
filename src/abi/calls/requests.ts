/** Requests: MPI 5.0 §3.7 (completion, freeing, cancelling) and §3.9 (persistent ones). */
import { ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import {
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  RecordFlag,
  RecordKind,
} from "../../core/request/records.ts";
import { checkOf, wordFilter } from "../arguments.ts";
import type { Continuation } from "../callbacks.ts";
import { chooseAny, chooseAnyLater, chooseSome, chooseSomeLater, chooseTest } from "../choices.ts";
import { queryThen } from "../generalized.ts";
import { forget } from "../leftovers.ts";
import { type CRequest, inactive } from "../objects.ts";
import { listLengthMax, type Program, REQUEST_NULL } from "../program.ts";
import { S_BYTES, S_CANCELLED, S_ERROR, S_SOURCE, S_TAG, STATUS_IGNORE, statusBytes } from "../status.ts";
import { CallAgain, interrupted, waitForOne, waitUntil } from "../waiting.ts";
import { cancelGeneralized, freeGeneralized } from "./generalized-requests.ts";

/** The status of a request that is not active (MPI 5.0 §3.7.3). */
export function putEmptyStatus(ints: Int32Array, status: number): void {
  if (status === STATUS_IGNORE) return;
  const at = status >> 2;
  ints[at + S_SOURCE] = ANY_SOURCE;
  ints[at + S_TAG] = ANY_TAG;
  ints[at + S_BYTES] = 0;
  ints[at + S_CANCELLED] = 0;
}

/** Writes the status of a complete request; returns its error code. The request stays. */
export function putStatus({ engine, ints }: Program, request: CRequest, status: number): number {
  const { records } = engine;
  const { record } = request;
  const error = records.get(record, R_ERROR);
  if (status === STATUS_IGNORE) return error;
  const at = status >> 2;
  if (request.generalized !== null) {
    const from = request.generalized.status >> 2;
    for (const word of [S_SOURCE, S_TAG, S_BYTES, S_CANCELLED]) ints[at + word] = ints[from + word]!;
    return error;
  }
  const kind = records.get(record, R_KIND);
  const cancelled = (records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0;
  if ((kind === RecordKind.RECEIVE || request.tellsMessage) && !cancelled) {
    const world = records.get(record, R_STATUS_SOURCE);
    ints[at + S_SOURCE] = world < 0 ? world : request.comm.core.peers.rankOf(world as never);
    const tag = records.get(record, R_STATUS_TAG);
    ints[at + S_TAG] = world === PROC_NULL ? tag : (request.statusTag ?? tag);
    ints[at + S_BYTES] = records.get(record, R_STATUS_BYTES);
  } else {
    ints[at + S_SOURCE] = ANY_SOURCE;
    ints[at + S_TAG] = ANY_TAG;
    ints[at + S_BYTES] = 0;
  }
  ints[at + S_CANCELLED] = cancelled ? 1 : 0;
  return error;
}

/** Ends a complete request: status written, bytes where they belong, its record given back. Returns its error code. */
export function conclude(program: Program, request: CRequest, status: number): number {
  const { engine } = program;
  const { record, after } = request;
  const bytes = engine.records.get(record, R_STATUS_BYTES);
  const error = putStatus(program, request, status);
  engine.giveBack(record);
  request.record = inactive;
  request.after = null;
  after?.finish(program, bytes, error);
  return error;
}

/** A complete request of the program's: ended, and its handle gone unless it can be started again. */
function end(program: Program, request: CRequest, handleAt: number, status: number): number {
  const error = conclude(program, request, status);
  if (request.restart === null) {
    program.requests.remove(request.handle);
    program.ints[handleAt >> 2] = REQUEST_NULL;
  }
  return error;
}

export function failed(program: Program, request: CRequest, code: number): MpiError {
  program.owner = request.comm;
  return new MpiError(code, `Cannot complete the request: ${program.errorCodes.stringOf(code)}`);
}

/** For blocking calls: ends their request, which the program never sees. */
export class Concluded implements Continuation {
  private readonly request: CRequest;
  private readonly status: number;

  constructor(request: CRequest, status: number) {
    this.request = request;
    this.status = status;
  }

  resume(program: Program): number {
    const error = conclude(program, this.request, this.status);
    return error === 0 ? 0 : program.raise(failed(program, this.request, error));
  }
}

export const statusAt = (statuses: number, i: number): number => (statuses === 0 ? 0 : statuses + i * statusBytes);

export const isActive = (request: CRequest | null): request is CRequest => request !== null && request.record >= 0;

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
    let failing: CRequest | null = null;
    const errors = this.requests.map((request, i) => {
      const status = statusAt(statuses, i);
      if (!isActive(request)) {
        putEmptyStatus(ints, status);
        return 0;
      }
      const error = end(program, request, handles + 4 * i, status);
      if (error !== 0) failing ??= request;
      return error;
    });
    if (failing === null) return 0;
    if (statuses !== 0) for (const [i, error] of errors.entries()) ints[(statusAt(statuses, i) >> 2) + S_ERROR] = error;
    return program.raise(failed(program, failing, ErrorClass.IN_STATUS));
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
    let failing: CRequest | null = null;
    for (const [count, i] of this.done.entries()) {
      const request = this.requests[i]!;
      const status = statusAt(statuses, count);
      const error = end(program, request, this.handles + 4 * i, status);
      if (status !== 0) ints[(status >> 2) + S_ERROR] = error;
      if (error !== 0) failing ??= request;
      ints[(indices >> 2) + count] = i;
    }
    ints[outcount >> 2] = this.done.length;
    return failing === null ? 0 : program.raise(failed(program, failing, ErrorClass.IN_STATUS));
  }
}

export function requestCalls(program: Program) {
  const { engine, ints, process } = program;
  const isNoWord = wordFilter(program);
  const [checkWait, checkWaitall] = [checkOf(program, "MPI_Wait")!, checkOf(program, "MPI_Waitall")!];

  /** The request behind a handle in memory; null for MPI_REQUEST_NULL. */
  function at(handleAt: number): CRequest | null {
    const handle = ints[handleAt >> 2]!;
    if (handle === REQUEST_NULL) return null;
    const request = program.requests.find(handle);
    if (request !== undefined) return request;
    program.owner = program.anyone;
    return program.requests.get(handle);
  }

  const isDone = (request: CRequest | null): boolean => !isActive(request) || engine.isComplete(request.record);

  function all(count: number, handles: number): (CRequest | null)[] {
    if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: counts are from 0`);
    if (count > listLengthMax)
      throw new MpiError(ErrorClass.COUNT, `Cannot use ${count} requests: there are not as many`);
    return Array.from({ length: count }, (_, i) => at(handles + 4 * i));
  }

  const firstDone = (requests: readonly (CRequest | null)[]) =>
    requests.findIndex((request) => isActive(request) && engine.isComplete(request.record));

  const allDone = (requests: readonly (CRequest | null)[]) =>
    [...requests.keys()].filter((i) => isActive(requests[i]!) && isDone(requests[i]!));

  function endSome(
    requests: readonly (CRequest | null)[],
    done: readonly number[],
    handles: number,
    outs: SomeOuts,
  ): number {
    const complete = done.map((i) => requests[i]!);
    return queryThen(program, complete, new EndSome(requests, done, handles, outs));
  }

  const endAll = (requests: readonly (CRequest | null)[], handles: number, statuses: number): number =>
    queryThen(program, requests, new EndAll(requests, handles, statuses));

  const endOne = (request: CRequest, handleAt: number, status: number): number =>
    queryThen(program, [request], new EndOne(request, handleAt, status));

  function start(handleAt: number): void {
    const request = at(handleAt);
    if (request === null || request.restart === null || request.record >= 0) {
      const state = request === null || request.restart === null ? "it is not persistent" : "it is under way";
      throw new MpiError(ErrorClass.REQUEST, `Cannot start the request: ${state}`);
    }
    program.owner = request.comm;
    request.restart.start(program, request);
  }

  return {
    MPI_Wait(handleAt: number, status: number): number {
      try {
        program.checkRunning("MPI_Wait");
        if (isNoWord(handleAt, 4) || (status !== 0 && isNoWord(status, statusBytes))) {
          program.owner = program.anyone;
          checkWait([handleAt, status]);
        }
        const request = at(handleAt);
        if (!isActive(request)) {
          putEmptyStatus(ints, status);
          return 0;
        }
        program.owner = request.comm;
        const finish = () => endOne(request, handleAt, status);
        if (engine.isComplete(request.record)) return finish();
        return waitForOne(program, request.record, finish, new CallAgain("MPI_Wait", handleAt, status));
      } catch (error) {
        return program.raise(error);
      }
    },
    MPI_Test(handleAt: number, flag: number, status: number): number {
      const request = at(handleAt);
      if (!isActive(request)) {
        ints[flag >> 2] = 1;
        putEmptyStatus(ints, status);
        return 0;
      }
      program.owner = request.comm;
      const tell = (done: boolean) => {
        ints[flag >> 2] = done ? 1 : 0;
        return done ? endOne(request, handleAt, status) : 0;
      };
      const again = new CallAgain("MPI_Test", handleAt, flag, status);
      if (process.choices !== null) return chooseTest(program, [request], tell, again);
      return interrupted(program, again) ?? tell(engine.isComplete(request.record));
    },
    MPI_Waitall(count: number, handles: number, statuses: number): number {
      try {
        program.checkRunning("MPI_Waitall");
        if (isNoWord(handles, 4 * count) || (statuses !== 0 && isNoWord(statuses, statusBytes * count))) {
          program.owner = program.anyone;
          checkWaitall([count, handles, statuses]);
        }
        const requests = all(count, handles);
        const isReady = () => requests.every(isDone);
        const finish = () => endAll(requests, handles, statuses);
        if (isReady()) return finish();
        return waitUntil(program, isReady, finish, new CallAgain("MPI_Waitall", count, handles, statuses));
      } catch (error) {
        return program.raise(error);
      }
    },
    MPI_Testall(count: number, handles: number, flag: number, statuses: number): number {
      const requests = all(count, handles);
      const tell = (done: boolean) => {
        ints[flag >> 2] = done ? 1 : 0;
        return done ? endAll(requests, handles, statuses) : 0;
      };
      const again = new CallAgain("MPI_Testall", count, handles, flag, statuses);
      if (process.choices !== null) return chooseTest(program, requests, tell, again);
      return interrupted(program, again) ?? tell(requests.every(isDone));
    },
    MPI_Waitany(count: number, handles: number, index: number, status: number): number {
      const requests = all(count, handles);
      if (!requests.some(isActive)) {
        ints[index >> 2] = UNDEFINED;
        putEmptyStatus(ints, status);
        return 0;
      }
      const tell = (i: number) => {
        ints[index >> 2] = i;
        return endOne(requests[i]!, handles + 4 * i, status);
      };
      const again = new CallAgain("MPI_Waitany", count, handles, index, status);
      if (process.choices !== null) return chooseAnyLater(program, requests, tell, again);
      const isReady = () => firstDone(requests) >= 0;
      return waitUntil(program, isReady, () => tell(firstDone(requests)), again);
    },
    MPI_Testany(count: number, handles: number, index: number, flag: number, status: number): number {
      const requests = all(count, handles);
      if (!requests.some(isActive)) {
        ints[index >> 2] = UNDEFINED;
        ints[flag >> 2] = 1;
        putEmptyStatus(ints, status);
        return 0;
      }
      const tell = (i: number) => {
        ints[flag >> 2] = i < 0 ? 0 : 1;
        ints[index >> 2] = i < 0 ? UNDEFINED : i;
        return i < 0 ? 0 : endOne(requests[i]!, handles + 4 * i, status);
      };
      const again = new CallAgain("MPI_Testany", count, handles, index, flag, status);
      if (process.choices !== null) return chooseAny(program, requests, tell, again);
      return interrupted(program, again) ?? tell(firstDone(requests));
    },
    MPI_Waitsome(count: number, handles: number, outcount: number, indices: number, statuses: number): number {
      const requests = all(count, handles);
      if (!requests.some(isActive)) {
        ints[outcount >> 2] = UNDEFINED;
        return 0;
      }
      const outs = { outcount, indices, statuses };
      const tell = (done: readonly number[]) => endSome(requests, done, handles, outs);
      const again = new CallAgain("MPI_Waitsome", count, handles, outcount, indices, statuses);
      if (process.choices !== null) return chooseSomeLater(program, requests, tell, again);
      const isReady = () => firstDone(requests) >= 0;
      return waitUntil(program, isReady, () => tell(allDone(requests)), again);
    },
    MPI_Testsome(count: number, handles: number, outcount: number, indices: number, statuses: number): number {
      const requests = all(count, handles);
      if (!requests.some(isActive)) {
        ints[outcount >> 2] = UNDEFINED;
        return 0;
      }
      const outs = { outcount, indices, statuses };
      const tell = (done: readonly number[]) => endSome(requests, done, handles, outs);
      const again = new CallAgain("MPI_Testsome", count, handles, outcount, indices, statuses);
      if (process.choices !== null) return chooseSome(program, requests, tell, again);
      return interrupted(program, again) ?? tell(allDone(requests));
    },
    MPI_Request_free(handleAt: number): number {
      const request = at(handleAt);
      if (request === null) throw new MpiError(ErrorClass.REQUEST, "Cannot free the request: it is MPI_REQUEST_NULL");
      program.owner = request.comm;
      if (request.generalized !== null) return freeGeneralized(program, request, handleAt);
      if (request.record >= 0) forget(program, request);
      program.requests.remove(request.handle);
      ints[handleAt >> 2] = REQUEST_NULL;
      return 0;
    },
    MPI_Cancel(handleAt: number): number {
      const request = at(handleAt);
      if (!isActive(request)) throw new MpiError(ErrorClass.REQUEST, "Cannot cancel the request: it is not under way");
      program.owner = request.comm;
      if (request.generalized !== null) return cancelGeneralized(program, request);
      if (engine.records.get(request.record, R_KIND) === RecordKind.OPERATION) {
        throw new MpiError(ErrorClass.REQUEST, "Cannot cancel the request: it is not that of one message");
      }
      engine.cancel(request.record);
      return 0;
    },
    MPI_Test_cancelled(status: number, flag: number): number {
      ints[flag >> 2] = ints[(status >> 2) + S_CANCELLED]! & 1;
      return 0;
    },
    MPI_Status_set_cancelled(status: number, flag: number): number {
      const at = (status >> 2) + S_CANCELLED;
      ints[at] = (ints[at]! & ~1) | (flag === 0 ? 0 : 1);
      return 0;
    },
    MPI_Start(handleAt: number): number {
      start(handleAt);
      return 0;
    },
    MPI_Startall(count: number, handles: number): number {
      if (count < 0) throw new MpiError(ErrorClass.COUNT, `Cannot start ${count} requests: counts are from 0`);
      for (let i = 0; i < count; i++) start(handles + 4 * i);
      return 0;
    },
  };
}

saves({ Concluded, EndOne, EndAll, EndSome });
