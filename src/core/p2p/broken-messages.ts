/**
 * Messages whose sender was lost before all their bytes were here, or whose bytes the protocol does not trust. Their place in the order of messages is kept: an envelope
 * stays where it is among the unexpected, a receive keeps its message. When the sender's next life sends the message again,
 * by the same number, the record that has the envelope gets the bytes.
 */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_OFFSET, R_PEER, R_SEQUENCE, RecordFlag, type Records } from "../request/records.ts";

const none = -1 as RecordId;

/** One number for a message. Ranks are below 2^21. */
export const messageKey = (source: number, sequence: number): number => source * 2 ** 32 + (sequence >>> 0);

export class BrokenMessages {
  private readonly records: Records;
  /** The envelope, or the receive that has taken it. */
  private readonly byMessage = new Map<number, RecordId>();

  constructor(records: Records) {
    this.records = records;
  }

  add(record: RecordId): void {
    const { records } = this;
    records.addFlag(record, RecordFlag.BROKEN);
    records.removeFlag(record, RecordFlag.AWAITS_PIECES | RecordFlag.AWAITS_FINISH);
    records.put(record, R_OFFSET, 0);
    this.byMessage.set(messageKey(records.get(record, R_PEER), records.get(record, R_SEQUENCE)), record);
  }

  /** A receive has taken a broken envelope: the bytes are for it. The envelope is gone. */
  handOver(envelope: RecordId, receive: RecordId): void {
    this.records.give(envelope);
    this.add(receive);
  }

  /** The message comes: the record that has its envelope, not broken any more; −1: there is none. */
  take(source: number, sequence: number): RecordId {
    const key = messageKey(source, sequence);
    const record = this.byMessage.get(key);
    if (record === undefined) return none;
    this.byMessage.delete(key);
    this.records.removeFlag(record, RecordFlag.BROKEN);
    return record;
  }

  has(source: number, sequence: number): boolean {
    return this.byMessage.has(messageKey(source, sequence));
  }

  /** Numbers of the messages from that rank. */
  from(source: number): number[] {
    return [...this.byMessage.values()]
      .filter((record) => this.records.get(record, R_PEER) === source)
      .map((record) => this.records.get(record, R_SEQUENCE));
  }
}

lives({ BrokenMessages });
