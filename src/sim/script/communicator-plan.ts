/** A communicator of a script: who is in it, and how ranks of the world are numbered there. */
import { ANY_SOURCE } from "../../core/base/constants.ts";
import type { TopologyPlan } from "./topology-plan.ts";

export interface CommunicatorPlan {
  readonly number: number;
  /** World ranks in the order of the communicator: one group, or the two sides of an inter-communicator. */
  readonly groups: readonly (readonly number[])[];
  readonly topology: TopologyPlan | null;
  /** World ranks whose receives here are all from any source with any tag: which message each takes is nobody's promise. */
  readonly open: ReadonlySet<number>;
}

export const isInter = (comm: CommunicatorPlan): boolean => comm.groups.length === 2;

/** World ranks of all who take part in its collectives. */
export const membersOf = (comm: CommunicatorPlan): number[] => comm.groups.flat();

export const sideOf = (comm: CommunicatorPlan, world: number): number => (comm.groups[0]!.includes(world) ? 0 : 1);

/** Its own group. */
export const groupOf = (comm: CommunicatorPlan, world: number): readonly number[] => comm.groups[sideOf(comm, world)]!;

/** Whom it talks to: the other side of an inter-communicator, its own group otherwise. */
export const peersOf = (comm: CommunicatorPlan, world: number): readonly number[] =>
  isInter(comm) ? comm.groups[1 - sideOf(comm, world)]! : comm.groups[0]!;

/** Its rank in its own group, by which others call it. */
export const rankOf = (comm: CommunicatorPlan, world: number): number => groupOf(comm, world).indexOf(world);

/** World ranks whose messages a receive of that rank can take that names this source, or ANY_SOURCE. */
export const sourcesOf = (comm: CommunicatorPlan, world: number, source: number): readonly number[] =>
  source === ANY_SOURCE ? peersOf(comm, world) : [source];
