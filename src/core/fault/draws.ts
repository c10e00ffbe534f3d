/**
 * Random draws of a fault plan: splitmix32 (Steele, Lea and Flood, 2014), begun from the seed and whatever names the draw.
 * Each firing of each entry draws from a sequence of its own, so nothing has to be remembered between two of them and
 * one entry more does not change what the entries before it draw.
 */
import { assert, unreachable } from "../base/assert.ts";
import type { Span } from "./plan.ts";

const golden = 0x9e3779b9;

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export class Draws {
  #state = 0;

  constructor(seed: number, ...names: readonly number[]) {
    for (const word of [seed, ...names]) this.#state = mix((this.#state + golden + word) | 0);
  }

  /** Between 0 and 1, and neither of them. */
  unit(): number {
    // 26 bits each, so that the middle between two neighbours is still exact.
    return ((this.#bits() >>> 6) * 0x4000000 + (this.#bits() >>> 6) + 0.5) / 2 ** 52;
  }

  pick<T>(list: readonly T[]): T {
    assert(list.length > 0, "a pick from nothing");
    return list[Math.floor(this.unit() * list.length)]!;
  }

  /** Milliseconds, to the microsecond: the last bits of a logarithm are nobody's promise. */
  span(span: Span): number {
    return Math.round(this.#spanMs(span) * 1000) / 1000;
  }

  #spanMs(span: Span): number {
    switch (span.kind) {
      case "fixed":
        return span.ms;
      case "around":
        return span.ms + (2 * this.unit() - 1) * span.spreadMs;
      case "between":
        return span.leastMs + this.unit() * (span.mostMs - span.leastMs);
      case "exponential":
        return -Math.log(this.unit()) * span.meanMs;
      case "weibull":
        return (-Math.log(this.unit())) ** (1 / span.shape) * span.scaleMs;
      default:
        return unreachable(span);
    }
  }

  #bits(): number {
    this.#state = (this.#state + golden) | 0;
    return mix(this.#state);
  }
}
