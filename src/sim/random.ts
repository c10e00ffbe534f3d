/**
 * Where every "random" decision of a simulated world comes from: xoshiro128** (Blackman and Vigna, 2018), its state filled
 * from the seed by splitmix32. The same seed gives the same numbers on every machine and every version of Node.
 */
import { assert } from "../core/base/assert.ts";

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    let state = seed | 0;
    const splitmix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return mixed ^ (mixed >>> 15);
    };
    this.#a = splitmix();
    this.#b = splitmix();
    this.#c = splitmix();
    this.#d = splitmix() | 1; // never all zero
  }

  /** 32 fresh bits, as an integer from 0. */
  bits(): number {
    const scaled = Math.imul(this.#b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

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
