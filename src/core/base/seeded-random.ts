/**
 * Random bits from a seed: xoshiro128** (Blackman and Vigna, 2018), its state filled by splitmix32. The same seed gives the same
 * bits on every machine and every version of Node. The state is plain fields, so an image can hold it. Nobody shall be unable
 * to guess these bits: they are not for secrets.
 */
import { lives } from "./saved-classes.ts";

export class SeededRandom {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  constructor(seed: number) {
    let state = seed | 0;
    const splitmix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return mixed ^ (mixed >>> 15);
    };
    this.a = splitmix();
    this.b = splitmix();
    this.c = splitmix();
    this.d = splitmix() | 1; // never all zero
  }

  /** Of one rank of a job that was given `seed`. */
  static ofRank(seed: number, rank: number): SeededRandom {
    return new SeededRandom(new SeededRandom(seed).bits() + Math.imul(rank, 0x9e3779b1));
  }

  /** 32 fresh bits, as an integer from 0. */
  bits(): number {
    const scaled = Math.imul(this.b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9);
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = (this.d << 11) | (this.d >>> 21);
    return result >>> 0;
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0, left = 0; at < bytes.length; at++, left >>>= 8) {
      if ((at & 3) === 0) left = this.bits();
      bytes[at] = left;
    }
  }

  /** From 0 to below 1, all 53 bits of it random. */
  fraction(): number {
    return ((this.bits() >>> 5) * 0x4000000 + (this.bits() >>> 6)) / 0x20000000000000;
  }
}

lives({ SeededRandom });
