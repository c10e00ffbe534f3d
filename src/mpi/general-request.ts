/**
 * Generalized requests (MPI 5.0 §13.2): operations of the program's own that are waited for like any other. The program calls
 * `complete()` when the work is done.
 */
import type { RecordId } from "../core/base/brand.ts";
import { noRecord, Request, type RequestOwner, type RequestWorld } from "./request.ts";
import { Status } from "./status.ts";

export interface GeneralRequestCallbacks {
  /** Fills in the status of a complete operation. */
  readonly query?: (status: Status) => void;
  /** Called once, when the request is not needed any more. */
  readonly free?: () => void;
  /** The program asked for cancellation; it may be too late. */
  readonly cancel?: (isComplete: boolean) => void;
}

export class GeneralRequest extends Request {
  readonly #callbacks: GeneralRequestCallbacks;
  /** Stays when the program frees the request before it is complete. */
  readonly #own: RecordId;
  #isDone = false;

  constructor(world: RequestWorld, owner: RequestOwner, callbacks: GeneralRequestCallbacks) {
    const record = world.operations.startOwn();
    super(world, owner, { record, after: null });
    this.#own = record;
    this.#callbacks = callbacks;
  }

  /** The work is done: MPI_Grequest_complete. */
  complete(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.operations.completeOwn(this.#own);
    if (!this.isActive) this.#callbacks.free?.();
  }

  override cancel(): void {
    if (this.isActive) this.#callbacks.cancel?.(this.isDone);
  }

  override free(): void {
    if (!this.isActive) return;
    const wasDone = this.#isDone;
    this.operations.abandon(this.record);
    this.record = noRecord;
    if (wasDone) this.#callbacks.free?.();
  }

  override concludeQuietly(): Status {
    const status = super.concludeQuietly();
    this.#callbacks.free?.();
    return status;
  }

  protected override readStatus(): Status {
    const status = new Status();
    this.#callbacks.query?.(status);
    return status;
  }
}
