/**
 * Output exactly once: which of the offered lines are new. Lines of a rank's stream are numbered from 0 in program order,
 * the same in every life and every replica; the first offer of a number wins, later ones are dropped.
 */
import { assert } from "../base/assert.ts";

export class LineNumbers {
  #next: number;
  constructor(first = 0) {
    this.#next = first;
  }

  /** The number the next new line will have. */
  get next(): number {
    return this.#next;
  }

  /** `count` lines from number `first` on are offered: how many at their start are repeats, to be dropped. */
  offer(first: number, count: number): number {
    assert(first <= this.#next, `line ${first} offered before line ${this.#next}`);
    const repeats = Math.min(count, this.#next - first);
    this.#next += count - repeats;
    return repeats;
  }
}
