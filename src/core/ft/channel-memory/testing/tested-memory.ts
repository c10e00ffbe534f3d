/** A channel memory with its store, which can be lost, in the process of a test. */

import { type MemoryLimits, memoryOf } from "../limits.ts";
import { ChannelMemory } from "../memory/channel-memory.ts";
import { MemorySegments } from "../memory/memory-segments.ts";
import { StoredHomes } from "../memory/stored-homes.ts";

export const smallLimits: MemoryLimits = { pieceBytesMax: 8, inlineBytesMax: 8 };

interface TestedMemoryOptions {
  readonly limits?: MemoryLimits;
  /** Messages and events that are in memory at most; 1 unless given. */
  readonly itemsMax?: number;
  /** How many memories share the ranks, and which of them this one is. */
  readonly memories?: number;
  readonly number?: number;
}

export class TestedMemory {
  readonly store = new MemorySegments();
  readonly #ranks: number;
  readonly #tested: Required<TestedMemoryOptions>;
  memory: ChannelMemory;
  #homes!: StoredHomes;
  /** Which process of it this is. */
  origin = 1;

  constructor(
    ranks: number,
    { limits = smallLimits, itemsMax = 1, memories = 1, number = 0 }: TestedMemoryOptions = {},
  ) {
    this.#ranks = ranks;
    this.#tested = { limits, itemsMax, memories, number };
    this.memory = this.#begin(StoredHomes.empty(this.#options));
  }

  get #options() {
    return { store: this.store, bytesMax: 0, itemsMax: this.#tested.itemsMax, segmentWordsMax: 64 };
  }

  #begin(homes: StoredHomes): ChannelMemory {
    this.#homes = homes;
    const { limits, memories, number } = this.#tested;
    const isHome = (rank: number): boolean => memoryOf(rank, memories) === number;
    return new ChannelMemory(
      { ranks: this.#ranks, limits, outgoingWordsMax: 1 << 16, unsaidWordsMax: 0, isHome },
      homes,
      () => {},
    );
  }

  /** Messages and events that are in memory. */
  get itemsInMemory(): number {
    return this.#homes.itemsInMemory;
  }

  /** The first word of a message that is here whole; null: it is not. */
  valueOf(receiver: number, source: number, sequence: number): number | null {
    const home = this.#homes.homeOf(receiver);
    const message = this.#homes.reader.messageOf(home, source, sequence);
    if (message === undefined || !home.has(source, sequence)) return null;
    return this.#homes.wordsOf(message.pieces[0]!, new Int32Array(2))[0]!;
  }

  /** All that is not written is lost; a successor reads the rest. */
  crash(): void {
    const homes = StoredHomes.restored(this.store.written(), this.#options);
    if (typeof homes === "string") throw new Error(homes);
    this.memory = this.#begin(homes);
    this.origin++;
  }
}
