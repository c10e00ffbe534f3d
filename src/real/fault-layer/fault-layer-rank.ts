/** The fault-simulation layer in a rank's thread: between the program and its process. */
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import { FlippingOperations, seededFlips } from "../../core/fault-layer/flipping-operations.ts";
import { LayeredOperations } from "../../core/fault-layer/layered-operations.ts";
import { type DeathReason, Mortality } from "../../core/fault-layer/mortality.ts";
import { failureProbability } from "../../core/fault-layer/silent-faults.ts";
import type { DiedWords, FlippedWords } from "../../core/ft/fault-layer/fault-layer-job.ts";
import { type Lifetimes, lifetimesOf } from "../../core/ft/fault-layer/lifetimes.ts";
import {
  backgroundOf,
  bitFlipsOf,
  type FaultLayerLaunchOptions,
  fanOutOf,
  plannedOf,
} from "../../core/ft/fault-layer/options.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { NewRankPart } from "../part-hosts/rank-part.ts";

export const faultLayerRank: NewRankPart = ({ rank, options, seed, say }) => ({
  resources: null,
  napper: null,
  mayMeetPastLayer: !decidesInCalls(options),
  layer(waits) {
    const isDue = deathOf(options, rank, seed);
    const died = (): void => say({ kind: "died" } satisfies DiedWords);
    const layerOptions = { fanOut: fanOutOf(options), background: backgroundOf(options), isDue, died };
    const base = new ProcessOperations(waits);
    const probability = bitFlipsOf(options);
    if (probability === 0) return new LayeredOperations(base, waits.process, layerOptions);
    const flips = seededFlips(probability, plannedOf(options).seed ?? seed, rank);
    const ended = (bits: number): void => {
      if (bits > 0) say({ kind: "flipped", bits } satisfies FlippedWords);
    };
    const flipping = new FlippingOperations(base, waits.process.memory, flips, ended);
    return new LayeredOperations(flipping, waits.process, layerOptions);
  },
});

/** Deaths by call or time, and bits that flip, are decided in calls that the layer sees. The same for all ranks of the job. */
function decidesInCalls(options: OptionValues): boolean {
  const { lifetimes } = options as FaultLayerLaunchOptions;
  return bitFlipsOf(options) !== 0 || lifetimes !== undefined || plannedOf(options).deaths.length !== 0;
}

/** When the process dies by itself; null: never. Its time begins now. */
function deathOf(options: OptionValues, rank: number, jobSeed: number): (() => boolean) | null {
  const reasons = reasonsOf(options, rank);
  if (reasons.length === 0) return null;
  const mortality = new Mortality(reasons, plannedOf(options).seed ?? jobSeed, rank);
  const beganMs = performance.now();
  return () => mortality.decide(performance.now() - beganMs);
}

function reasonOf(lifetimes: Lifetimes, pf: number): DeathReason {
  switch (lifetimes.kind) {
    case "exponential":
    case "weibull":
      return { kind: "lifetime", span: lifetimes };
    case "memory": {
      const { pc, k, periodMs } = lifetimes;
      return { kind: "rate", probability: failureProbability({ pc, pf, k }), periodMs };
    }
    default:
      return lifetimes;
  }
}

function reasonsOf(options: OptionValues, rank: number): DeathReason[] {
  const reasons: DeathReason[] = [];
  const { lifetimes: text } = options as FaultLayerLaunchOptions;
  const lifetimes = text === undefined ? null : lifetimesOf(text);
  // (What is no distribution was refused at the start.)
  if (lifetimes !== null && typeof lifetimes !== "string") {
    reasons.push(reasonOf(lifetimes, bitFlipsOf(options)));
  }
  for (const death of plannedOf(options).deaths) {
    if (death.rank !== rank) continue;
    if (death.call !== null) reasons.push({ kind: "call", count: death.call });
    if (death.ms !== null) reasons.push({ kind: "lifetime", span: { kind: "fixed", ms: death.ms } });
  }
  return reasons;
}
