/**
 * What waits for room in its channel: for each destination a queue in posting order, and the destinations that have one.
 * The bound is the number of records: a program that posts a million sends to a rank that does not receive holds a million
 * records, and no payloads but its own.
 */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_KIND, R_NEXT, R_PREVIOUS, RecordKind, type Records, recordWords } from "../request/records.ts";

const none = -1 as RecordId;

export class OutgoingQueues {
  private readonly records: Records;
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;
  /** Destinations with a queue, chained; order does not matter. */
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private first = -1;
  /** Records in all queues. */
  count = 0;

  constructor(records: Records, ranks: number) {
    this.records = records;
    this.heads = new Int32Array(ranks).fill(none);
    this.tails = new Int32Array(ranks).fill(none);
    this.next = new Int32Array(ranks).fill(-1);
    this.previous = new Int32Array(ranks).fill(-1);
  }

  waiting(dest: number): boolean {
    return this.heads[dest]! >= 0;
  }

  head(dest: number): RecordId {
    return this.heads[dest]! as RecordId;
  }

  append(dest: number, record: RecordId): void {
    const words = this.records.words;
    const tail = this.tails[dest]!;
    words[record * recordWords + R_NEXT] = none;
    words[record * recordWords + R_PREVIOUS] = tail;
    if (tail < 0) {
      this.heads[dest] = record;
      this.addDestination(dest);
    } else words[tail * recordWords + R_NEXT] = record;
    this.tails[dest] = record;
    this.count++;
  }

  /** Does nothing but sends wait, or nothing at all? Other packets, where they overtake, stand in front. */
  onlySends(dest: number): boolean {
    const head = this.head(dest);
    return head < 0 || this.isSend(head);
  }

  /** Puts a packet that is no send in front of all sends, behind the others of its kind. */
  appendBeforeSends(dest: number, packet: RecordId): void {
    let send = this.head(dest);
    while (send >= 0 && !this.isSend(send)) send = this.records.get(send, R_NEXT) as RecordId;
    if (send < 0) {
      this.append(dest, packet);
      return;
    }
    const words = this.records.words;
    const previous = words[send * recordWords + R_PREVIOUS]!;
    words[packet * recordWords + R_NEXT] = send;
    words[packet * recordWords + R_PREVIOUS] = previous;
    words[send * recordWords + R_PREVIOUS] = packet;
    if (previous < 0) this.heads[dest] = packet;
    else words[previous * recordWords + R_NEXT] = packet;
    this.count++;
  }

  private isSend(record: RecordId): boolean {
    return this.records.get(record, R_KIND) === RecordKind.SEND;
  }

  removeHead(dest: number): void {
    this.remove(dest, this.heads[dest]! as RecordId);
  }

  /** Takes a record out of the queue of its destination, where it must stand. */
  remove(dest: number, record: RecordId): void {
    const words = this.records.words;
    const next = words[record * recordWords + R_NEXT]!;
    const previous = words[record * recordWords + R_PREVIOUS]!;
    if (previous < 0) this.heads[dest] = next;
    else words[previous * recordWords + R_NEXT] = next;
    if (next < 0) this.tails[dest] = previous;
    else words[next * recordWords + R_PREVIOUS] = previous;
    this.count--;
    if (this.heads[dest]! < 0) this.removeDestination(dest);
  }

  /** What stands behind a record in its queue, in order. */
  forEachBehind(record: RecordId, visit: (record: RecordId) => void): void {
    const records = this.records;
    for (let next = records.get(record, R_NEXT); next >= 0; next = records.get(next as RecordId, R_NEXT))
      visit(next as RecordId);
  }

  /** Empties a destination's queue. */
  drop(dest: number, visit: (record: RecordId) => void): void {
    while (this.waiting(dest)) {
      const record = this.head(dest);
      this.remove(dest, record);
      visit(record);
    }
  }

  firstDestination(): number {
    return this.first;
  }

  destinationAfter(dest: number): number {
    return this.next[dest]!;
  }

  private addDestination(dest: number): void {
    this.next[dest] = this.first;
    this.previous[dest] = -1;
    if (this.first >= 0) this.previous[this.first] = dest;
    this.first = dest;
  }

  private removeDestination(dest: number): void {
    const next = this.next[dest]!;
    const previous = this.previous[dest]!;
    if (previous < 0) this.first = next;
    else this.next[previous] = next;
    if (next >= 0) this.previous[next] = previous;
  }
}

lives({ OutgoingQueues });
