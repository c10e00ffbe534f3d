/**
 * Words for the few numbers that are in use out of the many that could be: a slot of so many words for each number that was
 * ever added, found by its hash. A process of a large job speaks with a handful of others, and has memory for those alone.
 *
 * A slot is the offset of its first word in `words`; that word is the number itself. Slots are never removed and never move, but
 * the array is replaced when the table grows: read it through `table.words` each time, never keep it across an `add`. The hot
 * path is two loads: the index, and the slot's number, which lies beside the words that are wanted.
 */
import { assert } from "../base/assert.ts";
import { lives } from "../base/saved-classes.ts";

const none = -1;
/** Slots of an empty table: most processes of a large job have several of those. */
const slotsFirst = 2;

/** Numbers that follow each other, and those with a power of two between them, are spread alike (Fibonacci hashing). */
const hashOf = (number: number): number => Math.imul(number, 0x9e3779b1);

export class SparseTable {
  private readonly stride: number;
  /** The words of a new slot behind its number. */
  private readonly initial: readonly number[];
  words: Int32Array;
  /** Offsets of slots, open addressing; never more than half full. Its length is a power of two. */
  private index: Int32Array;
  /** How far a hash is shifted to be a place of the index. */
  private shift: number;
  /** Slots in use. */
  count = 0;

  /** A new slot has its number and these words. */
  constructor(initial: readonly number[]) {
    this.stride = 1 + initial.length;
    this.initial = initial;
    this.words = new Int32Array(slotsFirst * this.stride);
    this.index = new Int32Array(2 * slotsFirst).fill(none);
    this.shift = 32 - Math.log2(2 * slotsFirst);
  }

  /** The slot of that number; −1: it was never added. */
  find(number: number): number {
    const { index, words } = this;
    const mask = index.length - 1;
    for (let place = hashOf(number) >>> this.shift; ; place = (place + 1) & mask) {
      const slot = index[place]!;
      if (slot < 0 || words[slot] === number) return slot;
    }
  }

  /** The slot of that number, which is made if there is none. */
  at(number: number): number {
    const slot = this.find(number);
    return slot >= 0 ? slot : this.add(number);
  }

  /** A word of that number, whose slot is made if there is none. */
  get(number: number, field: number): number {
    const slot = this.at(number);
    return this.words[slot + field]!;
  }

  put(number: number, field: number, value: number): void {
    const slot = this.at(number);
    this.words[slot + field] = value;
  }

  private add(number: number): number {
    assert(number >= 0, "numbers of a sparse table are not negative");
    if (this.count * this.stride === this.words.length) this.grow();
    const slot = this.count * this.stride;
    this.words[slot] = number;
    this.words.set(this.initial, slot + 1);
    this.count++;
    this.enter(slot);
    return slot;
  }

  private grow(): void {
    const words = new Int32Array(2 * this.words.length);
    words.set(this.words);
    this.words = words;
    this.index = new Int32Array(2 * this.index.length).fill(none);
    this.shift--;
    for (let slot = 0; slot < this.count * this.stride; slot += this.stride) this.enter(slot);
  }

  private enter(slot: number): void {
    const { index } = this;
    const mask = index.length - 1;
    let place = hashOf(this.words[slot]!) >>> this.shift;
    while (index[place]! >= 0) place = (place + 1) & mask;
    index[place] = slot;
  }

  /** Every slot, in the order in which their numbers were added. */
  forEach(visit: (slot: number) => void): void {
    for (let slot = 0; slot < this.count * this.stride; slot += this.stride) visit(slot);
  }
}

lives({ SparseTable });
