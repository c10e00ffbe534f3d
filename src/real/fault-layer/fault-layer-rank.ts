/** The fault-simulation layer in a rank's thread: between the program and its process. */
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import { LayeredOperations } from "../../core/fault-layer/layered-operations.ts";
import { type DeathReason, Mortality } from "../../core/fault-layer/mortality.ts";
import type { DiedWords } from "../../core/ft/fault-layer/fault-layer-job.ts";
import { lifetimesOf } from "../../core/ft/fault-layer/lifetimes.ts";
import { type FaultLayerLaunchOptions, fanOutOf, plannedOf } from "../../core/ft/fault-layer/options.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { NewRankPart } from "../part-hosts/rank-part.ts";

export const faultLayerRank: NewRankPart = ({ rank, options, seed, say }) => ({
  resources: null,
  napper: null,
  layer(waits) {
    const isDue = deathOf(options, rank, seed);
    const died = (): void => say({ kind: "died" } satisfies DiedWords);
    const fanOut = fanOutOf(options);
    return new LayeredOperations(new ProcessOperations(waits), waits.process, { fanOut, isDue, died });
  },
});

/** When the process dies by itself; null: never. Its time begins now. */
function deathOf(options: OptionValues, rank: number, jobSeed: number): (() => boolean) | null {
  const reasons = reasonsOf(options, rank);
  if (reasons.length === 0) return null;
  const mortality = new Mortality(reasons, plannedOf(options).seed ?? jobSeed, rank);
  const beganMs = performance.now();
  return () => mortality.decide(performance.now() - beganMs);
}

function reasonsOf(options: OptionValues, rank: number): DeathReason[] {
  const reasons: DeathReason[] = [];
  const { lifetimes: text } = options as FaultLayerLaunchOptions;
  const lifetimes = text === undefined ? null : lifetimesOf(text);
  // (What is no distribution was refused at the start.)
  if (lifetimes !== null && typeof lifetimes !== "string") {
    reasons.push(lifetimes.kind === "rate" ? lifetimes : { kind: "lifetime", span: lifetimes });
  }
  for (const death of plannedOf(options).deaths) {
    if (death.rank !== rank) continue;
    if (death.call !== null) reasons.push({ kind: "call", count: death.call });
    if (death.ms !== null) reasons.push({ kind: "lifetime", span: { kind: "fixed", ms: death.ms } });
  }
  return reasons;
}
