/**
 * Communicators with a topology (MPI 5.0 chapter 8): grids, graphs that everybody knows, graphs of which each rank knows its
 * own edges. Ranks are never reordered, which the standard leaves open.
 */
import { UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Info } from "../core/comm/info.ts";
import { CartesianTopology } from "../core/comm/topology/cartesian.ts";
import { type Adjacent, type Contribution, DistGraphTopology, edgesOf } from "../core/comm/topology/dist-graph.ts";
import { GraphTopology, type Neighbours } from "../core/comm/topology/graph.ts";
import type { Topology } from "../core/comm/topology/topology.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { CreateDistGraph } from "../core/process/communicators/create-dist-graph.ts";
import { Create, Duplicate, Split } from "../core/process/new-communicators.ts";
import type { Task } from "../core/process/task.ts";
import type { Communicator } from "./communicator.ts";
import { CommunicatorState } from "./communicator-state.ts";
import { errorOf } from "./request.ts";
import { Status } from "./status.ts";

export type { Adjacent, Contribution } from "../core/comm/topology/dist-graph.ts";

/** What a new communicator takes over. */
export interface Adopted {
  readonly topology?: Topology | null;
  readonly attributesFrom?: Communicator;
  readonly info?: Info;
}

export interface Grid {
  readonly dims: readonly number[];
  readonly periods: readonly boolean[];
  /** Where this rank is. */
  readonly coords: readonly number[];
}

export abstract class Topologies extends CommunicatorState {
  /** The program's communicator for one of the core's. */
  protected abstract adopt(core: CoreCommunicator, adopted?: Adopted): Communicator;

  /** Runs a task that makes a communicator; null for ranks that are no members. */
  protected make(
    task: Task & { readonly result: CoreCommunicator | null },
    adopted: Adopted = {},
  ): Communicator | null {
    const { operations } = this;
    const record = operations.startTask(task);
    if (!operations.isComplete(record)) operations.wait(record);
    operations.end(record);
    if (task.error !== 0) this.raise(errorOf(new Status(-1, -2, 0, task.error)));
    return task.result === null ? null : this.adopt(task.result, adopted);
  }

  /** CART, GRAPH, DIST_GRAPH or UNDEFINED. */
  get topology(): number {
    return this.core.topology?.kind ?? UNDEFINED;
  }

  /** Whom this rank receives from and sends to in neighbourhood collectives. */
  get neighbors(): Neighbours {
    return this.guard(() => {
      const { topology, rank } = this.core;
      if (topology === null) throw this.#lacks("neighbours");
      return topology.neighbours(rank);
    });
  }

  // Grids

  /** A grid of ranks in row-major order; dimensions with a period are rings. Ranks beyond the grid get null. */
  cartCreate(
    dims: readonly number[],
    { periods = dims.map(() => false) }: { periods?: readonly boolean[]; reorder?: boolean } = {},
  ): Communicator | null {
    const topology = this.guard(() => new CartesianTopology(dims, periods, this.#plain().size));
    return this.#firstOf(topology.size, topology);
  }

  cartCoords(rank = this.rank): number[] {
    return this.guard(() => this.#cart().coordinates(rank));
  }

  /** Coordinates of a ring wrap round. */
  cartRank(coords: readonly number[]): number {
    return this.guard(() => this.#cart().rank(coords));
  }

  /** Whom to receive from and whom to send to so that everything moves on by `displacement`; PROC_NULL at an end. */
  cartShift(direction: number, displacement = 1): { source: number; dest: number } {
    const { source, destination } = this.guard(() => this.#cart().shift(this.rank, direction, displacement));
    return { source, dest: destination };
  }

  /** The slices of the grid in which the dimensions that `remain` stay. */
  cartSub(remain: readonly boolean[]): Communicator {
    const { color, key, topology } = this.guard(() => this.#cart().sub(this.rank, remain));
    return this.make(new Split(this.core, color, key), { topology })!;
  }

  cartGet(): Grid {
    const { dims, periods } = this.guard(() => this.#cart());
    return { dims, periods, coords: this.cartCoords() };
  }

  /** The rank that this process would have in such a grid, UNDEFINED beyond it. */
  cartMap(dims: readonly number[], periods: readonly boolean[] = dims.map(() => false)): number {
    return this.guard(() => new CartesianTopology(dims, periods, this.size)).map(this.rank);
  }

  // Graphs

  /** `index[i]`: how many edges nodes 0 to i have together; `edges`: where they lead, node by node. */
  graphCreate(index: readonly number[], edges: readonly number[], _options?: { reorder?: boolean }) {
    const topology = this.guard(() => new GraphTopology(index, edges, this.#plain().size));
    return this.#firstOf(topology.size, topology);
  }

  graphGet(): { index: readonly number[]; edges: readonly number[] } {
    const { index, edges } = this.guard(() => this.#graph());
    return { index, edges };
  }

  graphNeighbors(rank = this.rank): readonly number[] {
    return this.guard(() => this.#graph().neighboursOf(rank));
  }

  graphMap(index: readonly number[], edges: readonly number[]): number {
    return this.guard(() => new GraphTopology(index, edges, this.size)).map(this.rank);
  }

  /** Each rank names its own neighbours. */
  distGraphCreateAdjacent(adjacent: Adjacent, _options?: { reorder?: boolean }): Communicator {
    const topology = this.guard(() => new DistGraphTopology(adjacent, this.#plain().size));
    return this.make(new Duplicate(this.core), { topology })!;
  }

  /** Any rank may bring any edges; they are brought together first. */
  distGraphCreate(edges: Contribution, _options?: { reorder?: boolean }): Communicator {
    const mine = this.guard(() => edgesOf(edges, this.#plain().size));
    return this.make(new CreateDistGraph(this.core, mine, edges.weights !== undefined))!;
  }

  distGraphNeighbors(): Adjacent {
    return this.guard(() => {
      const { topology } = this.core;
      if (!(topology instanceof DistGraphTopology)) throw this.#lacks("distributed graph");
      const { sources, destinations, sourceWeights, destinationWeights } = topology;
      return { sources, destinations, sourceWeights, destinationWeights };
    });
  }

  /** The first ranks of this communicator, with a topology. */
  #firstOf(size: number, topology: Topology): Communicator | null {
    const members = this.core.group.incl(Array.from({ length: size }, (_, rank) => rank));
    return this.make(new Create(this.core, members), { topology });
  }

  #plain(): this {
    if (!this.core.isInter && !this.core.freed) return this;
    const state = this.core.freed ? "has been freed" : "is an inter-communicator";
    throw new MpiError(ErrorClass.COMM, `Cannot make a topology: communicator ${this.label} ${state}`);
  }

  #cart(): CartesianTopology {
    const { topology } = this.core;
    if (topology instanceof CartesianTopology) return topology;
    throw this.#lacks("grid");
  }

  #graph(): GraphTopology {
    const { topology } = this.core;
    if (topology instanceof GraphTopology) return topology;
    throw this.#lacks("graph");
  }

  #lacks(kind: string): MpiError {
    return new MpiError(ErrorClass.TOPOLOGY, `Cannot look at the ${kind}: communicator ${this.label} has none`);
  }
}
