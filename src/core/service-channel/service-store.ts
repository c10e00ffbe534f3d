/**
 * What a process of a service writes down so that the process that takes its place can go on: records, appended before anything is
 * acknowledged that depends on them (ADR 19). Implementations: real/service-channel/store-file.ts, sim/service-channel/sim-store.ts.
 *
 * A record is words in a frame:
 *
 *   0   number of words in the record
 *   1   its complement: a number that was damaged is recognised, so nobody looks for the next record at a wrong place
 *   2   checksum of the record (word-checksum.ts)
 *   3   the record
 *
 * A process that is lost while it writes leaves a frame without its end. Nothing was acknowledged that depends on it, so it is left
 * out. Any other deviation is damage: acknowledged words may be missing, and the whole store is refused. After a power cut anything may stand
 * behind what was forced to the disk: where all that was acknowledged was, a store may end with damage.
 */
import { wordChecksum } from "../base/word-checksum.ts";

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

/** Records on their way to a store. */
export class StoreFrames {
  #words = new Int32Array(wordsMin);
  /** Where the frame that was begun last begins, and where all frames end. */
  #begin = 0;
  #end = 0;

  get count(): number {
    return this.#end;
  }

  /** A record begins, with these words. */
  begin(kind: number, a: number, b: number): void {
    this.#begin = this.#end;
    this.#reserve(recordHeadWords + 3);
    const at = this.#begin + recordHeadWords;
    this.#words[at] = kind;
    this.#words[at + 1] = a;
    this.#words[at + 2] = b;
    this.#end = at + 3;
  }

  put(words: Int32Array): void {
    this.#reserve(words.length);
    this.#words.set(words, this.#end);
    this.#end += words.length;
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
    const count = this.#end - first;
    this.#words[this.#begin + COUNT] = count;
    this.#words[this.#begin + COMPLEMENT] = ~count;
    this.#words[this.#begin + CHECKSUM] = wordChecksum(this.#words, first, count);
  }

  /** All complete records, which are not here any more. The words are valid until the next record begins. */
  take(): Int32Array {
    const taken = this.#words.subarray(0, this.#end);
    this.#end = 0;
    return taken;
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
      if (count < 0 || words[at + COMPLEMENT] !== ~count) return wrong("has a damaged head");
      // The next piece has its end; or no piece has: the process was lost while it wrote.
      if (first + count > words.length) break;
      if (words[at + CHECKSUM] !== wordChecksum(words, first, count)) return wrong("is damaged");
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
