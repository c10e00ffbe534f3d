/**
 * Generalized requests (MPI 5.0 §13.2): operations of the program's own, which it tells us the end of. Their status is what the
 * program's query function says, which is called by whatever completes the request, and their free function after it. So
 * whoever ends requests asks first (`queryThen`), and ends them then as any others.
 */
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { CallKind, type Continuation } from "./callbacks.ts";

/** What a function of the program gave as its error code. Those of MPI are never negative. */
export const codeOf = (result: number): number => (result < 0 ? ErrorClass.OTHER : result);

/** Asks the program about those of these complete requests that are its own, once about each, then goes on. */
export function queryThen(program: Program, requests: readonly (CRequest | null)[], then: Continuation): number {
  const own = requests.filter((request) => isOwn(request));
  return own.length === 0 ? then.resume(program, 0) : new Queries([...new Set(own)], true, then).next(program);
}

/** The same for requests that are only looked at: they are not freed. */
export function lookThen(program: Program, requests: readonly (CRequest | null)[], then: Continuation): number {
  const own = requests.filter((request) => isOwn(request));
  return own.length === 0 ? then.resume(program, 0) : new Queries(own, false, then).next(program);
}

const isOwn = (request: CRequest | null): request is CRequest => request !== null && request.generalized !== null;

/** One request after another: its query function, then its free function. An error code of either is the request's. */
class Queries implements Continuation {
  private readonly requests: readonly CRequest[];
  private readonly frees: boolean;
  private readonly after: Continuation;
  private index = 0;
  private isQueried = false;

  constructor(requests: readonly CRequest[], frees: boolean, then: Continuation) {
    this.requests = requests;
    this.frees = frees;
    this.after = then;
  }

  next(program: Program): number {
    const request = this.requests[this.index];
    if (request === undefined) return this.after.resume(program, 0);
    const { query, extraState, status } = request.generalized!;
    this.isQueried = false;
    return program.callbacks.call(CallKind.REQUEST_QUERY, query, [extraState, status], this);
  }

  resume(program: Program, result: number): number {
    const request = this.requests[this.index]!;
    const { operations } = program;
    const before = this.isQueried ? operations.errorOf(request.record) : 0;
    operations.failOwn(request.record, before || codeOf(result));
    if (this.frees && !this.isQueried) {
      const { free, extraState } = request.generalized!;
      this.isQueried = true;
      return program.callbacks.call(CallKind.REQUEST_FREE, free, [extraState], this);
    }
    this.index++;
    return this.next(program);
  }
}

saves({ Queries });
