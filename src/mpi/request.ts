/**
 * A request: the handle of an operation that has been started. `wait()` blocks this thread, `await request` lets the event
 * loop go on; both give the outcome. A request that the program drops is completed all the same, but a rank that ends with
 * unfinished requests is a failed rank.
 */
import type { RecordId } from "../core/base/brand.ts";
import { UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Process } from "../core/process/process.ts";
import { Task } from "../core/process/task.ts";
import {
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  RecordFlag,
  RecordKind,
  type Records,
} from "../core/request/records.ts";
import { allDone, anyDone, chooseLater, chooseNow, indicesDone, someDone } from "./choices.ts";
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
export interface AfterCompletion<T> {
  /** Called once, also after an error. Gives the result of the operation; undefined when that is the status. */
  finish(status: Status): T | undefined;
  /** Known after `finish`: the operation's own words for what went wrong, where it has any. */
  readonly mistake?: MpiError | null;
}

/** An operation under way, before anybody has made a request of it. */
export interface Started<T> {
  readonly record: RecordId;
  readonly after: AfterCompletion<T> | null;
}

export const inactive = -1 as RecordId;

/** `T` is what `wait` and `await` give: the status of a message, the result of a collective. */
export class Request<T = Status> implements PromiseLike<T> {
  protected readonly host: Host;
  protected readonly owner: RequestOwner;
  protected record: RecordId;
  #after: AfterCompletion<T> | null;
  #result: T | undefined = undefined;

  constructor(host: Host, owner: RequestOwner, { record, after }: Started<T>) {
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
    const { choices } = this.host.process;
    if (choices === null || this.record < 0) return this.isDone;
    return chooseNow(this.host, choices, allDone([this]), "without progress") !== null;
  }

  /** The same for ourselves: the program does not hear of it. */
  get isDone(): boolean {
    return this.record < 0 || this.host.process.engine.isComplete(this.record);
  }

  /** The result of a collective whose outcome has been given, by `wait` or by one of the calls for several requests. */
  get result(): T | undefined {
    return this.#result;
  }

  wait(): T {
    if (this.record < 0) return this.#inactiveOutcome();
    if (!this.isDone) this.host.wait(this.record);
    return this.conclude();
  }

  /** The outcome when the operation is complete, null otherwise. (Where the outcome may be null, `isActive` tells.) */
  test(): T | null {
    if (this.record < 0) return this.#inactiveOutcome();
    const { choices } = this.host.process;
    if (choices !== null) return chooseNow(this.host, choices, allDone([this])) === null ? null : this.conclude();
    if (!this.isDone) {
      this.host.look();
      if (!this.isDone) return null;
    }
    return this.conclude();
  }

  /** The status when the operation is complete, null otherwise; the request stays: MPI_Request_get_status. */
  peek(): Status | null {
    if (this.record < 0) return new Status();
    const { choices } = this.host.process;
    if (choices !== null) return chooseNow(this.host, choices, allDone([this])) === null ? null : this.readStatus();
    this.host.look();
    return this.isDone ? this.readStatus() : null;
  }

  /** Asks that the operation be cancelled; `wait` tells by `status.cancelled` whether it was. */
  cancel(): void {
    if (this.record < 0) return;
    this.#refuseOperation("cancel");
    this.host.process.engine.cancel(this.record);
  }

  /** The program does not want the outcome: MPI_Request_free. What was to be received is received all the same. */
  free(): void {
    if (this.record < 0) return;
    this.#refuseOperation("free");
    const { process } = this.host;
    if (this.#after === null) process.engine.abandon(this.record);
    else process.engine.abandon(process.start(new FinishLater(this.record, this.#after, this.owner)));
    this.#after = null;
    this.record = inactive;
  }

  /** Everybody takes part in a collective, so nobody may leave it (MPI 5.0 §6.12). */
  #refuseOperation(verb: string): void {
    if (this.host.process.engine.records.get(this.record, R_KIND) !== RecordKind.OPERATION) return;
    const message = `Cannot ${verb} the request: it is that of a collective, which must be completed`;
    this.owner.raise(new MpiError(ErrorClass.REQUEST, message));
  }

  // biome-ignore lint/suspicious/noThenProperty: requests are meant to be awaited
  then<A = T, B = never>(
    onDone?: ((outcome: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    // Which `await` goes on first is a choice: even one that need not wait takes its place in the order.
    const isFree = this.record < 0 || (this.host.process.choices === null && this.isDone);
    const done = isFree ? Promise.resolve() : this.host.whenReady(() => this.isDone);
    return done.then(() => (this.record < 0 ? this.#inactiveOutcome() : this.conclude())).then(onDone, onError);
  }

  /** Waiting for what is not under way gives an empty status; a collective's result is given again. */
  #inactiveOutcome(): T {
    return this.#result === undefined ? (new Status() as T) : this.#result;
  }

  /** Ends a complete request: its outcome, or its error to the error handler. */
  conclude(): T {
    const status = this.concludeQuietly();
    this.raiseError(status);
    return this.#result === undefined ? (status as T) : this.#result;
  }

  /** As `conclude`; an error stays in the status. For the calls that complete several requests. */
  concludeQuietly(): Status {
    const status = this.readStatus();
    this.host.process.engine.giveBack(this.record);
    this.record = inactive;
    this.#result = this.#after?.finish(status);
    const mistake = this.#after?.mistake ?? null;
    if (mistake !== null) status.error = mistake.code;
    return status;
  }

  /** The next operation of a request that can be started again. */
  protected restart({ record, after }: Started<T>): void {
    this.record = record;
    this.#after = after;
    this.#result = undefined;
  }

  protected readStatus(): Status {
    return statusOf(this.host.process.engine.records, this.record, this.owner);
  }

  /** Waits for all; the statuses in order. Errors: MPI_ERR_IN_STATUS, each status tells its own. */
  static waitAll(requests: readonly Request<unknown>[]): Status[] {
    for (const request of requests) if (!request.isDone) request.host.wait(request.record);
    return concludeAll(requests);
  }

  /** The statuses when all are complete, null otherwise. */
  static testAll(requests: readonly Request<unknown>[]): Status[] | null {
    const host = requests.find((request) => request.isActive)?.host;
    const choices = host?.process.choices ?? null;
    if (choices !== null) {
      return chooseNow(host!, choices, allDone(requests)) === null ? null : concludeAll(requests);
    }
    host?.look();
    return requests.every((request) => request.isDone) ? concludeAll(requests) : null;
  }

  /** Waits for one of them; index UNDEFINED when none is active. */
  static waitAny(requests: readonly Request<unknown>[]): { index: number; status: Status } {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return { index: UNDEFINED, status: new Status() };
    const { host } = active;
    const { choices } = host.process;
    if (choices !== null) {
      const [index] = chooseLater(host, choices, anyDone(requests));
      return { index: index!, status: concludeOne(requests[index!]!) };
    }
    const ready = () => requests.some((request) => request.isActive && request.isDone);
    if (!ready()) host.waitUntil(ready);
    const index = requests.findIndex((request) => request.isActive && request.isDone);
    return { index, status: concludeOne(requests[index]!) };
  }

  static testAny(requests: readonly Request<unknown>[]): { index: number; status: Status } | null {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return { index: UNDEFINED, status: new Status() };
    const { host } = active;
    const { choices } = host.process;
    if (choices !== null) {
      const known = chooseNow(host, choices, anyDone(requests));
      return known === null ? null : { index: known[0]!, status: concludeOne(requests[known[0]!]!) };
    }
    host.look();
    const index = requests.findIndex((request) => request.isActive && request.isDone);
    return index < 0 ? null : { index, status: concludeOne(requests[index]!) };
  }

  /** Waits until at least one is complete, and ends all that are. */
  static waitSome(requests: readonly Request<unknown>[]): { index: number; status: Status }[] {
    const active = requests.find((request) => request.isActive);
    if (active === undefined) return [];
    const { host } = active;
    const { choices } = host.process;
    if (choices !== null) return concludeSome(requests, chooseLater(host, choices, someDone(requests)));
    const ready = () => requests.some((request) => request.isActive && request.isDone);
    if (!ready()) host.waitUntil(ready);
    return concludeSome(requests, indicesDone(requests));
  }

  /** Ends all that are complete, none perhaps. */
  static testSome(requests: readonly Request<unknown>[]): { index: number; status: Status }[] {
    const host = requests.find((request) => request.isActive)?.host;
    const choices = host?.process.choices ?? null;
    if (choices !== null) return concludeSome(requests, chooseNow(host!, choices, someDone(requests)) ?? []);
    host?.look();
    return concludeSome(requests, indicesDone(requests));
  }

  /** Lets the error handler of the first request that failed hear of it. */
  static raiseFor(requests: readonly Request<unknown>[], statuses: readonly Status[]): void {
    const first = statuses.findIndex((status) => status.error !== 0);
    if (first >= 0) requests[first]!.owner.raise(new StatusesError(statuses));
  }

  /** Lets the error handler hear of the error of one request. */
  raiseError(status: Status): void {
    if (status.error !== 0) this.owner.raise(this.#after?.mistake ?? errorOf(status));
  }
}

/** A request that the program freed before the message was here: what is to be done then is done all the same. */
class FinishLater extends Task {
  readonly #record: RecordId;
  readonly #after: AfterCompletion<unknown>;
  readonly #owner: RequestOwner;

  constructor(record: RecordId, after: AfterCompletion<unknown>, owner: RequestOwner) {
    super();
    this.#record = record;
    this.#after = after;
    this.#owner = owner;
  }

  override advance({ engine }: Process): boolean {
    if (!engine.isComplete(this.#record)) {
      const flags = engine.records.get(this.#record, R_FLAGS);
      engine.records.put(this.#record, R_FLAGS, flags | RecordFlag.UNWANTED);
      return false;
    }
    const status = statusOf(engine.records, this.#record, this.#owner);
    engine.giveBack(this.#record);
    this.#after.finish(status);
    return true;
  }
}

function statusOf(records: Records, record: RecordId, owner: RequestOwner): Status {
  const error = records.get(record, R_ERROR);
  const cancelled = (records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0;
  if (records.get(record, R_KIND) !== RecordKind.RECEIVE || cancelled) return new Status(-1, -2, 0, error, cancelled);
  return new Status(
    owner.rankOfWorld(records.get(record, R_STATUS_SOURCE)),
    records.get(record, R_STATUS_TAG),
    records.get(record, R_STATUS_BYTES),
    error,
  );
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

function concludeAll(requests: readonly Request<unknown>[]): Status[] {
  const statuses = requests.map((request) => (request.isActive ? request.concludeQuietly() : new Status()));
  Request.raiseFor(requests, statuses);
  return statuses;
}

function concludeOne(request: Request<unknown>): Status {
  const status = request.concludeQuietly();
  request.raiseError(status);
  return status;
}

function concludeSome(
  requests: readonly Request<unknown>[],
  indices: readonly number[],
): { index: number; status: Status }[] {
  const done: { index: number; status: Status }[] = [];
  for (const index of indices) {
    // A request that is listed twice ends once.
    if (requests[index]!.isActive) done.push({ index, status: requests[index]!.concludeQuietly() });
  }
  Request.raiseFor(
    done.map(({ index }) => requests[index]!),
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
    case ErrorClass.REVOKED:
      return new MpiError(status.error, "Cannot complete the operation: the communicator is revoked");
    default:
      return new MpiError(status.error, `Cannot complete the operation: error ${status.error}`);
  }
}

/** A request that can be started again and again with the same arguments (MPI 5.0 §3.9, §6.13). */
export class PersistentRequest<T = Status> extends Request<T> {
  readonly #begin: () => Started<T>;

  constructor(host: Host, owner: RequestOwner, begin: () => Started<T>) {
    super(host, owner, { record: inactive, after: null });
    this.#begin = begin;
  }

  start(): this {
    if (this.isActive) {
      this.owner.raise(new MpiError(ErrorClass.REQUEST, "Cannot start the request: it is active; wait for it first"));
    }
    this.restart(this.#begin());
    return this;
  }

  static startAll(requests: readonly PersistentRequest<unknown>[]): void {
    for (const request of requests) request.start();
  }
}
