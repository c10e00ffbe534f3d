/**
 * The same as `plan.ts` for inter-communicators, and for the neighbourhoods of a topology: collectives that have one
 * algorithm each.
 */
import { unreachable } from "../../base/assert.ts";
import type { Blocks, InterPlace, Schedule, Vector } from "../engine/schedule.ts";
import { type NeighborAlltoall, type Neighbourhood, neighborDirect } from "../intra/neighbor-direct.ts";
import { flatBcast } from "../plan.ts";
import { type InterAllgatherv, interAllgathervLeader } from "./allgatherv-leader.ts";
import { interAllreduceLeaders } from "./allreduce-leaders.ts";
import { type InterAlltoallv, interAlltoallvPairwise } from "./alltoallv-pairwise.ts";
import { interBarrierLeaders } from "./barrier-leaders.ts";
import { type InterRootedPlace, interBcastLeader } from "./bcast-leader.ts";
import { type InterGatherv, interGathervLinear } from "./gatherv-linear.ts";
import { interReduceLeader } from "./reduce-leader.ts";
import { type InterReduceScatter, interReduceScatterLeaders } from "./reduce-scatter-leaders.ts";
import { type InterScatterv, interScattervLinear } from "./scatterv-linear.ts";

type InterVector = Omit<Vector, "inPlace">;

/** The forms with equal blocks are those with `Blocks`, all of one length (`equalBlocks`). */
export type InterCollective =
  | ({ readonly kind: "barrier" } & InterPlace)
  | ({ readonly kind: "bcast"; readonly bytes: number } & InterRootedPlace)
  | ({ readonly kind: "gatherv" } & InterGatherv)
  | ({ readonly kind: "scatterv" } & InterScatterv)
  | ({ readonly kind: "allgatherv" } & Omit<InterAllgatherv, "inside">)
  | ({ readonly kind: "alltoallv" } & InterAlltoallv)
  | ({ readonly kind: "reduce" } & InterRootedPlace & InterVector)
  | ({ readonly kind: "allreduce" } & InterPlace & InterVector)
  | ({ readonly kind: "reduce_scatter" } & InterReduceScatter);

export function planInter(collective: InterCollective): Schedule {
  switch (collective.kind) {
    case "barrier":
      return interBarrierLeaders(collective);
    case "bcast":
      return interBcastLeader({ ...collective, inside: flatBcast });
    case "gatherv":
      return interGathervLinear(collective);
    case "scatterv":
      return interScattervLinear(collective);
    case "allgatherv":
      return interAllgathervLeader({ ...collective, inside: flatBcast });
    case "alltoallv":
      return interAlltoallvPairwise(collective);
    case "reduce":
      return interReduceLeader(collective);
    case "allreduce":
      return interAllreduceLeaders({ ...collective, inside: flatBcast });
    case "reduce_scatter":
      return interReduceScatterLeaders(collective);
    default:
      return unreachable(collective);
  }
}

export type NeighborCollective =
  /** The block of this rank goes to every destination. */
  | ({ readonly kind: "neighbor_allgatherv"; readonly bytes: number; readonly receives: Blocks } & Neighbourhood)
  | ({ readonly kind: "neighbor_alltoallv" } & NeighborAlltoall);

export function planNeighbor(collective: NeighborCollective): Schedule {
  if (collective.kind === "neighbor_alltoallv") return neighborDirect(collective);
  const { bytes, destinations } = collective;
  const sends = { bytes: destinations.map(() => bytes), offsets: destinations.map(() => 0) };
  return neighborDirect({ ...collective, sends });
}
