/**
 * Packets that wait for room in their channel: for each destination a queue in posting order, and the destinations that have one.
 * The bound is the number of records: a program that posts a million sends to a rank that does not receive holds a million
 * records, and no payloads but its own. Destinations are peer numbers, and heads and tails are words of theirs (peers.ts).
 */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_KIND, R_NEXT, R_PREVIOUS, RecordKind, type Records, recordWords } from "../request/records.ts";
import type { Pass } from "./pass.ts";
import { P_HEAD, P_NEXT, P_PREVIOUS, P_TAIL, type Peers } from "./peers.ts";
import type { SparseTable } from "./sparse-table.ts";

const none = -1 as RecordId;

export class OutgoingQueues {
  static readonly unsaved = { pass: null };
  private readonly records: Records;
  private readonly table: SparseTable;
  private readonly pass: Pass;
  /** First of the destinations with a queue, which are chained; order does not matter. */
  private first = -1;
  /** Records in all queues. */
  count = 0;

  constructor(records: Records, peers: Peers, pass: Pass) {
    this.records = records;
    this.pass = pass;
    this.table = peers.table;
  }

  waiting(dest: number): boolean {
    return this.count !== 0 && this.head(dest) >= 0;
  }

  head(dest: number): RecordId {
    const slot = this.table.find(dest);
    return slot < 0 ? none : (this.table.words[slot + P_HEAD]! as RecordId);
  }

  append(dest: number, record: RecordId): void {
    const words = this.records.words;
    const slot = this.table.at(dest);
    const peers = this.table.words;
    const tail = peers[slot + P_TAIL]!;
    words[record * recordWords + R_NEXT] = none;
    words[record * recordWords + R_PREVIOUS] = tail;
    if (tail < 0) {
      peers[slot + P_HEAD] = record;
      this.addDestination(dest);
    } else words[tail * recordWords + R_NEXT] = record;
    peers[slot + P_TAIL] = record;
    this.count++;
    this.pass.close();
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
    if (previous < 0) this.table.put(dest, P_HEAD, packet);
    else words[previous * recordWords + R_NEXT] = packet;
    this.count++;
    this.pass.close();
  }

  private isSend(record: RecordId): boolean {
    return this.records.get(record, R_KIND) === RecordKind.SEND;
  }

  removeHead(dest: number): void {
    this.remove(dest, this.head(dest));
  }

  /** Takes a record out of the queue of its destination, where it must stand. */
  remove(dest: number, record: RecordId): void {
    const words = this.records.words;
    const slot = this.table.at(dest);
    const peers = this.table.words;
    const next = words[record * recordWords + R_NEXT]!;
    const previous = words[record * recordWords + R_PREVIOUS]!;
    if (previous < 0) peers[slot + P_HEAD] = next;
    else words[previous * recordWords + R_NEXT] = next;
    if (next < 0) peers[slot + P_TAIL] = previous;
    else words[next * recordWords + R_PREVIOUS] = previous;
    this.count--;
    if (peers[slot + P_HEAD]! < 0) this.removeDestination(dest);
  }

  /** The records behind one in its queue, in order. */
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
    return this.table.get(dest, P_NEXT);
  }

  private addDestination(dest: number): void {
    const { table } = this;
    table.put(dest, P_NEXT, this.first);
    table.put(dest, P_PREVIOUS, -1);
    if (this.first >= 0) table.put(this.first, P_PREVIOUS, dest);
    this.first = dest;
  }

  private removeDestination(dest: number): void {
    const { table } = this;
    const next = table.get(dest, P_NEXT);
    const previous = table.get(dest, P_PREVIOUS);
    if (previous < 0) this.first = next;
    else table.put(previous, P_NEXT, next);
    if (next >= 0) table.put(next, P_PREVIOUS, previous);
  }
}

lives({ OutgoingQueues });
