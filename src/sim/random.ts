/** Where every "random" decision of a simulated world comes from. */
import { assert } from "../core/base/assert.ts";
import { SeededRandom } from "../core/base/seeded-random.ts";

export class Random extends SeededRandom {
  /** An integer from 0 to bound − 1. */
  below(bound: number): number {
    assert(bound > 0, `a random number below ${bound}`);
    return Math.floor((this.bits() / 0x100000000) * bound);
  }

  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.bits() < probability * 0x100000000;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** In place, every order equally likely. */
  shuffle<T>(list: T[]): T[] {
    for (let last = list.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = list[last]!;
      list[last] = list[other]!;
      list[other] = kept;
    }
    return list;
  }

  /** A generator of its own for one purpose, so that a decision more here does not shift all decisions there. */
  fork(): Random {
    return new Random(this.bits());
  }
}
