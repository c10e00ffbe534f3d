/**
 * Both halves of MPI_Isendrecv (MPI 5.0 §3.10) as one request: its outcome is that of the receive, and it is there when the
 * send is complete as well, so that the program may change what it sent.
 */
import type { RecordId } from "../core/base/brand.ts";
import { R_ERROR } from "../core/request/records.ts";
import type { Host } from "./host.ts";
import { Request, type RequestOwner, type Started } from "./request.ts";
import type { Status } from "./status.ts";

export class SendrecvRequest extends Request {
  readonly #send: RecordId;

  constructor(host: Host, owner: RequestOwner, receive: Started<Status>, send: RecordId) {
    super(host, owner, receive);
    this.#send = send;
  }

  override get isDone(): boolean {
    return super.isDone && (!this.isActive || this.host.process.engine.isComplete(this.#send));
  }

  override free(): void {
    if (this.isActive) this.host.process.engine.abandon(this.#send);
    super.free();
  }

  /** Whoever waited did so for the receive; the send may still be under way. */
  override concludeQuietly(): Status {
    const { engine } = this.host.process;
    if (!engine.isComplete(this.#send)) this.host.wait(this.#send);
    const error = engine.records.get(this.#send, R_ERROR);
    engine.giveBack(this.#send);
    const status = super.concludeQuietly();
    if (status.error === 0) status.error = error;
    return status;
  }
}
