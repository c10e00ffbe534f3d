/** A collective of a script: one plan for all its ranks. */
import { PROC_NULL, ROOT } from "../../core/base/constants.ts";
import { type CommunicatorPlan, isInter, rankOf, sideOf } from "./communicator-plan.ts";

/** All blocks are of one length, or there are none. */
export const equalKinds = ["barrier", "bcast", "gather", "scatter", "allgather", "alltoall"] as const;
/** Blocks have lengths and places of their own; in the w form elements have sizes of their own as well. */
export const unequalKinds = ["gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw"] as const;
export const neighborKinds = [
  "neighbor_allgather",
  "neighbor_allgatherv",
  "neighbor_alltoall",
  "neighbor_alltoallv",
  "neighbor_alltoallw",
] as const;
export const reducingKinds = [
  "reduce",
  "allreduce",
  "reduce_scatter_block",
  "reduce_scatter",
  "scan",
  "exscan",
] as const;

type EqualBlocksKind = (typeof equalKinds)[number];
type NeighborKind = (typeof neighborKinds)[number];
export type MovingKind = EqualBlocksKind | (typeof unequalKinds)[number] | NeighborKind;
export type ReducingKind = (typeof reducingKinds)[number];

export interface CollectivePlan {
  readonly number: number;
  readonly communicator: number;
  readonly kind: MovingKind | ReducingKind;
  /** World rank. */
  readonly root: number;
  /** Elements of a block or of the vector; of unequal blocks, the most. */
  readonly count: number;
  /** Determines the lengths and places of unequal blocks. */
  readonly shape: number;
  /** Contributions lie in the place of the result: on all ranks, or on the root where there is one. */
  readonly inPlace: boolean;
  readonly reduction: "sum" | "compose";
  readonly lent: boolean;
}

export const isReducing = (kind: CollectivePlan["kind"]): kind is ReducingKind =>
  (reducingKinds as readonly string[]).includes(kind);
export const isEqual = (kind: CollectivePlan["kind"]): kind is EqualBlocksKind =>
  (equalKinds as readonly string[]).includes(kind);
export const isNeighbor = (kind: CollectivePlan["kind"]): kind is NeighborKind =>
  (neighborKinds as readonly string[]).includes(kind);
const isRooted = (kind: CollectivePlan["kind"]): boolean =>
  ["bcast", "gather", "scatter", "gatherv", "scatterv", "reduce"].includes(kind);

/**
 * Can the contribution lie in the place of the result? A broadcast has one buffer anyway, neighbourhood collectives have no
 * such form.
 */
export const mayBeInPlace = (kind: CollectivePlan["kind"]): boolean =>
  kind !== "barrier" && kind !== "bcast" && !isNeighbor(kind);

/** Does this rank pass IN_PLACE? */
export const isInPlace = ({ kind, inPlace, root }: CollectivePlan, world: number): boolean =>
  inPlace && (!isRooted(kind) || world === root);

/** A rank's argument for the root. */
export function rootFor({ root }: CollectivePlan, comm: CommunicatorPlan, world: number): number {
  if (!isInter(comm) || sideOf(comm, root) !== sideOf(comm, world)) return rankOf(comm, root);
  return world === root ? ROOT : PROC_NULL;
}
