/**
 * Memory for many words that several have at the same time: a reader that receives to it, a cache, a stream on its way. It is used again when the last of them lets it go:
 * memory that is allocated for each megabyte is cleared first and collected later, and is in no cache of the processor.
 *
 * Whoever forgets to let go of a block loses it to the garbage collector, and nothing else happens. Memory from elsewhere may be held and let go: nothing happens.
 */

/** Two pieces of 256 KiB, the largest that services are told at once, with what stands before them. */
export const blockWords = (1 << 17) + 64;
/** So many words that stand in a row in a block are given to others, with the rest of it; fewer are copied. */
export const sharedWordsMin = 1 << 13;
/** Blocks that nobody has, which wait for their next use. */
const freeMax = 32;

/** Those who may have words of a block. */
export interface WordHolds {
  hold(words: Int32Array): void;
  letGo(words: Int32Array): void;
}

export class WordBlocks implements WordHolds {
  readonly #holders = new WeakMap<ArrayBufferLike, number>();
  readonly #free: Int32Array<ArrayBuffer>[] = [];

  /** A block, whose words are whatever they are. The caller holds it. */
  take(): Int32Array<ArrayBuffer> {
    const block = this.#free.pop() ?? new Int32Array(blockWords);
    this.#holders.set(block.buffer, 1);
    return block;
  }

  hold({ buffer }: Int32Array): void {
    const holders = this.#holders.get(buffer);
    if (holders !== undefined) this.#holders.set(buffer, holders + 1);
  }

  letGo({ buffer }: Int32Array): void {
    const holders = this.#holders.get(buffer);
    if (holders === undefined) return;
    if (holders > 1) {
      this.#holders.set(buffer, holders - 1);
      return;
    }
    this.#holders.delete(buffer);
    if (this.#free.length < freeMax) this.#free.push(new Int32Array(buffer as ArrayBuffer));
  }
}

/** For memory that is nobody else's. */
export const noHolds: WordHolds = { hold() {}, letGo() {} };
