/**
 * From a collective and its arguments to the schedule of one rank: the only file that knows all builders.
 *
 * Arguments are bytes of packed buffers, with the same value on every rank unless the field says whose it is.
 */
import { assert, unreachable } from "../base/assert.ts";
import { equalBlocks, sum } from "./engine/rounds.ts";
import type { Blocks, MayBeInPlace, Place, RootedPlace, Schedule, Vector } from "./engine/schedule.ts";
import { allgatherBruck } from "./intra/allgather-bruck.ts";
import { allgatherRecursiveDoubling } from "./intra/allgather-recursive-doubling.ts";
import { allgathervHierarchical } from "./intra/allgatherv-hierarchical.ts";
import { allgathervRing } from "./intra/allgatherv-ring.ts";
import { allreduceHierarchical } from "./intra/allreduce-hierarchical.ts";
import { allreduceRabenseifner } from "./intra/allreduce-rabenseifner.ts";
import { allreduceRecursiveDoubling } from "./intra/allreduce-recursive-doubling.ts";
import { alltoallBruck } from "./intra/alltoall-bruck.ts";
import { alltoallvPairwise } from "./intra/alltoallv-pairwise.ts";
import { barrierDissemination } from "./intra/barrier-dissemination.ts";
import { barrierHierarchical } from "./intra/barrier-hierarchical.ts";
import { bcastBinomial } from "./intra/bcast-binomial.ts";
import { bcastHierarchical, type FlatBcast } from "./intra/bcast-hierarchical.ts";
import { bcastScatterAllgather } from "./intra/bcast-scatter-allgather.ts";
import { exscanShifted } from "./intra/exscan-shifted.ts";
import { gatherBinomial } from "./intra/gather-binomial.ts";
import { type GathervLinear, gathervLinear } from "./intra/gatherv-linear.ts";
import type { MemberNodes } from "./intra/node-layout.ts";
import { reduceRabenseifner } from "./intra/reduce-rabenseifner.ts";
import { type ReduceScatter, reduceScatterHalving } from "./intra/reduce-scatter-halving.ts";
import { reduceScatterPairwise } from "./intra/reduce-scatter-pairwise.ts";
import { reduceTree } from "./intra/reduce-tree.ts";
import { scanRecursiveDoubling } from "./intra/scan-recursive-doubling.ts";
import { scatterBinomial } from "./intra/scatter-binomial.ts";
import { type ScattervLinear, scattervLinear } from "./intra/scatterv-linear.ts";
import {
  chooseAllgather,
  chooseAllgatherv,
  chooseAllreduce,
  chooseAlltoall,
  chooseBarrier,
  chooseBcast,
  chooseFlatBcast,
  chooseReduce,
  chooseReduceScatter,
} from "./select.ts";

/** Without a node map, or on one node, algorithms are flat. */
interface OnNodes {
  readonly nodes?: MemberNodes | undefined;
}

/** Length of one of the equal blocks: one block for each rank (gather, scatter, allgather) or pair of ranks (alltoall). */
interface EqualBlocks extends MayBeInPlace {
  readonly bytes: number;
}

export type Collective =
  | ({ readonly kind: "barrier" } & Place & OnNodes)
  | ({ readonly kind: "bcast"; readonly bytes: number } & RootedPlace & OnNodes)
  | ({ readonly kind: "gather" | "scatter" } & RootedPlace & EqualBlocks)
  | ({ readonly kind: "gatherv" } & GathervLinear)
  | ({ readonly kind: "scatterv" } & ScattervLinear)
  | ({ readonly kind: "allgather" } & Place & EqualBlocks & OnNodes)
  | ({ readonly kind: "allgatherv"; readonly blocks: Blocks } & Place & MayBeInPlace & OnNodes)
  | ({ readonly kind: "alltoall" } & Place & EqualBlocks)
  /** Sizes are each rank's own. The w form is this one too: the caller packs its types. */
  | ({ readonly kind: "alltoallv"; readonly sends: Blocks; readonly receives: Blocks } & Place & MayBeInPlace)
  | ({ readonly kind: "reduce" } & RootedPlace & Vector & OnNodes)
  | ({ readonly kind: "allreduce" } & Place & Vector & OnNodes)
  | ({ readonly kind: "reduce_scatter_block" } & Place & Vector)
  | ({ readonly kind: "reduce_scatter" } & ReduceScatter)
  | ({ readonly kind: "scan" | "exscan" } & Place & Vector);

export const flatBcast: FlatBcast = (call) =>
  chooseFlatBcast(call) === "binomial" ? bcastBinomial(call) : bcastScatterAllgather(call);

export function plan(collective: Collective): Schedule {
  switch (collective.kind) {
    case "barrier":
      return planBarrier(collective);
    case "bcast":
      return planBcast(collective);
    case "gather":
      return gatherBinomial(collective);
    case "scatter":
      return scatterBinomial(collective);
    case "gatherv":
      return gathervLinear(collective);
    case "scatterv":
      return scattervLinear(collective);
    case "allgather":
      return planAllgather(collective);
    case "allgatherv":
      return planAllgatherv(collective);
    case "alltoall":
      return planAlltoall(collective);
    case "alltoallv":
      return alltoallvPairwise(collective);
    case "reduce":
      return planReduce(collective);
    case "allreduce":
      return planAllreduce(collective);
    case "reduce_scatter_block": {
      const segments = new Array<number>(collective.size).fill(collective.bytes);
      return planReduceScatter({ ...collective, segments });
    }
    case "reduce_scatter":
      return planReduceScatter(collective);
    case "scan":
      return scanRecursiveDoubling(collective);
    case "exscan":
      return exscanShifted(collective);
    default:
      return unreachable(collective);
  }
}

function planBarrier(call: Place & OnNodes): Schedule {
  return call.nodes !== undefined && chooseBarrier(call) === "hierarchical"
    ? barrierHierarchical({ ...call, nodes: call.nodes })
    : barrierDissemination(call);
}

function planBcast(call: RootedPlace & OnNodes & { readonly bytes: number }): Schedule {
  return call.nodes !== undefined && chooseBcast(call) === "hierarchical"
    ? bcastHierarchical({ ...call, nodes: call.nodes, among: flatBcast, inside: flatBcast })
    : flatBcast(call);
}

function planAllgather(call: Place & EqualBlocks & OnNodes): Schedule {
  const { size, bytes, nodes } = call;
  const algorithm = chooseAllgather({ size, bytes: size * bytes, nodes });
  switch (algorithm) {
    case "recursive-doubling":
      return allgatherRecursiveDoubling(call);
    case "bruck":
      return allgatherBruck(call);
    case "ring":
      return allgathervRing({ ...call, blocks: equalBlocks(size, bytes) });
    case "hierarchical":
      assert(nodes !== undefined, "a hierarchy has nodes");
      return allgathervHierarchical({ ...call, nodes, blocks: equalBlocks(size, bytes), inside: flatBcast });
    default:
      return unreachable(algorithm);
  }
}

function planAllgatherv(call: Place & MayBeInPlace & OnNodes & { readonly blocks: Blocks }): Schedule {
  const { size, nodes, blocks } = call;
  return nodes !== undefined && chooseAllgatherv({ size, bytes: sum(blocks.bytes), nodes }) === "hierarchical"
    ? allgathervHierarchical({ ...call, nodes, inside: flatBcast })
    : allgathervRing(call);
}

function planAlltoall(call: Place & EqualBlocks): Schedule {
  if (chooseAlltoall(call) === "bruck") return alltoallBruck(call);
  const blocks = equalBlocks(call.size, call.bytes);
  return alltoallvPairwise({ ...call, sends: blocks, receives: blocks });
}

function planReduce(call: RootedPlace & Vector & OnNodes): Schedule {
  const algorithm = chooseReduce(call);
  switch (algorithm) {
    case "tree":
      return reduceTree({ ...call, nodes: undefined });
    case "hierarchical":
      return reduceTree(call);
    case "rabenseifner":
      return reduceRabenseifner(call);
    default:
      return unreachable(algorithm);
  }
}

function planAllreduce(call: Place & Vector & OnNodes): Schedule {
  const algorithm = chooseAllreduce(call);
  switch (algorithm) {
    case "recursive-doubling":
      return allreduceRecursiveDoubling(call);
    case "rabenseifner":
      return allreduceRabenseifner(call);
    case "hierarchical":
      assert(call.nodes !== undefined, "a hierarchy has nodes");
      return allreduceHierarchical({ ...call, nodes: call.nodes, inside: flatBcast });
    default:
      return unreachable(algorithm);
  }
}

function planReduceScatter(call: ReduceScatter): Schedule {
  const bytes = sum(call.segments);
  return chooseReduceScatter({ size: call.size, bytes }) === "pairwise"
    ? reduceScatterPairwise(call)
    : reduceScatterHalving(call);
}
