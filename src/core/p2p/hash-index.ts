/**
 * Records chained by the hash of a key, each chain in the order of appending. The key itself is not stored: callers that walk a
 * chain compare the fields they care about. Links live in the records (`R_INDEX`, one pair for each index), so an index
 * costs no allocation but its table of chain heads, which doubles when chains grow long.
 */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_INDEX, type Records, recordWords } from "../request/records.ts";

const none = -1;
/** Chains of an index with few records: most processes of a large job have several of those. */
const chainsFirst = 16;

/** Spreads (context, peer, tag) over 32 bits; wildcards hash as the negative numbers they are. */
export function patternHash(context: number, peer: number, tag: number): number {
  let hash = Math.imul(tag, 0x9e3779b1) ^ Math.imul(peer, 0x85ebca6b) ^ Math.imul(context, 0xc2b2ae35);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) ^ (hash >>> 13);
}

export class HashIndex {
  private readonly records: Records;
  private readonly next: number;
  private readonly previous: number;
  private heads: Int32Array;
  private tails: Int32Array;
  private mask: number;
  count = 0;

  constructor(records: Records, links: 0 | 1 | 2 | 3, chains = chainsFirst) {
    this.records = records;
    this.next = R_INDEX + 2 * links;
    this.previous = this.next + 1;
    this.heads = new Int32Array(chains).fill(none);
    this.tails = new Int32Array(chains).fill(none);
    this.mask = chains - 1;
  }

  /** True when chains have become long: the owner should `clear` with more chains and append everything again. */
  get crowded(): boolean {
    return this.count > 2 * this.mask;
  }

  clear(chains: number): void {
    this.heads = new Int32Array(chains).fill(none);
    this.tails = new Int32Array(chains).fill(none);
    this.mask = chains - 1;
    this.count = 0;
  }

  append(record: RecordId, hash: number): void {
    const words = this.records.words;
    const chain = hash & this.mask;
    const tail = this.tails[chain]!;
    const at = record * recordWords;
    words[at + this.next] = none;
    words[at + this.previous] = tail;
    if (tail < 0) this.heads[chain] = record;
    else words[tail * recordWords + this.next] = record;
    this.tails[chain] = record;
    this.count++;
  }

  remove(record: RecordId, hash: number): void {
    const words = this.records.words;
    const chain = hash & this.mask;
    const at = record * recordWords;
    const next = words[at + this.next]!;
    const previous = words[at + this.previous]!;
    if (previous < 0) this.heads[chain] = next;
    else words[previous * recordWords + this.next] = next;
    if (next < 0) this.tails[chain] = previous;
    else words[next * recordWords + this.previous] = previous;
    this.count--;
  }

  /** First record of the chain of that hash, or −1. */
  head(hash: number): RecordId {
    return this.heads[hash & this.mask] as RecordId;
  }

  after(record: RecordId): RecordId {
    return this.records.words[record * recordWords + this.next] as RecordId;
  }
}

lives({ HashIndex });
