/**
 * A graph of which each process knows its own edges (MPI 5.0 §8.5.4): its sources and destinations, with or without weights.
 * The `adjacent` constructor takes just that. In the general constructor any process may name any edge, so all edges are
 * gathered and each process takes its own, in the order of the ranks that named them.
 */
import { DIST_GRAPH } from "../../base/constants.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Neighbours } from "./graph.ts";

export interface Adjacent {
  readonly sources: readonly number[];
  readonly destinations: readonly number[];
  /** One for each source or destination; both absent when the graph is unweighted. */
  readonly sourceWeights?: readonly number[] | undefined;
  readonly destinationWeights?: readonly number[] | undefined;
}

export class DistGraphTopology implements Neighbours {
  readonly kind = DIST_GRAPH;
  readonly sources: readonly number[];
  readonly destinations: readonly number[];
  readonly sourceWeights: readonly number[] | undefined;
  readonly destinationWeights: readonly number[] | undefined;

  constructor({ sources, destinations, sourceWeights, destinationWeights }: Adjacent, processes: number) {
    for (const rank of [...sources, ...destinations]) checkNode(rank, processes);
    checkWeights(sources, sourceWeights);
    checkWeights(destinations, destinationWeights);
    if ((sourceWeights === undefined) !== (destinationWeights === undefined)) {
      throw new MpiError(
        ErrorClass.ARG,
        "Cannot make the graph: one side has weights and the other has none, both must or neither",
      );
    }
    this.sources = [...sources];
    this.destinations = [...destinations];
    this.sourceWeights = sourceWeights && [...sourceWeights];
    this.destinationWeights = destinationWeights && [...destinationWeights];
  }

  get isWeighted(): boolean {
    return this.sourceWeights !== undefined;
  }

  neighbours(): Neighbours {
    return this;
  }
}

/** The arguments of MPI_Dist_graph_create: source i has the next `degrees[i]` destinations. */
export interface Contribution {
  readonly sources: readonly number[];
  readonly degrees: readonly number[];
  readonly destinations: readonly number[];
  readonly weights?: readonly number[] | undefined;
}

/** As integers, for the exchange: source, destination and weight of each edge; weight 0 where there are none. */
export function edgesOf({ sources, degrees, destinations, weights }: Contribution, processes: number): Int32Array {
  if (sources.length !== degrees.length) {
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot make the graph: there are ${degrees.length} degrees for ${sources.length} sources`,
    );
  }
  const bad = degrees.find((degree) => degree < 0);
  if (bad !== undefined)
    throw new MpiError(ErrorClass.ARG, `Cannot make the graph: a degree is ${bad} and must be 0 or more`);
  const count = degrees.reduce((sum, degree) => sum + degree, 0);
  if (count > destinations.length) {
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot make the graph: the degrees count ${count} edges and ${destinations.length} are given`,
    );
  }
  checkWeights(destinations.slice(0, count), weights?.slice(0, count));
  const edges = new Int32Array(3 * count);
  let edge = 0;
  sources.forEach((source, i) => {
    for (let j = 0; j < degrees[i]!; j++, edge++) {
      checkNode(source, processes);
      checkNode(destinations[edge]!, processes);
      edges.set([source, destinations[edge]!, weights?.[edge] ?? 0], 3 * edge);
    }
  });
  return edges;
}

/** The edges that process `rank` takes from the edges of all processes, concatenated in the order of ranks. */
export function adjacentOf(rank: number, edges: Int32Array, isWeighted: boolean): Adjacent {
  const sources: number[] = [];
  const destinations: number[] = [];
  const sourceWeights: number[] = [];
  const destinationWeights: number[] = [];
  for (let i = 0; i < edges.length; i += 3) {
    const [source, destination, weight] = [edges[i]!, edges[i + 1]!, edges[i + 2]!];
    if (destination === rank) {
      sources.push(source);
      sourceWeights.push(weight);
    }
    if (source === rank) {
      destinations.push(destination);
      destinationWeights.push(weight);
    }
  }
  const lists = { sources, destinations };
  return isWeighted ? { ...lists, sourceWeights, destinationWeights } : lists;
}

function checkNode(rank: number, processes: number): void {
  if (Number.isInteger(rank) && rank >= 0 && rank < processes) return;
  throw new MpiError(
    ErrorClass.RANK,
    `Cannot make the graph: an edge names rank ${rank} and the communicator has ranks 0 to ${processes - 1}`,
  );
}

function checkWeights(nodes: readonly number[], weights: readonly number[] | undefined): void {
  if (weights === undefined) return;
  if (weights.length !== nodes.length) {
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot make the graph: there are ${weights.length} weights for ${nodes.length} edges`,
    );
  }
  const bad = weights.find((weight) => !(weight >= 0));
  if (bad !== undefined)
    throw new MpiError(ErrorClass.ARG, `Cannot make the graph: a weight is ${bad} and must be 0 or more`);
}

saves({ DistGraphTopology });
