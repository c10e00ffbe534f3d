/** The words of one block (stored-order.ts), read at once, and the records among them: whoever wants the next one finds it in memory. */
import { recordHeadWords } from "../../../service-channel/service-store.ts";
import type { SegmentStore } from "./segment-store.ts";
import type { Block } from "./stored-order.ts";

const none: Int32Array = new Int32Array(0);

export class BlockWindow {
  #segment = -1;
  #from = 0;
  #words = none;
  /** Behind the record that was found last. */
  #next = 0;

  /**
   * The first record of a block that is wanted; `take` is given a record and its first word's index in the segment, and returns undefined for any
   * other. Looks behind the one that was found last, because that is where the next one is, then before it.
   */
  find<Found>(
    block: Block,
    store: SegmentStore,
    take: (record: Int32Array, at: number) => Found | undefined,
  ): Found | undefined {
    this.#load(block, store);
    const next = this.#next;
    return this.#search(next, this.#words.length, take) ?? this.#search(0, next, take);
  }

  /** Nothing is looked for any more: the memory is given back. */
  clear(): void {
    this.#segment = -1;
    this.#words = none;
  }

  #load({ segment, from, to }: Block, store: SegmentStore): void {
    // The last block of an order grows.
    if (this.#segment === segment && this.#from === from && this.#words.length === to - from) return;
    // Never into the words of the block before: somebody may still have a view of them.
    const words = new Int32Array(to - from);
    store.read(segment, from, words);
    this.#segment = segment;
    this.#from = from;
    this.#words = words;
    this.#next = 0;
  }

  #search<Found>(
    begin: number,
    end: number,
    take: (record: Int32Array, at: number) => Found | undefined,
  ): Found | undefined {
    for (let at = begin; at < end; ) {
      const first = at + recordHeadWords;
      const behind = first + this.#words[at]!;
      const found = take(this.#words.subarray(first, behind), this.#from + first);
      at = behind;
      if (found === undefined) continue;
      this.#next = behind;
      return found;
    }
    return undefined;
  }
}
