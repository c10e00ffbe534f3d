/**
 * A rank's side of a reduction in a builder: where the value so far lies, and where the next value goes.
 *
 * The first combination reads the caller's buffer and writes the accumulator, so nothing is copied beforehand; until then
 * messages leave straight from the caller's buffer.
 */
import { copy, part, reduce } from "./rounds.ts";
import type { Region, Step } from "./schedule.ts";

export class Accumulator {
  /** The value so far: all of its bytes, as far as this rank still works on them, have the same history. */
  current: Region;
  readonly #into: Region;

  /** `own` is this rank's contribution; combined values go to `into`, which may be the same. */
  constructor(own: Region, into: Region) {
    this.current = own;
    this.#into = into;
  }

  /** Combines one more operand, on the side of its ranks. */
  combine(operand: Region, side: "left" | "right"): Step {
    return this.combinePart(0, operand, side);
  }

  /**
   * The same for the bytes at `offset`, as many as the operand has. The rest of the value belongs to other ranks from now on.
   */
  combinePart(offset: number, operand: Region, side: "left" | "right"): Step {
    const value = part(this.current, offset, operand.bytes);
    const into = part(this.#into, offset, operand.bytes);
    this.current = this.#into;
    return side === "left" ? reduce(operand, value, into) : reduce(value, operand, into);
  }

  /** Steps that bring the value to `into` when nothing was combined. */
  settle(): Step[] {
    return this.current === this.#into || this.#same() ? [] : [copy(this.current, this.#into)];
  }

  #same(): boolean {
    return this.current.buffer === this.#into.buffer && this.current.offset === this.#into.offset;
  }
}
