/** Communicators with a topology: MPI 5.0 §8.5. Ranks are never reordered, which the standard leaves open. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { createFirst, distGraphOf, graphOf, gridOf, ranksFor } from "../../core/binding/topologies.ts";
import { CartesianTopology } from "../../core/comm/topology/cartesian.ts";
import { dimsCreate } from "../../core/comm/topology/dims-create.ts";
import { DistGraphTopology, edgesOf } from "../../core/comm/topology/dist-graph.ts";
import { GraphTopology } from "../../core/comm/topology/graph.ts";
import { CreateDistGraph } from "../../core/process/communicators/create-dist-graph.ts";
import { Duplicate } from "../../core/process/communicators/duplicate.ts";
import { Split } from "../../core/process/communicators/split.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { makeCommunicator } from "../handles/new-communicator.ts";
import type { CCommunicator } from "../handles/objects.ts";
import { COMM_NULL, type Program } from "../program.ts";
import { hintsArgument } from "./info.ts";

/** The ABI's special values for arrays of weights. */
const UNWEIGHTED = 10;
const WEIGHTS_EMPTY = 11;

/** Beyond 31 all dimensions are 1. */
const dimensionsMax = 1 << 16;

/** `count` ints at an address; the array may be anywhere when there are none. */
function listAt(program: Program, address: number, count: number): number[] {
  if (count >= 0) return program.list(address, count);
  throw new MpiError(ErrorClass.ARG, `Cannot read ${count} numbers: counts are whole numbers from 0`);
}

function dimsAt(program: Program, address: number, count: number): number[] {
  if (count >= 0 && count <= dimensionsMax) return program.list(address, count);
  const wanted = `there must be 0 to ${dimensionsMax}`;
  throw new MpiError(ErrorClass.DIMS, `Cannot make a grid of ${count} dimensions: ${wanted}`);
}

const flagsAt = (program: Program, address: number, count: number): boolean[] =>
  listAt(program, address, count).map((flag) => flag !== 0);

const weightsAt = (program: Program, address: number, count: number): number[] | undefined =>
  address === UNWEIGHTED ? undefined : listAt(program, address, count);

/** As many as the program has room for. */
function putSome(program: Program, values: readonly number[], room: number, to: number): void {
  if (values.length > 0 && room > 0) program.putList(to, values.slice(0, room));
}

function putWeights(program: Program, values: readonly number[] | undefined, room: number, to: number): void {
  if (values !== undefined && to !== UNWEIGHTED && to !== WEIGHTS_EMPTY && to !== 0) putSome(program, values, room, to);
}

const newGrid = (program: Program, comm: CCommunicator, count: number, dims: number, periods: number) =>
  new CartesianTopology(dimsAt(program, dims, count), flagsAt(program, periods, count), ranksFor(comm));

function newGraph(program: Program, comm: CCommunicator, nodes: number, indexAt: number, edgesAt: number) {
  const ranks = ranksFor(comm);
  if (nodes > ranks) {
    const state = `it has ${nodes} nodes and communicator ${comm.label} ${ranks} processes`;
    throw new MpiError(ErrorClass.ARG, `Cannot make the graph: ${state}`);
  }
  const index = listAt(program, indexAt, nodes);
  return new GraphTopology(index, listAt(program, edgesAt, Math.max(0, index.at(-1) ?? 0)), ranks);
}

/** The first ranks of a communicator, with a topology. */
const makeFirst = (program: Program, comm: CCommunicator, topology: CartesianTopology | GraphTopology, out: number) =>
  makeCommunicator(program, comm, createFirst(comm, topology), out, { topology });

const grids: CallTable = {
  MPI_Dims_create(program, nodes: number, count: number, dims: number) {
    program.putList(dims, dimsCreate(nodes, dimsAt(program, dims, count)));
    return 0;
  },
  MPI_Cart_create(
    program,
    handle: number,
    count: number,
    dims: number,
    periods: number,
    _reorder: number,
    out: number,
  ) {
    // A program finds this there when the grid is refused.
    program.putInt(out, COMM_NULL);
    const comm = program.comm(handle);
    return makeFirst(program, comm, newGrid(program, comm, count, dims, periods), out);
  },
  MPI_Cart_sub(program, handle: number, remain: number, out: number) {
    const comm = program.comm(handle);
    const grid = gridOf(comm);
    const { color, key, topology } = grid.sub(comm.core.rank, flagsAt(program, remain, grid.dims.length));
    return makeCommunicator(program, comm, new Split(comm.core, color, key), out, { topology });
  },
  MPI_Cartdim_get: (program, handle: number, out: number) =>
    program.putInt(out, gridOf(program.comm(handle)).dims.length),
  MPI_Cart_get(program, handle: number, room: number, dims: number, periods: number, coords: number) {
    const comm = program.comm(handle);
    const grid = gridOf(comm);
    putSome(program, grid.dims, room, dims);
    putSome(program, grid.periods.map(Number), room, periods);
    putSome(program, grid.coordinates(comm.core.rank), room, coords);
    return 0;
  },
  MPI_Cart_rank(program, handle: number, coords: number, out: number) {
    const grid = gridOf(program.comm(handle));
    return program.putInt(out, grid.rank(listAt(program, coords, grid.dims.length)));
  },
  MPI_Cart_coords(program, handle: number, rank: number, room: number, coords: number) {
    putSome(program, gridOf(program.comm(handle)).coordinates(rank), room, coords);
    return 0;
  },
  MPI_Cart_shift(program, handle: number, direction: number, by: number, sourceOut: number, destOut: number) {
    const comm = program.comm(handle);
    const { source, destination } = gridOf(comm).shift(comm.core.rank, direction, by);
    program.putInt(sourceOut, source);
    return program.putInt(destOut, destination);
  },
  MPI_Cart_map(program, handle: number, count: number, dims: number, periods: number, out: number) {
    const comm = program.comm(handle);
    return program.putInt(out, newGrid(program, comm, count, dims, periods).map(comm.core.rank));
  },
};

const graphs: CallTable = {
  MPI_Graph_create(
    program,
    handle: number,
    nodes: number,
    index: number,
    edges: number,
    _reorder: number,
    out: number,
  ) {
    program.putInt(out, COMM_NULL);
    const comm = program.comm(handle);
    return makeFirst(program, comm, newGraph(program, comm, nodes, index, edges), out);
  },
  MPI_Graphdims_get(program, handle: number, nodesOut: number, edgesOut: number) {
    const graph = graphOf(program.comm(handle));
    program.putInt(nodesOut, graph.size);
    return program.putInt(edgesOut, graph.edges.length);
  },
  MPI_Graph_get(program, handle: number, indexRoom: number, edgesRoom: number, index: number, edges: number) {
    const graph = graphOf(program.comm(handle));
    putSome(program, graph.index, indexRoom, index);
    putSome(program, graph.edges, edgesRoom, edges);
    return 0;
  },
  MPI_Graph_neighbors_count: (program, handle: number, rank: number, out: number) =>
    program.putInt(out, graphOf(program.comm(handle)).neighboursOf(rank).length),
  MPI_Graph_neighbors(program, handle: number, rank: number, room: number, to: number) {
    putSome(program, graphOf(program.comm(handle)).neighboursOf(rank), room, to);
    return 0;
  },
  MPI_Graph_map(program, handle: number, nodes: number, index: number, edges: number, out: number) {
    const comm = program.comm(handle);
    return program.putInt(out, newGraph(program, comm, nodes, index, edges).map(comm.core.rank));
  },
};

/** Graphs of which each rank knows its own edges. */
const distributedGraphs: CallTable = {
  MPI_Dist_graph_create_adjacent(
    program,
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
  ) {
    const comm = program.comm(handle);
    const ranks = ranksFor(comm);
    const adjacent = {
      sources: listAt(program, sources, indegree),
      destinations: listAt(program, destinations, outdegree),
      sourceWeights: weightsAt(program, sourceWeights, indegree),
      destinationWeights: weightsAt(program, destinationWeights, outdegree),
    };
    const topology = new DistGraphTopology(adjacent, ranks);
    const heritage = { topology, info: hintsArgument(program, info) };
    return makeCommunicator(program, comm, new Duplicate(comm.core), out, heritage);
  },
  MPI_Dist_graph_create(
    program,
    handle: number,
    count: number,
    sourcesAt: number,
    degreesAt: number,
    destinationsAt: number,
    weights: number,
    info: number,
    _reorder: number,
    out: number,
  ) {
    const comm = program.comm(handle);
    const ranks = ranksFor(comm);
    const degrees = listAt(program, degreesAt, count);
    const length = degrees.reduce((sum, degree) => sum + Math.max(0, degree), 0);
    const contribution = {
      sources: listAt(program, sourcesAt, count),
      degrees,
      destinations: listAt(program, destinationsAt, length),
      weights: weightsAt(program, weights, length),
    };
    const task = new CreateDistGraph(comm.core, edgesOf(contribution, ranks), contribution.weights !== undefined);
    return makeCommunicator(program, comm, task, out, { info: hintsArgument(program, info) });
  },
  MPI_Dist_graph_neighbors_count(program, handle: number, inOut: number, outOut: number, weightedOut: number) {
    const graph = distGraphOf(program.comm(handle));
    program.putInt(inOut, graph.sources.length);
    program.putInt(outOut, graph.destinations.length);
    return program.putInt(weightedOut, graph.isWeighted ? 1 : 0);
  },
  MPI_Dist_graph_neighbors(
    program,
    handle: number,
    inRoom: number,
    sources: number,
    sourceWeights: number,
    outRoom: number,
    destinations: number,
    destinationWeights: number,
  ) {
    const graph = distGraphOf(program.comm(handle));
    putSome(program, graph.sources, inRoom, sources);
    putWeights(program, graph.sourceWeights, inRoom, sourceWeights);
    putSome(program, graph.destinations, outRoom, destinations);
    putWeights(program, graph.destinationWeights, outRoom, destinationWeights);
    return 0;
  },
};

const table: CallTable = {
  MPI_Topo_test: (program, handle: number, out: number) =>
    program.putInt(out, program.comm(handle).core.topology?.kind ?? UNDEFINED),
  ...grids,
  ...graphs,
  ...distributedGraphs,
};

export const topologyCalls = (program: Program) => callsOf(program, table);
