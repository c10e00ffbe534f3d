/**
 * Both halves of MPI_Isendrecv (MPI 5.0 §3.10) as one request: its outcome is that of the receive, and it is there when the
 * send is complete as well, so that the program may change what it sent.
 */
import type { RecordId } from "../core/base/brand.ts";
import { Request, type RequestOwner, type RequestWorld, type Started } from "./request.ts";
import type { Status } from "./status.ts";

export class SendrecvRequest extends Request {
  readonly #send: RecordId;

  constructor(world: RequestWorld, owner: RequestOwner, receive: Started<Status>, send: RecordId) {
    super(world, owner, receive);
    this.#send = send;
  }

  override get isDone(): boolean {
    return super.isDone && (!this.isActive || this.operations.isComplete(this.#send));
  }

  override free(): void {
    if (this.isActive) this.operations.abandon(this.#send);
    super.free();
  }

  /** Waits are for the receive; the send may still be under way. */
  override concludeQuietly(): Status {
    const { operations } = this;
    if (!operations.isComplete(this.#send)) operations.wait(this.#send);
    // Both halves stay, and can be completed when the program has acknowledged the dead.
    if (operations.isStalled(this.record)) return this.readStatus();
    const error = operations.errorOf(this.#send);
    operations.end(this.#send);
    const status = super.concludeQuietly();
    if (status.error === 0) status.error = error;
    return status;
  }
}
