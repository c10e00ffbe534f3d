/** Words of a stream that are kept, from a position on: added behind, trimmed in front. */
import { assert } from "../base/assert.ts";
import { copyWords } from "../base/copy-words.ts";
import { type Stretch, wordsBetween } from "./channel.ts";
import { noHolds, type WordHolds } from "./word-blocks.ts";

const blockWordsMin = 1 << 8;
const blockWordsMax = 1 << 15;

/** Memory of the log's own, and how much of it is used. */
interface Block {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  used: number;
}

/** Words from an index on, up to another: of a block, or lent. */
interface Part {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  from: number;
  to: number;
}

export class WordLog {
  #begin: number;
  readonly #holds: WordHolds;
  readonly #parts: Part[] = [];
  /** Words in all parts. */
  #count = 0;
  #block: Block = newBlock(0);

  /** `holds`: who hears which words are lent here. */
  constructor(begin = 0, holds: WordHolds = noHolds) {
    this.#begin = begin;
    this.#holds = holds;
  }

  /** Position of the first word. */
  get begin(): number {
    return this.#begin;
  }

  /** Position behind the last word. */
  get end(): number {
    return (this.#begin + this.#count) | 0;
  }

  get count(): number {
    return this.#count;
  }

  append(words: Int32Array, from = 0, to = words.length): void {
    for (let at = from; at < to; ) {
      const block = this.#blockFor(to - at);
      const taken = Math.min(to - at, block.words.length - block.used);
      const last = this.#lastPartOf(block);
      copyWords(words, at, block.words, block.used, taken);
      block.used += taken;
      last.to = block.used;
      this.#count += taken;
      at += taken;
    }
  }

  /** The same without a copy: nobody changes the words any more. */
  lend(words: Int32Array): void {
    if (words.length === 0) return;
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    this.#holds.hold(words);
    this.#parts.push({ words, bytes, from: 0, to: words.length });
    this.#count += words.length;
  }

  /** A block with room: larger ones the more there is, or comes, within limits. */
  #blockFor(wanted: number): Block {
    if (this.#block.used === this.#block.words.length) {
      const length = Math.min(blockWordsMax, Math.max(blockWordsMin, this.#count, wanted));
      this.#block = newBlock(length);
    }
    return this.#block;
  }

  /** The part that ends where the block's room begins. */
  #lastPartOf({ words, bytes, used }: Block): Part {
    const last = this.#parts[this.#parts.length - 1];
    if (last?.words === words && last.to === used) return last;
    const part = { words, bytes, from: used, to: used };
    this.#parts.push(part);
    return part;
  }

  /** The words from a position on that stand in a row; there is one at least. */
  find(position: number, into: Stretch): void {
    let skipped = wordsBetween(this.#begin, position);
    assert(skipped >= 0 && skipped < this.#count, "a word is wanted that is not kept");
    for (const { bytes, from, to } of this.#parts) {
      if (skipped < to - from) {
        into.memory = bytes;
        into.at = 4 * (from + skipped);
        into.bytes = 4 * (to - from - skipped);
        return;
      }
      skipped -= to - from;
    }
  }

  /** Copies words from a position on, at most `max`: how many. */
  copy(position: number, into: Int32Array, at: number, max: number): number {
    let skipped = wordsBetween(this.#begin, position);
    assert(skipped >= 0 && skipped <= this.#count, "words are wanted that are not kept");
    let copied = 0;
    for (const { words, from, to } of this.#parts) {
      const first = from + Math.min(skipped, to - from);
      skipped -= first - from;
      const taken = Math.min(to - first, max - copied);
      copyWords(words, first, into, at + copied, taken);
      copied += taken;
      if (copied === max) break;
    }
    return copied;
  }

  /** All words from a position on. */
  read(position: number): Int32Array {
    const all = new Int32Array(Math.max(0, wordsBetween(position, this.end)));
    this.copy(position, all, 0, all.length);
    return all;
  }

  /** Words before that position are not needed any more. */
  trim(below: number): void {
    for (let left = Math.min(wordsBetween(this.#begin, below), this.#count); left > 0; ) {
      const first = this.#parts[0]!;
      const dropped = Math.min(left, first.to - first.from);
      first.from += dropped;
      this.#begin = (this.#begin + dropped) | 0;
      this.#count -= dropped;
      left -= dropped;
      if (first.from < first.to) continue;
      this.#parts.shift();
      this.#holds.letGo(first.words);
    }
    // All of it is free again.
    if (this.#parts.length === 0) this.#block.used = 0;
  }

  dropLast(count: number): void {
    this.#count -= count;
    for (let left = count; left > 0; ) {
      const last = this.#parts.at(-1)!;
      const dropped = Math.min(left, last.to - last.from);
      last.to -= dropped;
      left -= dropped;
      if (last.from < last.to) continue;
      this.#parts.pop();
      this.#holds.letGo(last.words);
    }
  }

  /** The same words, from another position on. */
  moveTo(begin: number): void {
    this.#begin = begin;
  }
}

function newBlock(length: number): Block {
  const words = new Int32Array(length);
  return { words, bytes: new Uint8Array(words.buffer), used: 0 };
}
