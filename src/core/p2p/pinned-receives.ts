/** Receives that wait for one message and no other, because a protocol knows which they took in an earlier life. They stand in no queue. */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_PEER, R_SEQUENCE, type Records } from "../request/records.ts";
import { messageKey } from "./broken-messages.ts";

const none = -1 as RecordId;

export class PinnedReceives {
  private readonly records: Records;
  private readonly byMessage = new Map<number, RecordId>();

  constructor(records: Records) {
    this.records = records;
  }

  get count(): number {
    return this.byMessage.size;
  }

  /** The message is the one that the receive's record names. */
  add(receive: RecordId): void {
    this.byMessage.set(this.keyOf(receive), receive);
  }

  has(receive: RecordId): boolean {
    return this.byMessage.get(this.keyOf(receive)) === receive;
  }

  /** The receive of that message, which waits no longer; −1: there is none. */
  take(source: number, sequence: number): RecordId {
    const key = messageKey(source, sequence);
    const receive = this.byMessage.get(key);
    if (receive === undefined) return none;
    this.byMessage.delete(key);
    return receive;
  }

  private keyOf(receive: RecordId): number {
    return messageKey(this.records.get(receive, R_PEER), this.records.get(receive, R_SEQUENCE));
  }
}

lives({ PinnedReceives });
