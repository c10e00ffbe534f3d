/**
 * The entries of a plan that ranks carry out themselves: deaths that only the program sees. Everything is drawn before the job starts, so a rank
 * needs to know nothing but its calls and the time.
 */
import { Draws } from "./draws.ts";
import { placesOf } from "./moment.ts";
import type { Entry, FaultPlan, LayerVictim } from "./plan.ts";

/** In the rank's n-th call, or at that time after it began; the other one is null. */
interface LayerDeath {
  readonly rank: number;
  readonly call: number | null;
  readonly ms: number | null;
}

interface LayerDeathsOptions {
  /** The job's seed; a plan with a seed of its own ignores it. */
  readonly seed: number;
  /** Node of each rank. */
  readonly placement: readonly number[];
}

const isLayerKill = (entry: Entry): boolean => entry.kind === "fault" && entry.fault.kind === "layer-kill";

export const hasLayerKills = (plan: FaultPlan): boolean => plan.entries.some(isLayerKill);

/** The plan's own seed; null: it has none. */
export const seedOf = (plan: FaultPlan): number | null =>
  plan.entries.find((entry) => entry.kind === "seed")?.seed ?? null;

/** The ranks of a node die at the same time, or each in its own n-th call. */
export function layerDeaths(plan: FaultPlan, { seed, placement }: LayerDeathsOptions): LayerDeath[] {
  const deaths: LayerDeath[] = [];
  for (const [index, entry] of plan.entries.entries()) {
    if (entry.kind === "seed" || entry.fault.kind !== "layer-kill") continue;
    const draws = new Draws(seedOf(plan) ?? seed, index + 1);
    const { when } = entry;
    const ms = when.kind === "time" ? draws.span(when.after) : null;
    const call = when.kind === "call" ? when.count : null;
    for (const rank of ranksOf(entry.fault.victim, placement, draws)) deaths.push({ rank, call, ms });
  }
  return deaths;
}

function ranksOf(victim: LayerVictim, placement: readonly number[], draws: Draws): readonly number[] {
  if (victim.kind === "rank") return [victim.rank];
  return victim.kind === "node" ? placesOf(victim.node, placement) : [draws.pick([...placement.keys()])];
}
