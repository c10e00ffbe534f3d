/** A communicator of a script: its members, and their numbers in it. */
import { ANY_SOURCE } from "../../core/base/constants.ts";
import type { TopologyPlan } from "./topology-plan.ts";

export interface CommunicatorPlan {
  readonly number: number;
  /** World ranks in the order of the communicator: one group, or the two sides of an inter-communicator. */
  readonly groups: readonly (readonly number[])[];
  readonly topology: TopologyPlan | null;
  /** World ranks whose receives here are all from any source with any tag: which message each takes is not determined. */
  readonly open: ReadonlySet<number>;
}

export const isInter = (comm: CommunicatorPlan): boolean => comm.groups.length === 2;

/** World ranks of all that take part in its collectives. */
export const membersOf = (comm: CommunicatorPlan): number[] => comm.groups.flat();

export const sideOf = (comm: CommunicatorPlan, world: number): number => (comm.groups[0]!.includes(world) ? 0 : 1);

/** The rank's own group. */
export const groupOf = (comm: CommunicatorPlan, world: number): readonly number[] => comm.groups[sideOf(comm, world)]!;

/** The group that the rank sends to: the other side of an inter-communicator, its own group otherwise. */
export const peersOf = (comm: CommunicatorPlan, world: number): readonly number[] =>
  isInter(comm) ? comm.groups[1 - sideOf(comm, world)]! : comm.groups[0]!;

/** The rank's number in its own group, which other ranks use. */
export const rankOf = (comm: CommunicatorPlan, world: number): number => groupOf(comm, world).indexOf(world);

/** World ranks whose messages can match a receive of that rank with this source, or ANY_SOURCE. */
export const sourcesOf = (comm: CommunicatorPlan, world: number, source: number): readonly number[] =>
  source === ANY_SOURCE ? peersOf(comm, world) : [source];
