/**
 * Topologies of a script, by ranks of their communicator, and the neighbours in them: the definitions of MPI 5.0 §8.6 written a
 * second time, for the checkers.
 */
import { assert } from "../../core/base/assert.ts";
import { PROC_NULL } from "../../core/base/constants.ts";

export type TopologyPlan =
  | { readonly kind: "grid"; readonly dims: readonly number[]; readonly periods: readonly boolean[] }
  /** The neighbours of each rank; every edge has its way back. */
  | { readonly kind: "graph"; readonly neighbours: readonly (readonly number[])[] }
  /** Each rank knows its own edges. */
  | {
      readonly kind: "edges";
      readonly sources: readonly (readonly number[])[];
      readonly destinations: readonly (readonly number[])[];
    };

export function neighbourSourcesOf(topology: TopologyPlan, rank: number): readonly number[] {
  switch (topology.kind) {
    case "grid":
      return gridNeighbours(topology.dims, topology.periods, rank);
    case "graph":
      return topology.neighbours[rank]!;
    case "edges":
      return topology.sources[rank]!;
  }
}

export function destinationsOf(topology: TopologyPlan, rank: number): readonly number[] {
  return topology.kind === "edges" ? topology.destinations[rank]! : neighbourSourcesOf(topology, rank);
}

/** Which of the blocks that a source of the rank sends belongs to the rank's place `index`. */
export function blockFor(topology: TopologyPlan, rank: number, index: number): number {
  // A message from one direction of a grid was sent in the opposite one.
  if (topology.kind === "grid") return index ^ 1;
  const sources = neighbourSourcesOf(topology, rank);
  const source = sources[index]!;
  // Of several edges between two ranks the k-th of one rank is the k-th of the other.
  let nth = sources.slice(0, index).filter((other) => other === source).length;
  const block = destinationsOf(topology, source).findIndex((other) => other === rank && nth-- === 0);
  assert(block >= 0, `rank ${rank} has an edge from rank ${source}, which has none to it`);
  return block;
}

/**
 * For each dimension the neighbours at −1 and +1, PROC_NULL at the end of an open dimension; the last dimension runs fastest.
 */
function gridNeighbours(dims: readonly number[], periods: readonly boolean[], rank: number): number[] {
  return dims.flatMap((dim, direction) => {
    const stride = dims.slice(direction + 1).reduce((product, each) => product * each, 1);
    const at = Math.floor(rank / stride) % dim;
    return [at - 1, at + 1].map((next) => {
      if (!periods[direction] && (next < 0 || next >= dim)) return PROC_NULL;
      return rank + (((next + dim) % dim) - at) * stride;
    });
  });
}
