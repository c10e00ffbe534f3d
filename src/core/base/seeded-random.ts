/**
 * Random bits from a seed: xoshiro128** (Blackman and Vigna, 2018), its state filled by splitmix32. The same seed gives the same
 * bits on every machine and every version of Node. The state is plain fields, so an image can hold it. The bits can be
 * guessed: never use them for secrets.
 */
import { lives } from "./saved-classes.ts";
import { splitmix32, splitmixStep } from "./splitmix-32.ts";

export class SeededRandom {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  constructor(seed: number) {
    let state = seed | 0;
    const next = (): number => {
      state = (state + splitmixStep) | 0;
      return splitmix32(state) | 0;
    };
    this.a = next();
    this.b = next();
    this.c = next();
    this.d = next() | 1; // a state of zeros would give zeros for ever
  }

  /** The generator of one rank in a job whose seed is `seed`. */
  static ofRank(seed: number, rank: number): SeededRandom {
    return new SeededRandom(new SeededRandom(seed).bits() + Math.imul(rank, 0x9e3779b1));
  }

  /** 32 fresh bits, as an unsigned integer. */
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

  /** A number from 0 to below 1 with 53 random bits. */
  fraction(): number {
    return ((this.bits() >>> 5) * 0x4000000 + (this.bits() >>> 6)) / 0x20000000000000;
  }
}

lives({ SeededRandom });
