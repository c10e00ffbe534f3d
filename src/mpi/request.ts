/**
 * A request: the handle of an operation that has been started. `wait()` blocks this thread, `await request` lets the event
 * loop go on; both give the status. A request that the program drops is completed all the same, but a rank that ends with
 * unfinished requests is a failed rank.
 */
import type { RecordId } from "../core/base/brand.ts";
import { UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import {
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  RecordFlag,
  RecordKind,
} from "../core/request/records.ts";
import type { Host } from "./host.ts";
import { Status } from "./status.ts";

/** Who hears of a request's errors: the communicator's error handler. */
export interface RequestOwner {
  /** Rank in the communicator of a world rank. */
  rankOfWorld(world: number): number;
  /** Gives the error to the error handler; throws it when the handler returns. */
  raise(error: MpiError): never;
}

/** What is left to do when the bytes are there: unpack a datatype, read an object, free scratch memory. */
export interface AfterCompletion {
  finish(status: Status): void;
}

const inactive = -1 as RecordId;

export class Request implements PromiseLike<Status> {
  protected readonly host: Host;
  protected readonly owner: RequestOwner;
  protected record: RecordId;
  readonly #after: AfterCompletion | null;

  constructor(host: Host, owner: RequestOwner, record: RecordId, after: AfterCompletion | null = null) {
    this.host = host;
    this.owner = owner;
    this.record = record;
    this.#after = after;
  }

  /** False once the outcome has been given, and for a persistent request that is not started. */
  get isActive(): boolean {
    return this.record >= 0;
  }

  /** Could `wait` return at once? Makes no progress. */
  get isComplete(): boolean {
    return this.record < 0 || this.host.process.engine.isComplete(this.record);
  }

  wait(): Status {
    if (this.record < 0) return new Status();
    if (!this.isComplete) this.host.wait(this.record);
    return this.conclude();
  }

  /** The status when the operation is complete, null otherwise. */
  test(): Status | null {
    if (this.record < 0) return new Status();
    if (!this.isComplete) {
      this.host.process.progress();
      if (!this.isComplete) return null;
    }
    return this.conclude();
  }

  /** As `test`, but the request stays: MPI_Request_get_status. */
  peek(): Status | null {
    if (this.record < 0) return new Status();
    this.host.process.progress();
    return this.isComplete ? this.readStatus() : null;
  }

  /** Asks that the operation be cancelled; `wait` tells by `status.cancelled` whether it was. */
  cancel(): void {
    if (this.record >= 0) this.host.process.engine.cancel(this.record);
  }

  /** The program does not want the outcome: MPI_Request_free. */
  free(): void {
    if (this.record < 0) return;
    this.host.process.engine.abandon(this.record);
    this.record = inactive;
  }

  // biome-ignore lint/suspicious/noThenProperty: requests are meant to be awaited
  then<A = Status, B = never>(
    onDone?: ((status: Status) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const done = this.isComplete ? Promise.resolve() : this.host.whenReady(() => this.isComplete);
    return done.then(() => (this.record < 0 ? new Status() : this.conclude())).then(onDone, onError);
  }

  /** Ends a complete request: its outcome, or its error to the error handler. */
  protected conclude(): Status {
    const status = this.concludeQuietly();
    if (status.error !== 0) this.owner.raise(errorOf(status));
    return status;
  }

  /** As `conclude`; an error stays in the status. For the calls that complete several requests. */
  concludeQuietly(): Status {
    const status = this.readStatus();
    this.host.process.engine.giveBack(this.record);
    this.record = inactive;
    if (this.#after !== null) this.#after.finish(status);
    return status;
  }

  protected readStatus(): Status {
    const { records } = this.host.process.engine;
    const record = this.record;
    const error = records.get(record, R_ERROR);
    const cancelled = (records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0;
    if (records.get(record, R_KIND) !== RecordKind.RECEIVE || cancelled) return new Status(-1, -2, 0, error, cancelled);
    return new Status(
      this.owner.rankOfWorld(records.get(record, R_STATUS_SOURCE)),
      records.get(record, R_STATUS_TAG),
      records.get(record, R_STATUS_BYTES),
      error,
    );
  }

  /** Waits for all; the statuses in order. Errors: MPI_ERR_IN_STATUS, each status tells its own. */
  static waitAll(requests: readonly Request[]): Status[] {
    for (const request of requests) if (!request.isComplete) request.host.wait(request.record);
    return concludeAll(requests);
  }

  /** The statuses when all are complete, null otherwise. */
  static testAll(requests: readonly Request[]): Status[] | null {
    requests.find((request) => request.isActive)?.host.process.progress();
    return requests.every((request) => request.isComplete) ? concludeAll(requests) : null;
  }

  /** Waits for one of them; index UNDEFINED when none is active. */
  static waitAny(requests: readonly Request[]): { index: number; status: Status } {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return { index: UNDEFINED, status: new Status() };
    const ready = () => requests.some((request) => request.isActive && request.isComplete);
    if (!ready()) active.host.waitUntil(ready);
    const index = requests.findIndex((request) => request.isActive && request.isComplete);
    return { index, status: requests[index]!.conclude() };
  }

  static testAny(requests: readonly Request[]): { index: number; status: Status } | null {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return { index: UNDEFINED, status: new Status() };
    active.host.process.progress();
    const index = requests.findIndex((request) => request.isActive && request.isComplete);
    return index < 0 ? null : { index, status: requests[index]!.conclude() };
  }

  /** Waits until at least one is complete, and ends all that are. */
  static waitSome(requests: readonly Request[]): { index: number; status: Status }[] {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return [];
    const ready = () => requests.some((request) => request.isActive && request.isComplete);
    if (!ready()) active.host.waitUntil(ready);
    return concludeSome(requests);
  }

  /** Ends all that are complete, none perhaps. */
  static testSome(requests: readonly Request[]): { index: number; status: Status }[] {
    requests.find((request) => request.isActive)?.host.process.progress();
    return concludeSome(requests);
  }

  /** Lets the error handler of the first request that failed hear of it. */
  static raiseFor(requests: readonly Request[], statuses: readonly Status[]): void {
    const first = statuses.findIndex((status) => status.error !== 0);
    if (first >= 0) requests[first]!.owner.raise(new StatusesError(statuses));
  }
}

/** MPI_ERR_IN_STATUS: of several operations at least one failed; `statuses` says which and how. */
export class StatusesError extends MpiError {
  readonly statuses: readonly Status[];
  constructor(statuses: readonly Status[]) {
    const failed = statuses.filter((status) => status.error !== 0).length;
    super(ErrorClass.IN_STATUS, `Cannot complete all requests: ${failed} of ${statuses.length} failed; see statuses`);
    this.statuses = statuses;
  }
}

function concludeAll(requests: readonly Request[]): Status[] {
  const statuses = requests.map((request) => (request.isActive ? request.concludeQuietly() : new Status()));
  Request.raiseFor(requests, statuses);
  return statuses;
}

function concludeSome(requests: readonly Request[]): { index: number; status: Status }[] {
  const done: { index: number; status: Status }[] = [];
  const ended: Request[] = [];
  requests.forEach((request, index) => {
    if (!request.isActive || !request.isComplete) return;
    ended.push(request);
    done.push({ index, status: request.concludeQuietly() });
  });
  Request.raiseFor(
    ended,
    done.map(({ status }) => status),
  );
  return done;
}

export function errorOf(status: Status): MpiError {
  switch (status.error) {
    case ErrorClass.TRUNCATE:
      return new MpiError(
        status.error,
        `Cannot receive the whole message from rank ${status.source} with tag ${status.tag}: the buffer has room for ${status.bytes} bytes only`,
      );
    case ErrorClass.PROC_FAILED:
    case ErrorClass.PROC_FAILED_PENDING:
      return new MpiError(status.error, "Cannot complete the operation: a process it depends on has failed");
    default:
      return new MpiError(status.error, `Cannot complete the operation: error ${status.error}`);
  }
}

/** A request that can be started again and again with the same arguments (MPI 5.0 §3.9). */
export class PersistentRequest extends Request {
  readonly #begin: () => { record: RecordId; after: AfterCompletion | null };
  #current: AfterCompletion | null = null;

  constructor(host: Host, owner: RequestOwner, begin: () => { record: RecordId; after: AfterCompletion | null }) {
    super(host, owner, inactive);
    this.#begin = begin;
  }

  start(): this {
    if (this.isActive) {
      this.owner.raise(new MpiError(ErrorClass.REQUEST, "Cannot start the request: it is active; wait for it first"));
    }
    const { record, after } = this.#begin();
    this.record = record;
    this.#current = after;
    return this;
  }

  override concludeQuietly(): Status {
    const status = super.concludeQuietly();
    this.#current?.finish(status);
    this.#current = null;
    return status;
  }

  static startAll(requests: readonly PersistentRequest[]): void {
    for (const request of requests) request.start();
  }
}
