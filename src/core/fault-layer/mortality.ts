/**
 * When a process becomes dead to its program (thesis §5.3.6, §5.5.2): asked before every call, as `Sim_FT_decide_kill` is. A process may have
 * several reasons to die; the first one that comes true counts.
 */
import { unreachable } from "../base/assert.ts";
import { Draws } from "../fault/draws.ts";
import type { Span } from "../fault/plan.ts";

export type DeathReason =
  /** In the n-th call, counted from 1. */
  | { readonly kind: "call"; readonly count: number }
  /** At a time since the start that is fixed, or drawn: a lifetime. */
  | { readonly kind: "lifetime"; readonly span: Span }
  /** At every call with the same probability. */
  | { readonly kind: "chance"; readonly probability: number }
  /** With a probability that grows with the time since the last call: so many of a crowd die within a period (5.1). */
  | { readonly kind: "rate"; readonly probability: number; readonly periodMs: number };

/** The probability of a death within a time, if that within a period is known; `periods` may be any part of one (5.1). */
export const deathWithin = (probability: number, periods: number): number => 1 - (1 - probability) ** periods;

/** The probability that any of `size` processes dies, each with that probability and for itself (§5.5.2). */
export const anyDeath = (probability: number, size: number): number => 1 - (1 - probability) ** size;

export class Mortality {
  readonly #reasons: readonly DeathReason[];
  readonly #draws: Draws;
  /** By reason: the time that was drawn, of lifetimes. */
  readonly #dueMs: readonly number[];
  #calls = 0;
  #lastMs = 0;

  /** The same seed and rank die at the same time, in every run. */
  constructor(reasons: readonly DeathReason[], seed: number, rank: number) {
    this.#reasons = reasons;
    this.#draws = new Draws(seed, rank, 0);
    this.#dueMs = reasons.map((reason, i) =>
      reason.kind === "lifetime" ? new Draws(seed, rank, 1 + i).span(reason.span) : Number.POSITIVE_INFINITY,
    );
  }

  /** The process comes to its next call, at that time since its start. True: it is to die now. */
  decide(nowMs: number): boolean {
    this.#calls++;
    const passedMs = Math.max(0, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    let isDue = false;
    // Each of them draws, whoever comes first: one reason more changes nothing for the others.
    for (let i = 0; i < this.#reasons.length; i++) {
      if (this.#isTrue(this.#reasons[i]!, i, nowMs, passedMs)) isDue = true;
    }
    return isDue;
  }

  #isTrue(reason: DeathReason, index: number, nowMs: number, passedMs: number): boolean {
    switch (reason.kind) {
      case "call":
        return this.#calls === reason.count;
      case "lifetime":
        return nowMs >= this.#dueMs[index]!;
      case "chance":
        return this.#draws.unit() < reason.probability;
      case "rate":
        return this.#draws.unit() < deathWithin(reason.probability, passedMs / reason.periodMs);
      default:
        return unreachable(reason);
    }
  }
}
