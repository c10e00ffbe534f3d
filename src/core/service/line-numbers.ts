/**
 * Output exactly once: which of the offered bytes are new. Lines of a rank's stream are numbered from 0 in program order, the
 * same in every life and every replica; the first offer of a line, or of a part of it, wins, later ones are dropped.
 */
import { assert } from "../base/assert.ts";
import type { LinePlace } from "./line-places.ts";

const newline = 10;

export class LineNumbers {
  #line: number;
  #offset: number;

  /** All before that place is known. */
  constructor({ line, offset }: LinePlace = { line: 0, offset: 0 }) {
    this.#line = line;
    this.#offset = offset;
  }

  /** The line that comes next, or has begun. */
  get line(): number {
    return this.#line;
  }

  /** Of that line: the byte that comes next. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes from that place in that line on are offered: how many at their start are repeats, to be dropped. */
  offer(line: number, offset: number, bytes: Uint8Array): number {
    let at = 0;
    let place = offset;
    for (let number = line; number < this.#line; number++) {
      const end = bytes.indexOf(newline, at);
      if (end < 0) return bytes.length;
      at = end + 1;
      place = 0;
    }
    const isGap = line > this.#line || place > this.#offset;
    assert(!isGap, `line ${line} from byte ${offset} on is offered before line ${this.#line}, byte ${this.#offset}`);
    // A replica may have a shorter line than the one we know the beginning of.
    const end = bytes.indexOf(newline, at);
    const repeats = Math.min(at + this.#offset - place, end < 0 ? bytes.length : end);
    this.#pass(bytes, repeats);
    return repeats;
  }

  #pass(bytes: Uint8Array, from: number): void {
    for (let at = from; ; ) {
      const end = bytes.indexOf(newline, at);
      if (end < 0) {
        this.#offset += bytes.length - at;
        return;
      }
      this.#line++;
      this.#offset = 0;
      at = end + 1;
    }
  }
}
