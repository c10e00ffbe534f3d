/** Communicators with a topology: MPI 5.0 §8.5. Ranks are never reordered, which the standard leaves open. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { CartesianTopology } from "../../core/comm/topology/cartesian.ts";
import { dimsCreate } from "../../core/comm/topology/dims-create.ts";
import { DistGraphTopology, edgesOf } from "../../core/comm/topology/dist-graph.ts";
import { GraphTopology } from "../../core/comm/topology/graph.ts";
import type { Topology } from "../../core/comm/topology/topology.ts";
import { Create } from "../../core/process/communicators/create.ts";
import { CreateDistGraph } from "../../core/process/communicators/create-dist-graph.ts";
import { Duplicate } from "../../core/process/communicators/duplicate.ts";
import { Split } from "../../core/process/communicators/split.ts";
import { makeCommunicator } from "../handles/new-communicator.ts";
import type { CCommunicator } from "../handles/objects.ts";
import { COMM_NULL, type Program } from "../program.ts";
import { hintsArgument } from "./info.ts";

/** The ABI's special values for arrays of weights. */
const UNWEIGHTED = 10;
const WEIGHTS_EMPTY = 11;

/** Beyond 31 all dimensions are 1. */
const dimensionsMax = 1 << 16;

export function topologyCalls(program: Program) {
  const { ints } = program;

  /** `count` ints at an address; the array may be anywhere when there are none. */
  function list(address: number, count: number): number[] {
    if (count >= 0) return program.list(address, count);
    throw new MpiError(ErrorClass.ARG, `Cannot read ${count} numbers: counts are whole numbers from 0`);
  }

  function dimsAt(address: number, count: number): number[] {
    if (count >= 0 && count <= dimensionsMax) return program.list(address, count);
    const wanted = `there must be 0 to ${dimensionsMax}`;
    throw new MpiError(ErrorClass.DIMS, `Cannot make a grid of ${count} dimensions: ${wanted}`);
  }

  const flags = (address: number, count: number): boolean[] => list(address, count).map((flag) => flag !== 0);

  const weights = (address: number, count: number): number[] | undefined =>
    address === UNWEIGHTED ? undefined : list(address, count);

  function put(value: number, out: number): number {
    ints[out >> 2] = value;
    return 0;
  }

  /** As many as the program has room for. */
  function putSome(values: readonly number[], room: number, to: number): void {
    if (values.length > 0 && room > 0) program.putList(to, values.slice(0, room));
  }

  function putWeights(values: readonly number[] | undefined, room: number, to: number): void {
    if (values !== undefined && to !== UNWEIGHTED && to !== WEIGHTS_EMPTY && to !== 0) putSome(values, room, to);
  }

  /** A communicator that can get a topology. */
  function intra(handle: number): CCommunicator {
    const comm = program.comm(handle);
    if (!comm.core.isInter) return comm;
    throw new MpiError(ErrorClass.COMM, `Cannot make a topology: ${comm.label} is an inter-communicator`);
  }

  function topologyOf<T extends Topology>(
    handle: number,
    kind: abstract new (...args: never[]) => T,
    name: string,
  ): { readonly comm: CCommunicator; readonly topology: T } {
    const comm = program.comm(handle);
    const { topology } = comm.core;
    if (topology instanceof kind) return { comm, topology };
    throw new MpiError(ErrorClass.TOPOLOGY, `Cannot look at the ${name}: communicator ${comm.label} has none`);
  }
  const grid = (handle: number) => topologyOf(handle, CartesianTopology, "grid");
  const graph = (handle: number) => topologyOf(handle, GraphTopology, "graph");
  const distGraph = (handle: number) => topologyOf(handle, DistGraphTopology, "distributed graph");

  /** The first ranks of a communicator, with a topology. */
  function firstOf(comm: CCommunicator, topology: CartesianTopology | GraphTopology, out: number): number {
    const members = comm.core.group.incl(Array.from({ length: topology.size }, (_, rank) => rank));
    return makeCommunicator(program, comm, new Create(comm.core, members), out, { topology });
  }

  const newGrid = (comm: CCommunicator, count: number, dims: number, periods: number) =>
    new CartesianTopology(dimsAt(dims, count), flags(periods, count), comm.core.size);

  function newGraph(comm: CCommunicator, nodes: number, indexAt: number, edgesAt: number): GraphTopology {
    if (nodes > comm.core.size) {
      const state = `it has ${nodes} nodes and communicator ${comm.label} ${comm.core.size} processes`;
      throw new MpiError(ErrorClass.ARG, `Cannot make the graph: ${state}`);
    }
    const index = list(indexAt, nodes);
    return new GraphTopology(index, list(edgesAt, Math.max(0, index.at(-1) ?? 0)), comm.core.size);
  }

  return {
    MPI_Topo_test: (handle: number, out: number): number =>
      put(program.comm(handle).core.topology?.kind ?? UNDEFINED, out),

    // Grids

    MPI_Dims_create(nodes: number, count: number, dims: number): number {
      program.putList(dims, dimsCreate(nodes, dimsAt(dims, count)));
      return 0;
    },
    MPI_Cart_create(
      handle: number,
      count: number,
      dims: number,
      periods: number,
      _reorder: number,
      out: number,
    ): number {
      // What a program finds there when the grid is refused.
      put(COMM_NULL, out);
      const comm = intra(handle);
      return firstOf(comm, newGrid(comm, count, dims, periods), out);
    },
    MPI_Cart_sub(handle: number, remain: number, out: number): number {
      const { comm, topology } = grid(handle);
      const { color, key, topology: slice } = topology.sub(comm.core.rank, flags(remain, topology.dims.length));
      return makeCommunicator(program, comm, new Split(comm.core, color, key), out, { topology: slice });
    },
    MPI_Cartdim_get: (handle: number, out: number): number => put(grid(handle).topology.dims.length, out),
    MPI_Cart_get(handle: number, room: number, dims: number, periods: number, coords: number): number {
      const { comm, topology } = grid(handle);
      putSome(topology.dims, room, dims);
      putSome(
        topology.periods.map((period) => (period ? 1 : 0)),
        room,
        periods,
      );
      putSome(topology.coordinates(comm.core.rank), room, coords);
      return 0;
    },
    MPI_Cart_rank(handle: number, coords: number, out: number): number {
      const { topology } = grid(handle);
      return put(topology.rank(list(coords, topology.dims.length)), out);
    },
    MPI_Cart_coords(handle: number, rank: number, room: number, coords: number): number {
      putSome(grid(handle).topology.coordinates(rank), room, coords);
      return 0;
    },
    MPI_Cart_shift(handle: number, direction: number, by: number, sourceOut: number, destOut: number): number {
      const { comm, topology } = grid(handle);
      const { source, destination } = topology.shift(comm.core.rank, direction, by);
      put(source, sourceOut);
      return put(destination, destOut);
    },
    MPI_Cart_map(handle: number, count: number, dims: number, periods: number, out: number): number {
      const comm = intra(handle);
      return put(newGrid(comm, count, dims, periods).map(comm.core.rank), out);
    },

    // Graphs

    MPI_Graph_create(
      handle: number,
      nodes: number,
      index: number,
      edges: number,
      _reorder: number,
      out: number,
    ): number {
      put(COMM_NULL, out);
      const comm = intra(handle);
      return firstOf(comm, newGraph(comm, nodes, index, edges), out);
    },
    MPI_Graphdims_get(handle: number, nodesOut: number, edgesOut: number): number {
      const { topology } = graph(handle);
      put(topology.size, nodesOut);
      return put(topology.edges.length, edgesOut);
    },
    MPI_Graph_get(handle: number, indexRoom: number, edgesRoom: number, index: number, edges: number): number {
      const { topology } = graph(handle);
      putSome(topology.index, indexRoom, index);
      putSome(topology.edges, edgesRoom, edges);
      return 0;
    },
    MPI_Graph_neighbors_count: (handle: number, rank: number, out: number): number =>
      put(graph(handle).topology.neighboursOf(rank).length, out),
    MPI_Graph_neighbors(handle: number, rank: number, room: number, to: number): number {
      putSome(graph(handle).topology.neighboursOf(rank), room, to);
      return 0;
    },
    MPI_Graph_map(handle: number, nodes: number, index: number, edges: number, out: number): number {
      const comm = intra(handle);
      return put(newGraph(comm, nodes, index, edges).map(comm.core.rank), out);
    },

    // Graphs of which each rank knows its own edges

    MPI_Dist_graph_create_adjacent(
      handle: number,
      indegree: number,
      sources: number,
      sourceWeights: number,
      outdegree: number,
      destinations: number,
      destinationWeights: number,
      info: number,
      _reorder: number,
      out: number,
    ): number {
      const comm = intra(handle);
      const adjacent = {
        sources: list(sources, indegree),
        destinations: list(destinations, outdegree),
        sourceWeights: weights(sourceWeights, indegree),
        destinationWeights: weights(destinationWeights, outdegree),
      };
      const topology = new DistGraphTopology(adjacent, comm.core.size);
      const heritage = { topology, info: hintsArgument(program, info) };
      return makeCommunicator(program, comm, new Duplicate(comm.core), out, heritage);
    },
    MPI_Dist_graph_create(
      handle: number,
      count: number,
      sourcesAt: number,
      degreesAt: number,
      destinationsAt: number,
      weightsAt: number,
      info: number,
      _reorder: number,
      out: number,
    ): number {
      const comm = intra(handle);
      const [sources, degrees] = [list(sourcesAt, count), list(degreesAt, count)];
      const length = degrees.reduce((sum, degree) => sum + Math.max(0, degree), 0);
      const contribution = {
        ...{ sources, degrees },
        destinations: list(destinationsAt, length),
        weights: weights(weightsAt, length),
      };
      const edges = edgesOf(contribution, comm.core.size);
      const task = new CreateDistGraph(comm.core, edges, contribution.weights !== undefined);
      return makeCommunicator(program, comm, task, out, { info: hintsArgument(program, info) });
    },
    MPI_Dist_graph_neighbors_count(handle: number, inOut: number, outOut: number, weightedOut: number): number {
      const { topology } = distGraph(handle);
      put(topology.sources.length, inOut);
      put(topology.destinations.length, outOut);
      return put(topology.isWeighted ? 1 : 0, weightedOut);
    },
    MPI_Dist_graph_neighbors(
      handle: number,
      inRoom: number,
      sources: number,
      sourceWeights: number,
      outRoom: number,
      destinations: number,
      destinationWeights: number,
    ): number {
      const { topology } = distGraph(handle);
      putSome(topology.sources, inRoom, sources);
      putWeights(topology.sourceWeights, inRoom, sourceWeights);
      putSome(topology.destinations, outRoom, destinations);
      putWeights(topology.destinationWeights, outRoom, destinationWeights);
      return 0;
    },
  };
}
