/**
 * Random draws of a fault plan: splitmix32, begun from the seed and the numbers that name the draw. Each firing of each entry
 * draws from a sequence of its own. So nothing has to be remembered between two firings, and one entry more does not change the
 * draws of the entries before it.
 */
import { assert, unreachable } from "../base/assert.ts";
import { splitmix32, splitmixStep } from "../base/splitmix-32.ts";
import type { Span } from "./plan.ts";

export class Draws {
  #state = 0;

  constructor(seed: number, ...names: readonly number[]) {
    for (const word of [seed, ...names]) this.#state = splitmix32((this.#state + splitmixStep + word) | 0);
  }

  /** A number between 0 and 1, both excluded. */
  unit(): number {
    // 26 bits each, so that the middle between two neighbours is still exact.
    return ((this.#bits() >>> 6) * 0x4000000 + (this.#bits() >>> 6) + 0.5) / 2 ** 52;
  }

  pick<T>(list: readonly T[]): T {
    assert(list.length > 0, "a pick from nothing");
    return list[Math.floor(this.unit() * list.length)]!;
  }

  /** Milliseconds, rounded to microseconds: engines may differ in the last bits of a logarithm. */
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
    this.#state = (this.#state + splitmixStep) | 0;
    return splitmix32(this.#state);
  }
}
