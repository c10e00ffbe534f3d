/**
 * A graph that every process knows as a whole (MPI 5.0 §8.5.3): `index[i]` is the number of edges of nodes 0 … i together,
 * `edges` lists them node by node. Edges may repeat, lead back to their node, or go one way only.
 */
import { GRAPH, UNDEFINED } from "../../base/constants.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";

/**
 * The ranks that a process receives from and sends to in a neighbourhood collective, in the order of its buffers. PROC_NULL may
 * occur.
 */
export interface Neighbours {
  readonly sources: readonly number[];
  readonly destinations: readonly number[];
}

export class GraphTopology {
  readonly kind = GRAPH;
  readonly index: readonly number[];
  readonly edges: readonly number[];

  /** `processes` is the size of the old communicator; those beyond the graph are left out of the new one. */
  constructor(index: readonly number[], edges: readonly number[], processes: number) {
    const nodes = index.length;
    if (nodes > processes) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot make the graph: it has ${nodes} nodes and the communicator ${processes} processes`,
      );
    }
    index.forEach((end, node) => {
      const start = node === 0 ? 0 : index[node - 1]!;
      if (end < start) throw wrong(`index ${node} is ${end} and must be at least the one before, ${start}`);
    });
    const used = index.at(-1) ?? 0;
    if (used > edges.length) throw wrong(`the index counts ${used} edges and ${edges.length} are given`);
    this.index = [...index];
    this.edges = edges.slice(0, used);
    const bad = this.edges.find((node) => !(node >= 0 && node < nodes));
    if (bad !== undefined) throw wrong(`an edge leads to node ${bad} and the nodes are 0 to ${nodes - 1}`);
  }

  get size(): number {
    return this.index.length;
  }

  neighboursOf(rank: number): readonly number[] {
    if (!(rank >= 0 && rank < this.size)) {
      throw new MpiError(ErrorClass.RANK, `Cannot find rank ${rank} in the graph: it has ranks 0 to ${this.size - 1}`);
    }
    return this.edges.slice(rank === 0 ? 0 : this.index[rank - 1]!, this.index[rank]!);
  }

  /** The rank in the graph of a process of the old communicator; UNDEFINED when the process is left out. */
  map(rank: number): number {
    return rank < this.size ? rank : UNDEFINED;
  }

  neighbours(rank: number): Neighbours {
    const list = this.neighboursOf(rank);
    return { sources: list, destinations: list };
  }
}

function wrong(state: string): MpiError {
  return new MpiError(ErrorClass.TOPOLOGY, `Cannot make the graph: ${state}`);
}

saves({ GraphTopology });
