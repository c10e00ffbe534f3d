/**
 * A request: the handle of an operation that has been started. `wait()` blocks this thread, `await request` lets the event
 * loop go on; both give the outcome. A request that the program drops is completed all the same, but a rank that ends with
 * unfinished requests is a failed rank.
 */
import type { RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { anyChoice, type Choice, someChoice, testChoice } from "../core/binding/choices.ts";
import type { Leftover } from "../core/binding/finish-later.ts";
import type { Operations } from "../core/binding/operations.ts";
import type { Outcome } from "../core/ft/choices.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { chooseLater, chooseNow, listOf } from "./choices.ts";
import type { Host } from "./host.ts";
import { Status } from "./status.ts";

/** The part of the environment that requests need. */
export interface RequestWorld {
  readonly host: Pick<Host, "whenReady">;
  readonly operations: Operations;
}

/** The communicator of a request, whose error handler hears of its errors. */
export interface RequestOwner {
  readonly core: CoreCommunicator;
  /** Gives the error to the error handler; throws it when the handler returns. */
  raise(error: MpiError): never;
}

/** The work that is left when the bytes are there: unpacking a datatype, reading an object, freeing scratch memory. */
export interface AfterCompletion<T> {
  /** Called once, also after an error. Gives the result of the operation; undefined when that is the status. */
  finish(status: Status): T | undefined;
  /** Known after `finish`: the operation's own words for what went wrong, where it has any. */
  readonly mistake?: MpiError | null;
}

/** An operation under way, before a request has been made of it. */
export interface Started<T> {
  readonly record: RecordId;
  readonly after: AfterCompletion<T> | null;
}

export const noRecord = -1 as RecordId;

/** `T` is what `wait` and `await` give: the status of a message, the result of a collective. */
export class Request<T = Status> implements PromiseLike<T> {
  readonly #host: RequestWorld["host"];
  protected readonly operations: Operations;
  protected readonly owner: RequestOwner;
  protected record: RecordId;
  #after: AfterCompletion<T> | null;
  #result: T | undefined = undefined;

  constructor({ host, operations }: RequestWorld, owner: RequestOwner, { record, after }: Started<T>) {
    this.#host = host;
    this.operations = operations;
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
    const { choices } = this.operations;
    if (this.record < 0) return true;
    const isComplete =
      choices === null
        ? this.isDone
        : chooseNow(this.operations, choices, testChoice(listOf([this])), "without progress") !== null;
    if (isComplete) this.operations.show(this.record);
    return isComplete;
  }

  /** The same for ourselves: the program does not hear of it. */
  get isDone(): boolean {
    return this.record < 0 || this.operations.isComplete(this.record);
  }

  /** The result of a collective whose outcome has been given, by `wait` or by one of the calls for several requests. */
  get result(): T | undefined {
    return this.#result;
  }

  wait(): T {
    if (this.record < 0) return this.#inactiveOutcome();
    if (!this.isDone) this.operations.wait(this.record);
    return this.conclude();
  }

  /** For calls that wait themselves, and leave nothing pending. */
  waitToTheEnd(): T {
    try {
      return this.wait();
    } catch (error) {
      if (!this.isActive || !(error instanceof MpiError)) throw error;
      this.cancel();
      this.concludeQuietly();
      throw errorOf(new Status(ANY_SOURCE, ANY_TAG, 0, ErrorClass.PROC_FAILED));
    }
  }

  /** The outcome when the operation is complete, null otherwise. (Where the outcome may be null, `isActive` tells.) */
  test(): T | null {
    if (this.record < 0) return this.#inactiveOutcome();
    return this.#isFound(this.isDone) ? this.conclude() : null;
  }

  /** The status when the operation is complete, null otherwise; the request stays: MPI_Request_get_status. */
  peek(): Status | null {
    if (this.record < 0) return new Status();
    if (!this.#isFound(false)) return null;
    this.operations.show(this.record);
    return this.readStatus();
  }

  /** The answer to the program: is the operation complete? No progress is needed for one that is. */
  #isFound(isKnown: boolean): boolean {
    const { operations } = this;
    const { choices } = operations;
    if (choices !== null) return chooseNow(operations, choices, testChoice(listOf([this]))) !== null;
    if (!isKnown) operations.look();
    return this.isDone;
  }

  /** Asks that the operation be cancelled; `wait` tells by `status.cancelled` whether it was. */
  cancel(): void {
    if (this.record < 0) return;
    this.#refuseOperation("cancel");
    this.operations.cancel(this.record);
  }

  /** The program does not want the outcome: MPI_Request_free. What was to be received is received all the same. */
  free(): void {
    if (this.record < 0) return;
    this.#refuseOperation("free");
    if (this.#after === null) this.operations.abandon(this.record);
    else this.operations.finishLater(this.record, leftoverOf(this.#after));
    this.#after = null;
    this.record = noRecord;
  }

  /** All ranks take part in a collective, so none may leave it (MPI 5.0 §6.12). */
  #refuseOperation(verb: string): void {
    if (this.operations.isMessage(this.record)) return;
    const message = `Cannot ${verb} the request: it is that of a collective, which must be completed`;
    this.owner.raise(new MpiError(ErrorClass.REQUEST, message));
  }

  // biome-ignore lint/suspicious/noThenProperty: requests are meant to be awaited
  then<A = T, B = never>(
    onDone?: ((outcome: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    // Which `await` goes on first is a choice: even one that need not wait takes its place in the order.
    const isFree = this.record < 0 || (this.operations.choices === null && this.isDone);
    const done = isFree ? Promise.resolve() : this.#host.whenReady(() => this.isDone, this.record);
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
    // It is still there, and can be completed when the program has acknowledged the dead.
    if (status.error === ErrorClass.PROC_FAILED_PENDING && this.operations.isStalled(this.record)) return status;
    this.operations.end(this.record);
    this.record = noRecord;
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
    const status = new Status();
    this.operations.readOutcome(this.owner.core, this.record, status);
    return status;
  }

  /** Waits for all; the statuses in order. Errors: MPI_ERR_IN_STATUS, each status tells its own. */
  static waitAll(requests: readonly Request<unknown>[]): Status[] {
    for (const request of requests) if (!request.isDone) request.operations.wait(request.record);
    return concludeAll(requests);
  }

  /** The statuses when all are complete, null otherwise. */
  static testAll(requests: readonly Request<unknown>[]): Status[] | null {
    return lookAt(requests, testChoice(listOf(requests))) === null ? null : concludeAll(requests);
  }

  /** Waits for one of them; index UNDEFINED when none is active. */
  static waitAny(requests: readonly Request<unknown>[]): { index: number; status: Status } {
    const [index] = waitFor(requests, anyChoice(listOf(requests))) ?? [];
    return index === undefined ? none() : { index, status: concludeOne(requests[index]!) };
  }

  static testAny(requests: readonly Request<unknown>[]): { index: number; status: Status } | null {
    if (!requests.some((request) => request.isActive)) return none();
    const found = lookAt(requests, anyChoice(listOf(requests)));
    return found === null ? null : { index: found[0]!, status: concludeOne(requests[found[0]!]!) };
  }

  /** Waits until at least one is complete, and ends all that are. */
  static waitSome(requests: readonly Request<unknown>[]): { index: number; status: Status }[] {
    return concludeSome(requests, waitFor(requests, someChoice(listOf(requests))) ?? []);
  }

  /** Ends all that are complete, none perhaps. */
  static testSome(requests: readonly Request<unknown>[]): { index: number; status: Status }[] {
    return concludeSome(requests, lookAt(requests, someChoice(listOf(requests))) ?? []);
  }

  /** How those are looked at and waited for that are active; null: none is. */
  static operationsOf(requests: readonly Request<unknown>[]): Operations | null {
    return requests.find((request) => request.isActive)?.operations ?? null;
  }

  /** Lets the error handler of the first request that failed hear of it. */
  static raiseFor(requests: readonly Request<unknown>[], statuses: readonly Status[]): void {
    const first = statuses.findIndex((status) => status.error !== 0);
    if (first >= 0) requests[first]!.owner.raise(new StatusesError(statuses));
  }

  /** Lets the error handler hear of the error of one request. */
  raiseError(status: Status): void {
    if (status.error === 0) return;
    const { core } = this.owner;
    this.owner.raise(this.#after?.mistake ?? core.takeDisagreement(status.error) ?? errorOf(status));
  }
}

/** The work that is left for a request that the program has freed. */
const leftoverOf = (after: AfterCompletion<unknown>): Leftover => ({
  finish: (bytes, error) => void after.finish(new Status(ANY_SOURCE, ANY_TAG, bytes, error)),
});

const none = (): { index: number; status: Status } => ({ index: UNDEFINED, status: new Status() });

/** The outcome of a call that looks at these requests. */
function lookAt(requests: readonly Request<unknown>[], choice: Choice): Outcome {
  const operations = Request.operationsOf(requests);
  if (operations === null) return choice.now();
  const { choices } = operations;
  if (choices !== null) return chooseNow(operations, choices, choice);
  operations.look();
  return choice.now();
}

/** The outcome of a call that waits for these requests; null: none is active. */
function waitFor(requests: readonly Request<unknown>[], choice: Choice): Outcome {
  const operations = Request.operationsOf(requests);
  if (operations === null) return null;
  const { choices } = operations;
  if (choices !== null) return chooseLater(operations, choices, choice);
  let found = choice.now();
  if (found === null) {
    operations.waitUntil(() => {
      found = choice.now();
      return found !== null;
    });
  }
  return found;
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
      return new MpiError(status.error, "Cannot complete the operation: a process it depends on has failed");
    case ErrorClass.PROC_FAILED_PENDING:
      return new MpiError(
        status.error,
        "Cannot complete the receive: a process has failed that might have sent the message; it goes on after ackFailed()",
      );
    case ErrorClass.REVOKED:
      return new MpiError(status.error, "Cannot complete the operation: the communicator is revoked");
    default:
      return new MpiError(status.error, `Cannot complete the operation: error ${status.error}`);
  }
}

/** A request that can be started again and again with the same arguments (MPI 5.0 §3.9, §6.13). */
export class PersistentRequest<T = Status> extends Request<T> {
  readonly #begin: () => Started<T>;

  constructor(world: RequestWorld, owner: RequestOwner, begin: () => Started<T>) {
    super(world, owner, { record: noRecord, after: null });
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
