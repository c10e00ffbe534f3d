/** When the sets of a random program are captured: at which actions of which ranks. */
import type { FaultPlan } from "../../core/fault/plan.ts";
import type { Random } from "../random.ts";
import type { ActionTime } from "./recovering-run.ts";

/** Some at the end as well, when a rank has finished. */
export function planTimes(random: Random, actions: readonly number[]): ActionTime[] {
  return Array.from({ length: random.between(1, 5) }, () => {
    const rank = random.below(actions.length);
    return { rank, action: random.between(0, actions[rank]!) };
  });
}

export const waitsForCheckpoints = (plan: FaultPlan | undefined): boolean =>
  plan?.entries.some((entry) => entry.kind === "fault" && entry.when.kind === "checkpoint") === true;

/** For a plan that waits for checkpoints: of every set, all along the program of its lowest rank. */
export function manyTimes(setOf: readonly number[], actions: readonly number[]): ActionTime[] {
  const count = 10;
  return [...new Set(setOf)].flatMap((set) => {
    const rank = setOf.indexOf(set);
    return Array.from({ length: count }, (_, i) => ({ rank, action: Math.floor((i * actions[rank]!) / count) }));
  });
}
