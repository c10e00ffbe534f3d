/**
 * Collectives that move data, as blocks: the blocks that each rank gives, and the blocks that each rank gets. The definitions
 * of MPI 5.0 §6.4 to §6.8 and §8.6, once for all forms: those with equal blocks, those with lengths and places of their own,
 * and those between the sides of an inter-communicator.
 */
import { PROC_NULL } from "../../core/base/constants.ts";
import { packed } from "../../core/coll/engine/rounds.ts";
import type { Blocks } from "../../core/coll/engine/schedule.ts";
import { type CollectivePlan, isInPlace, type MovingKind } from "./collective-plan.ts";
import { type CommunicatorPlan, isInter, peersOf, rankOf, sideOf } from "./communicator-plan.ts";
import { mixed } from "./mixed-number.ts";
import { blockFor, destinationsOf, neighbourSourcesOf } from "./topology-plan.ts";

/** The plan of a collective that moves data. */
export interface MovingPlan extends CollectivePlan {
  readonly kind: MovingKind;
}

/** A block: the world rank of its giver, and its index there. */
interface GivenBlock {
  readonly world: number;
  readonly block: number;
}

/** How many blocks a rank gives. */
export function blocksGiven(plan: MovingPlan, comm: CommunicatorPlan, world: number): number {
  const { kind, root } = plan;
  switch (kind) {
    case "barrier":
      return 0;
    case "bcast":
      return world === root ? 1 : 0;
    case "gather":
    case "gatherv":
      return isInter(comm) && sideOf(comm, world) === sideOf(comm, root) ? 0 : 1;
    case "scatter":
    case "scatterv":
      return world === root ? peersOf(comm, world).length : 0;
    case "allgather":
    case "allgatherv":
    case "neighbor_allgather":
    case "neighbor_allgatherv":
      return 1;
    case "alltoall":
    case "alltoallv":
    case "alltoallw":
      return peersOf(comm, world).length;
    case "neighbor_alltoall":
    case "neighbor_alltoallv":
    case "neighbor_alltoallw":
      return destinationsOf(comm.topology!, rankOf(comm, world)).length;
  }
}

/** The blocks a rank gets, in the order of its buffer; null at the end of a grid, where no rank gives one. */
export function blocksGot(plan: MovingPlan, comm: CommunicatorPlan, world: number): (GivenBlock | null)[] {
  const { kind, root } = plan;
  const rank = rankOf(comm, world);
  const hearsRoot = !isInter(comm) || sideOf(comm, world) !== sideOf(comm, root);
  switch (kind) {
    case "barrier":
      return [];
    case "bcast":
      return hearsRoot ? [{ world: root, block: 0 }] : [];
    case "gather":
    case "gatherv":
      return world === root ? peersOf(comm, world).map((peer) => ({ world: peer, block: 0 })) : [];
    case "scatter":
    case "scatterv":
      return hearsRoot && !isInPlace(plan, world) ? [{ world: root, block: rank }] : [];
    case "allgather":
    case "allgatherv":
      return peersOf(comm, world).map((peer) => ({ world: peer, block: 0 }));
    case "alltoall":
    case "alltoallv":
    case "alltoallw":
      return peersOf(comm, world).map((peer) => ({ world: peer, block: rank }));
    default:
      return neighborBlocks(plan, comm, rank);
  }
}

function neighborBlocks({ kind }: MovingPlan, comm: CommunicatorPlan, rank: number): (GivenBlock | null)[] {
  const topology = comm.topology!;
  const isGather = kind === "neighbor_allgather" || kind === "neighbor_allgatherv";
  return neighbourSourcesOf(topology, rank).map((source, index) => {
    if (source === PROC_NULL) return null;
    return { world: comm.groups[0]![source]!, block: isGather ? 0 : blockFor(topology, rank, index) };
  });
}

/** Sizes of elements in the w forms. */
const elementSizes = [1, 2, 3, 4, 8, 12] as const;

export function blockBytes(plan: MovingPlan, comm: CommunicatorPlan, { world, block }: GivenBlock): number {
  const { kind, count, shape } = plan;
  const length = (...ends: number[]): number => mixed(shape, ...ends) % (count + 1);
  switch (kind) {
    case "gatherv":
    case "allgatherv":
    case "neighbor_allgatherv":
      return 4 * length(world);
    case "scatterv":
    case "neighbor_alltoallv":
      return 4 * length(world, block);
    case "neighbor_alltoallw":
      return length(world, block) * elementSizes[mixed(shape, block, world) % elementSizes.length]!;
    case "alltoallv":
    case "alltoallw": {
      // In place two ranks exchange as much in both directions.
      const ends = [world, peersOf(comm, world)[block]!];
      if (plan.inPlace) ends.sort((a, b) => a - b);
      const size = kind === "alltoallv" ? 4 : elementSizes[mixed(shape, ...ends, 1) % elementSizes.length]!;
      return length(...ends) * size;
    }
    default:
      return 4 * count;
  }
}

/** The places of blocks in a buffer, and the buffer's length. */
export interface Placed extends Blocks {
  readonly total: number;
}

/** Forms with places of their own have their blocks in either order, with gaps between them. */
export function placed(plan: MovingPlan, lengths: readonly number[]): Placed {
  const { kind, shape } = plan;
  const choosesPlaces = lengths.length > 1 && (kind.endsWith("v") || kind.endsWith("w"));
  if (!choosesPlaces) {
    const blocks = packed(lengths);
    return { ...blocks, total: lengths.reduce((total, bytes) => total + bytes, 0) };
  }
  const unit = kind.endsWith("w") ? 1 : 4;
  const offsets = new Array<number>(lengths.length).fill(0);
  const order = [...lengths.keys()];
  if (mixed(shape) % 2 === 1) order.reverse();
  let total = 0;
  for (const index of order) {
    total += unit * (mixed(shape, index) % 3);
    offsets[index] = total;
    total += lengths[index]!;
  }
  return { bytes: lengths, offsets, total };
}

/**
 * The places of a rank's blocks: those it gives and those it gets. A block without a giver has a place all the same, of any
 * length.
 */
export function blockPlacesOf(
  plan: MovingPlan,
  comm: CommunicatorPlan,
  world: number,
): { sends: Placed; receives: Placed } {
  const given = Array.from({ length: blocksGiven(plan, comm, world) }, (_, block) =>
    blockBytes(plan, comm, { world, block }),
  );
  const got = blocksGot(plan, comm, world).map((from, index) =>
    from === null ? 4 * (mixed(plan.shape, world, index) % 5) : blockBytes(plan, comm, from),
  );
  const isEqualForm = plan.kind === "neighbor_allgather" || plan.kind === "neighbor_alltoall";
  return {
    sends: placed(plan, given),
    receives: placed(plan, isEqualForm ? got.map(() => 4 * plan.count) : got),
  };
}
