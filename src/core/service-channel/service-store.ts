/**
 * What a process of a service writes down so that the process that takes its place can go on: records, appended before anything is
 * acknowledged that depends on them (ADR 19). Implementations: real/service-channel/store-file.ts, sim/service-channel/sim-store.ts.
 *
 * A record is words in a frame:
 *
 *   0   number of words in the record
 *   1   its complement: a number that was damaged is recognised, so nobody looks for the next record at a wrong place; the highest bits are
 *       the number of words before those that have a checksum of their own, 0: none have
 *   2   checksum of the record (word-checksum.ts)
 *   3   the record
 *
 * Many words at the end of a record are not copied on their way to a store: the checksum of such a record is that of what is before
 * them, mixed with theirs.
 *
 * A process that is lost while it writes leaves a frame without its end. Nothing was acknowledged that depends on it, so it is left
 * out. Any other deviation is damage: acknowledged words may be missing, and the whole store is refused. After a power cut anything may stand
 * behind what was forced to the disk: where all that was acknowledged was, a store may end with damage.
 */
import { assert } from "../base/assert.ts";
import { copyWords } from "../base/copy-words.ts";
import { mixChecksums, type WordChecksum, wordChecksum } from "../base/word-checksum.ts";

export interface ServiceStore {
  /**
   * Writes the words behind all others. When this returns they outlive the process, not the machine; a process that is lost meanwhile
   * leaves any number of the first bytes. A store that fails is given up for good: it makes sure that no other process reads it, and the
   * service goes on without.
   */
  append(words: Int32Array): void;
  /**
   * Puts the parts, one behind the other, in the place of all that was written: all of them or, if the process is lost meanwhile, none.
   * A part is valid until the next is asked for.
   */
  replace(parts: Iterable<Int32Array>): void;
}

const COUNT = 0;
const COMPLEMENT = 1;
const CHECKSUM = 2;
/** Words of a frame before its record. */
export const recordHeadWords = 3;
const wordsMin = 1 << 12;
/** Of the second word of a frame. */
const complementBits = 26;
const complementMask = (1 << complementBits) - 1;

/** Records on their way to a store. */
export class StoreFrames {
  readonly #checksum: WordChecksum;
  #words = new Int32Array(wordsMin);
  /** Where the frame that was begun last begins, and where all frames end; but for words that were lent. */
  #begin = 0;
  #end = 0;
  /** Words that were lent, and where they stand between the others; and those of the record that was begun last. */
  readonly #lent: { readonly words: Int32Array; readonly at: number }[] = [];
  #lentCount = 0;
  #lentNow: Int32Array | null = null;

  /** `checksum`: the same, where there is a faster way. */
  constructor(checksum: WordChecksum = wordChecksum) {
    this.#checksum = checksum;
  }

  get count(): number {
    return this.#end + this.#lentCount;
  }

  /** A record begins, with these words. */
  begin(kind: number, a: number, b: number): void {
    this.#begin = this.#end;
    this.#lentNow = null;
    this.#reserve(recordHeadWords + 3);
    const at = this.#begin + recordHeadWords;
    this.#words[at] = kind;
    this.#words[at + 1] = a;
    this.#words[at + 2] = b;
    this.#end = at + 3;
  }

  put(words: Int32Array): void {
    this.#reserve(words.length);
    copyWords(words, 0, this.#words, this.#end, words.length);
    this.#end += words.length;
  }

  /** The same for many words, the last of a record: nobody changes them before all is taken and written. */
  lend(words: Int32Array): void {
    this.#lent.push({ words, at: this.#end });
    this.#lentCount += words.length;
    this.#lentNow = words;
  }

  /** The same without an array. */
  put3(a: number, b: number, c: number): void {
    this.#reserve(3);
    this.#words[this.#end] = a;
    this.#words[this.#end + 1] = b;
    this.#words[this.#end + 2] = c;
    this.#end += 3;
  }

  put4(a: number, b: number, c: number, d: number): void {
    this.put3(a, b, c);
    this.#reserve(1);
    this.#words[this.#end++] = d;
  }

  /** The record that was begun is complete. */
  finish(): void {
    const first = this.#begin + recordHeadWords;
    const here = this.#end - first;
    const lent = this.#lentNow;
    const count = here + (lent?.length ?? 0);
    const before = lent === null ? 0 : here;
    assert(count <= complementMask && before < 1 << (32 - complementBits), "a record is too long");
    const sum = this.#checksum(this.#words, first, here);
    this.#words[this.#begin + COUNT] = count;
    this.#words[this.#begin + COMPLEMENT] = (~count & complementMask) | (before << complementBits);
    this.#words[this.#begin + CHECKSUM] =
      lent === null ? sum : mixChecksums(sum, this.#checksum(lent, 0, lent.length), before);
  }

  /** All complete records, which are not here any more. The words are valid until the next record begins. None were lent. */
  take(): Int32Array {
    const [all = this.#words.subarray(0, 0)] = this.takeParts();
    return all;
  }

  /** The same as parts, one behind the other. */
  takeParts(): Int32Array[] {
    const parts: Int32Array[] = [];
    let from = 0;
    for (const { words, at } of this.#lent) {
      if (at > from) parts.push(this.#words.subarray(from, at));
      parts.push(words);
      from = at;
    }
    if (this.#end > from) parts.push(this.#words.subarray(from, this.#end));
    this.#end = 0;
    this.#lent.length = 0;
    this.#lentCount = 0;
    return parts;
  }

  /** The same where no words were lent: how many there are, the first ones of `words`. */
  takeCount(): number {
    assert(this.#lentCount === 0, "words that were lent are parts of their own");
    const count = this.#end;
    this.#end = 0;
    return count;
  }

  /** Were words lent? */
  get hasLent(): boolean {
    return this.#lentCount > 0;
  }

  get words(): Int32Array {
    return this.#words;
  }

  #reserve(count: number): void {
    if (this.#end + count <= this.#words.length) return;
    const more = new Int32Array(Math.max(2 * this.#words.length, this.#end + count));
    more.set(this.#words.subarray(0, this.#end));
    this.#words = more;
  }
}

/**
 * Reads what was written, record by record; `take` returns what is wrong with a record, empty if nothing is. The result is what is
 * wrong with the store: empty, or the record for people, and why. A store may be larger than memory: it comes in pieces of any size,
 * each of which is valid until the next is asked for. `damaged`: a damaged record is the end, and this hears at which byte it begins.
 */
export function readRecords(
  pieces: Iterable<Uint8Array>,
  take: (record: Int32Array) => string,
  damaged?: (byte: number) => void,
): string {
  let number = 0;
  /** Bytes before those at hand. */
  let before = 0;
  let rest: Uint8Array = new Uint8Array(0);
  for (const piece of pieces) {
    const bytes = joined(rest, piece);
    const words = wordsOf(bytes);
    let at = 0;
    while (at + recordHeadWords <= words.length) {
      const count = words[at + COUNT]!;
      const first = at + recordHeadWords;
      const where = `record ${number} at byte ${before + 4 * at}`;
      const wrong = (what: string): string => {
        damaged?.(before + 4 * at);
        return damaged === undefined ? `${where} ${what}` : "";
      };
      const second = words[at + COMPLEMENT]!;
      const early = second >>> complementBits;
      const isOfCount = (second & complementMask) === (~count & complementMask);
      if (count < 0 || count > complementMask || early > count || !isOfCount) return wrong("has a damaged head");
      // The next piece has its end; or no piece has: the process was lost while it wrote.
      if (first + count > words.length) break;
      if (words[at + CHECKSUM] !== recordChecksum(words, first, count, early)) return wrong("is damaged");
      const problem = take(words.subarray(first, first + count));
      if (problem !== "") return `${where} ${problem}`;
      at = first + count;
      number++;
    }
    before += 4 * at;
    rest = bytes.slice(4 * at);
  }
  return "";
}

function recordChecksum(words: Int32Array, first: number, count: number, before: number): number {
  if (before === 0) return wordChecksum(words, first, count);
  return mixChecksums(wordChecksum(words, first, before), wordChecksum(words, first + before, count - before), before);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Whole words of them. */
function wordsOf(bytes: Uint8Array): Int32Array {
  const count = bytes.length >> 2;
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Int32Array(aligned.buffer, aligned.byteOffset, count);
}
