/** From a collective and its arguments to what all ranks of the communicator must say alike: see engine/collective-call.ts. */
import { type CollectiveCall, kindCode, unlike } from "./engine/collective-call.ts";
import { sum } from "./engine/rounds.ts";
import type { InterCollective, NeighborCollective } from "./inter/plan-inter.ts";
import type { Collective } from "./plan.ts";

export function callOf(collective: Collective): CollectiveCall {
  const kind = kindCode[collective.kind];
  switch (collective.kind) {
    case "barrier":
      return { kind, root: unlike, bytes: unlike };
    case "bcast":
    case "gather":
    case "scatter":
    case "reduce":
      return { kind, root: collective.root, bytes: collective.bytes };
    case "gatherv":
    case "scatterv":
      return { kind, root: collective.root, bytes: unlike };
    case "allgatherv":
      return { kind, root: unlike, bytes: sum(collective.blocks.bytes) };
    case "alltoallv":
      return { kind, root: unlike, bytes: unlike };
    case "reduce_scatter":
      return { kind, root: unlike, bytes: sum(collective.segments) };
    default:
      return { kind, root: unlike, bytes: collective.bytes };
  }
}

export const callOfGroups = ({ kind }: InterCollective | NeighborCollective): CollectiveCall => ({
  kind: kindCode[kind],
  root: unlike,
  bytes: unlike,
});
