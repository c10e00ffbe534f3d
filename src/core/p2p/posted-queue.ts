/**
 * Receives that wait for their message, found in near constant time by an arriving envelope however many there are.
 *
 * Each receive stands in one chain, under its own pattern (context, source, tag), where wildcards are just further values
 * of source and tag. An arriving message can satisfy four patterns; it looks up those that are in use and takes the oldest
 * of what it finds: posted order decides (MPI 5.0 §3.5).
 */
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { lives } from "../base/saved-classes.ts";
import { R_CONTEXT, R_ORDER, R_PEER, R_TAG, type Records, recordWords } from "../request/records.ts";
import { HashIndex, patternHash } from "./hash-index.ts";
import { RecordList } from "./record-list.ts";

const none = -1 as RecordId;

export class PostedQueue {
  private readonly records: Records;
  private readonly list: RecordList;
  private readonly index: HashIndex;
  private order = 0;
  /** Receives posted with a wildcard, by kind: a kind that is not in use costs an arriving message nothing. */
  private anySource = 0;
  private anyTag = 0;
  private anyBoth = 0;

  constructor(records: Records) {
    this.records = records;
    this.list = new RecordList(records);
    this.index = new HashIndex(records, 0);
  }

  get count(): number {
    return this.list.count;
  }

  /** Its place in the order of posting. */
  stamp(receive: RecordId): void {
    this.records.words[receive * recordWords + R_ORDER] = this.order = (this.order + 1) | 0;
  }

  append(receive: RecordId): void {
    const words = this.records.words;
    const at = receive * recordWords;
    this.stamp(receive);
    this.list.append(receive);
    this.countKind(words[at + R_PEER]!, words[at + R_TAG]!, 1);
    if (this.index.crowded) this.rebuild();
    else this.index.append(receive, this.hash(at));
  }

  remove(receive: RecordId): void {
    const words = this.records.words;
    const at = receive * recordWords;
    this.list.remove(receive);
    this.countKind(words[at + R_PEER]!, words[at + R_TAG]!, -1);
    this.index.remove(receive, this.hash(at));
  }

  /** The oldest receive that takes this message, still in the queue; −1 when there is none. */
  find(context: number, source: number, tag: number): RecordId {
    if (this.count === 0) return none;
    let best = this.oldest(context, source, tag);
    if (this.anySource !== 0) best = this.older(best, this.oldest(context, ANY_SOURCE, tag));
    // Tags below zero are our own (collectives, agreements); ANY_TAG means the program's tags.
    if (this.anyTag !== 0 && tag >= 0) best = this.older(best, this.oldest(context, source, ANY_TAG));
    if (this.anyBoth !== 0 && tag >= 0) best = this.older(best, this.oldest(context, ANY_SOURCE, ANY_TAG));
    return best;
  }

  /** All receives, oldest first. A receive may be removed while it is visited. */
  forEach(visit: (receive: RecordId) => void): void {
    this.list.forEach(visit);
  }

  private oldest(context: number, source: number, tag: number): RecordId {
    const words = this.records.words;
    const index = this.index;
    for (let record = index.head(patternHash(context, source, tag)); record >= 0; record = index.after(record)) {
      const at = record * recordWords;
      if (words[at + R_TAG] === tag && words[at + R_PEER] === source && words[at + R_CONTEXT] === context)
        return record;
    }
    return none;
  }

  private older(a: RecordId, b: RecordId): RecordId {
    if (a < 0) return b;
    if (b < 0) return a;
    const words = this.records.words;
    // Orders wrap; their difference does not, as long as fewer than 2^31 receives are outstanding.
    return ((words[a * recordWords + R_ORDER]! - words[b * recordWords + R_ORDER]!) | 0) < 0 ? a : b;
  }

  private hash(at: number): number {
    const words = this.records.words;
    return patternHash(words[at + R_CONTEXT]!, words[at + R_PEER]!, words[at + R_TAG]!);
  }

  private countKind(source: number, tag: number, by: number): void {
    if (source === ANY_SOURCE) {
      if (tag === ANY_TAG) this.anyBoth += by;
      else this.anySource += by;
    } else if (tag === ANY_TAG) this.anyTag += by;
  }

  private rebuild(): void {
    this.index.clear(4 * 2 ** Math.ceil(Math.log2(this.count)));
    this.forEach((receive) => {
      this.index.append(receive, this.hash(receive * recordWords));
    });
  }
}

lives({ PostedQueue });
