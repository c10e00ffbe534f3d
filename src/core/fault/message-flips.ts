/** The entries of a plan that ranks carry out themselves as they send: bits of messages that flip on their way. */
import { Draws } from "./draws.ts";
import { seedOf } from "./layer-deaths.ts";
import type { FaultPlan } from "./plan.ts";

/** Of a rank's messages to other ranks, counted from 1 in the order of sending. */
interface MessageFlip {
  readonly rank: number;
  readonly replica: number;
  readonly message: number;
  readonly bits: number;
  /** Which bits follow from it. */
  readonly seed: number;
}

/** `seed`: the job's; a plan with a seed of its own ignores it. */
export function messageFlips(plan: FaultPlan, seed: number): MessageFlip[] {
  return plan.entries.flatMap((entry, index) => {
    if (entry.kind === "seed" || entry.fault.kind !== "flip" || entry.fault.message === null) return [];
    const { bits, message, victim } = entry.fault;
    const drawn = Math.floor(new Draws(seedOf(plan) ?? seed, index + 1).unit() * 2 ** 32);
    return [{ rank: victim.rank, replica: victim.replica ?? 0, message, bits, seed: drawn }];
  });
}
