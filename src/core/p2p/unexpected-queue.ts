/**
 * Envelopes that came before their receive. A receive finds the oldest that fits in near constant time, with wildcards too:
 * beside the index by (context, source, tag) there is one for each kind of wildcard, made when the first receive or probe
 * of that kind searches a queue that is not empty, and kept from then on. Programs without wildcards never pay for them.
 */
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { lives } from "../base/saved-classes.ts";
import { R_CONTEXT, R_PEER, R_TAG, type Records, recordWords } from "../request/records.ts";
import { HashIndex, patternHash } from "./hash-index.ts";
import { RecordList } from "./record-list.ts";

const none = -1 as RecordId;
/** Contexts with these bits are a layer's beside the program: it looks for its messages by itself, without receives (process/context.ts). */
export const asideBits = 0x40000001;
const exact = 0;
const anySource = 1;
const anyTag = 2;
const anyBoth = 3;

export class UnexpectedQueue {
  private readonly records: Records;
  private readonly list: RecordList;
  private readonly indexes: readonly [HashIndex, HashIndex, HashIndex, HashIndex];
  /** Which indexes are kept up: the exact one always, the others once they have been asked. */
  private kept = 1 << exact;
  /** How many envelopes of a layer's have come, all together: when it has looked for them it need not again before there are more. */
  appended = 0;

  constructor(records: Records) {
    this.records = records;
    this.list = new RecordList(records);
    this.indexes = [
      new HashIndex(records, exact),
      new HashIndex(records, anySource),
      new HashIndex(records, anyTag),
      new HashIndex(records, anyBoth),
    ];
  }

  get count(): number {
    return this.list.count;
  }

  append(envelope: RecordId): void {
    this.list.append(envelope);
    if ((this.records.get(envelope, R_CONTEXT) & asideBits) === asideBits) this.appended++;
    for (let kind = exact; kind <= anyBoth; kind++) {
      if ((this.kept & (1 << kind)) === 0) continue;
      const index = this.indexes[kind]!;
      if (index.crowded) this.rebuild(kind);
      else index.append(envelope, this.hash(envelope, kind));
    }
  }

  remove(envelope: RecordId): void {
    this.list.remove(envelope);
    for (let kind = exact; kind <= anyBoth; kind++) {
      if ((this.kept & (1 << kind)) !== 0) this.indexes[kind]!.remove(envelope, this.hash(envelope, kind));
    }
  }

  /** The oldest envelope a receive with this pattern takes, still in the queue; −1 when there is none. */
  find(context: number, source: number, tag: number): RecordId {
    if (this.count === 0) return none;
    const kind = source === ANY_SOURCE ? (tag === ANY_TAG ? anyBoth : anySource) : tag === ANY_TAG ? anyTag : exact;
    if ((this.kept & (1 << kind)) === 0) {
      this.kept |= 1 << kind;
      this.rebuild(kind);
    }
    const words = this.records.words;
    const index = this.indexes[kind]!;
    for (let record = index.head(patternHash(context, source, tag)); record >= 0; record = index.after(record)) {
      const at = record * recordWords;
      if (words[at + R_CONTEXT] !== context) continue;
      if (source !== ANY_SOURCE && words[at + R_PEER] !== source) continue;
      if (tag === ANY_TAG ? words[at + R_TAG]! < 0 : words[at + R_TAG] !== tag) continue;
      return record;
    }
    return none;
  }

  /** Oldest first. The envelope may be removed while it is visited. */
  forEach(visit: (envelope: RecordId) => void): void {
    this.list.forEach(visit);
  }

  private hash(envelope: RecordId, kind: number): number {
    const words = this.records.words;
    const at = envelope * recordWords;
    return patternHash(
      words[at + R_CONTEXT]!,
      kind === anySource || kind === anyBoth ? ANY_SOURCE : words[at + R_PEER]!,
      kind === anyTag || kind === anyBoth ? ANY_TAG : words[at + R_TAG]!,
    );
  }

  private rebuild(kind: number): void {
    const index = this.indexes[kind]!;
    index.clear(Math.max(64, 4 * 2 ** Math.ceil(Math.log2(this.count + 1))));
    this.forEach((envelope) => {
      index.append(envelope, this.hash(envelope, kind));
    });
  }
}

lives({ UnexpectedQueue });
