/**
 * The first bytes of a program's memory stay zero (core/base/low-memory.ts): a write there went through a null pointer, and ends the
 * program at its next call of MPI or at its end, instead of being lost. Every call compares the first eight bytes, where most such writes
 * go; every 64th call, the last one and the end of the program look at all of them.
 */
import { lowMemoryBytes } from "../../core/base/low-memory.ts";
import { Ended } from "../ended.ts";

const callsPerLook = 64;

export class LowMemory {
  /** One number, which is 0 unless the program wrote to address 0: what every call compares. */
  readonly #first: Float64Array;
  readonly #words: Int32Array;
  #calls = 0;

  /** `words`: all of the memory, or as much of it as is to be watched. */
  constructor(words: Int32Array) {
    this.#first = new Float64Array(words.buffer, words.byteOffset, 1);
    this.#words = words.subarray(0, lowMemoryBytes >> 2);
  }

  /** The program is calling that function of MPI. */
  pass(call: string): void {
    if (this.#first[0] !== 0 || ++this.#calls % callsPerLook === 0) this.check(call);
  }

  /** Throws if anything is not zero. `finder`: the function that the program has called, or where the program is. */
  check(finder: string): void {
    const words = this.#words;
    let at = 0;
    while (at < words.length && words[at] === 0) at++;
    if (at === words.length) return;
    const word = words[at]!;
    const address = 4 * at + (Math.clz32(word & -word) ^ 31) / 8;
    const why = `write to address ${Math.floor(address)} through a null pointer (compile with -g to see where), found by ${finder}`;
    throw new Ended({ kind: "signalled", signal: 11, name: "SIGSEGV", why, frames: [] });
  }
}

/** Of a program whose stack may reach down to address 0: one that an earlier version has linked, and those of tests. */
export const unwatched = new LowMemory(new Int32Array(2));
