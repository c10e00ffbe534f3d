/** Both halves of MPI_Isendrecv (MPI 5.0 §3.10) as one operation: over when both are, with the outcome of the receive. */
import type { RecordId } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import type { Process } from "../process/process.ts";
import { Task } from "../process/task.ts";
import { R_ERROR, R_STATUS_BYTES, R_STATUS_SOURCE, R_STATUS_TAG } from "../request/records.ts";

/** The request of an exchange tells about the message that was received. The face that ends it ends the requests of both messages too. */
export class Exchange extends Task {
  readonly send: RecordId;
  readonly receive: RecordId;

  constructor(send: RecordId, receive: RecordId) {
    super();
    this.send = send;
    this.receive = receive;
  }

  override advance({ engine }: Process): boolean {
    const { records } = engine;
    const { send, receive } = this;
    if (!engine.isComplete(send) || !engine.isComplete(receive)) return false;
    for (const field of [R_STATUS_SOURCE, R_STATUS_TAG, R_STATUS_BYTES]) {
      records.put(this.request, field, records.get(receive, field));
    }
    this.error = records.get(receive, R_ERROR) || records.get(send, R_ERROR);
    return true;
  }
}

saves({ Exchange });
