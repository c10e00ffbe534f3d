/**
 * Collectives that reduce: the vectors that are combined for each rank, and the part of the result that each rank gets. The
 * definitions of MPI 5.0 §6.9 to §6.11; the order is that of the ranks.
 */
import { type CollectivePlan, isReducing, type ReducingKind } from "./collective-plan.ts";
import { type CommunicatorPlan, isInter, peersOf, rankOf, sideOf } from "./communicator-plan.ts";
import { contribution } from "./contents.ts";
import { mixed } from "./mixed-number.ts";
import { exactReductions } from "./reductions.ts";

/** The plan of a collective that reduces. */
export interface Reducing extends CollectivePlan {
  readonly kind: ReducingKind;
}

/** Words of an element. */
export const elementWords = (plan: CollectivePlan): number =>
  isReducing(plan.kind) ? exactReductions[plan.reduction].words : 1;

/** Elements of the vector that each rank gives. */
export function vectorLength(plan: Reducing, comm: CommunicatorPlan): number {
  const { kind, count } = plan;
  if (kind !== "reduce_scatter" && kind !== "reduce_scatter_block") return count;
  // Both sides of an inter-communicator share out the same number of elements.
  return comm.groups.reduce((product, group) => product * group.length, count);
}

/** Elements of the result that each rank of a group gets, for the forms that share it out. */
export function segmentsOf(plan: Reducing, comm: CommunicatorPlan, side: number): number[] {
  const group = comm.groups[side]!;
  const total = vectorLength(plan, comm);
  if (plan.kind === "reduce_scatter_block") return group.map(() => total / group.length);
  const cuts = group.slice(1).map((world) => mixed(plan.shape, world) % (total + 1));
  const ends = [...cuts.sort((a, b) => a - b), total];
  return ends.map((end, index) => end - (index === 0 ? 0 : ends[index - 1]!));
}

/** Does this rank contribute? Only the side without the root is reduced. */
export function gives({ kind, root }: Reducing, comm: CommunicatorPlan, world: number): boolean {
  return kind !== "reduce" || !isInter(comm) || sideOf(comm, world) !== sideOf(comm, root);
}

/** The result of a rank, as words; null: none, its buffer stays as it is. */
export function vectorGot(plan: Reducing, comm: CommunicatorPlan, world: number): Int32Array | null {
  const rank = rankOf(comm, world);
  const givers = peersOf(comm, world);
  switch (plan.kind) {
    case "reduce":
      return world === plan.root ? folded(plan, comm, givers, givers.length) : null;
    case "allreduce":
      return folded(plan, comm, givers, givers.length);
    case "scan":
      return folded(plan, comm, givers, rank + 1);
    case "exscan":
      return rank === 0 ? null : folded(plan, comm, givers, rank);
    case "reduce_scatter":
    case "reduce_scatter_block": {
      const segments = segmentsOf(plan, comm, sideOf(comm, world));
      const words = elementWords(plan);
      const first = segments.slice(0, rank).reduce((sum, length) => sum + length, 0);
      const whole = folded(plan, comm, givers, givers.length);
      return whole.slice(first * words, (first + segments[rank]!) * words);
    }
  }
}

/** For each group the folds of its first ranks so far: every rank of a scan needs the next one. */
const known = new WeakMap<CollectivePlan, Map<readonly number[], Int32Array[]>>();

/** The vectors of the first `count` ranks of a group, combined from the left. */
function folded(plan: Reducing, comm: CommunicatorPlan, group: readonly number[], count: number): Int32Array {
  const ofPlan = known.get(plan) ?? new Map<readonly number[], Int32Array[]>();
  known.set(plan, ofPlan);
  const folds = ofPlan.get(group) ?? [];
  ofPlan.set(group, folds);
  const words = vectorLength(plan, comm) * elementWords(plan);
  while (folds.length < count) {
    const next = contribution(plan.number, group[folds.length]!, words);
    const before = folds.at(-1);
    folds.push(before === undefined ? next : exactReductions[plan.reduction].combine(before, next));
  }
  return folds[count - 1]!;
}
