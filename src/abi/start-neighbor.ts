/**
 * Starts of the collectives among the neighbours of a topology: MPI 5.0 §8.6. Blocks are in the order of the topology's
 * neighbours; what would come from MPI_PROC_NULL, beyond the edge of a grid, stays as it was.
 */
import { CART, PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Neighbourhood } from "../core/coll/neighbor-direct.ts";
import type { NeighborCollective } from "../core/coll/plan-inter.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import { onBoard } from "../core/process/collectives.ts";
import { packedBytes } from "./buffers.ts";
import {
  type Given,
  IN_PLACE,
  itemsOf,
  type Layout,
  partsOf,
  type Start,
  type TypedLayout,
  typedPartsOf,
} from "./collective-arguments.ts";
import type { CCommunicator, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Items, Settle, Side } from "./side.ts";

export function neighborStarts(program: Program) {
  function hoodOf({ core, label }: CCommunicator): Neighbourhood {
    const { topology, rank } = core;
    if (topology === null) {
      throw new MpiError(ErrorClass.TOPOLOGY, `Cannot exchange with the neighbours: ${label} has no topology`);
    }
    const { sources, destinations } = topology.neighbours(rank);
    return { rank, sources, destinations, cartesian: topology.kind === CART };
  }

  /** A part for each of `neighbours`, side by side. */
  function equal(given: Given, neighbours: number): Items {
    const items = itemsOf(program, given);
    const count = items.count * neighbours;
    packedBytes(items.type, count);
    return { ...items, count };
  }

  function start(
    request: CRequest,
    collective: NeighborCollective,
    sent: Side,
    received: Side,
    tag: number | undefined,
  ): void {
    const { collectives } = program.process;
    // A neighbourhood has no board.
    const own = tag === onBoard ? undefined : tag;
    request.after = new Settle(sent, received);
    request.record = collectives.startNeighbor(request.comm.core, collective, sent.pointer, received.pointer, own);
  }

  /** What MPI_PROC_NULL leaves as it was must survive in scratch memory. */
  const keeps = ({ sources }: Neighbourhood): boolean => sources.includes(PROC_NULL);

  function checkApart(address: number): void {
    if (address !== IN_PLACE) return;
    throw new MpiError(
      ErrorClass.BUFFER,
      "Cannot exchange with the neighbours in MPI_IN_PLACE: it has no meaning here",
    );
  }

  function allgather(comm: CCommunicator, data: Given, into: Given): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const degree = hood.sources.length;
    const from = itemsOf(program, data);
    const to = equal(into, degree);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, keeps(hood));
      const receives = equalBlocks(degree, received.bytes / Math.max(degree, 1));
      start(request, { kind: "neighbor_allgatherv", ...hood, bytes: sent.bytes, receives }, sent, received, tag);
    };
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = itemsOf(program, data);
    const to = partsOf(program, into, layout, hood.sources.length);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.ofParts(program, to, keeps(hood));
      const { blocks: receives } = received;
      start(request, { kind: "neighbor_allgatherv", ...hood, bytes: sent.bytes, receives }, sent, received, tag);
    };
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const [outdegree, indegree] = [hood.destinations.length, hood.sources.length];
    const from = equal(data, outdegree);
    const to = equal(into, indegree);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, keeps(hood));
      const sends = equalBlocks(outdegree, sent.bytes / Math.max(outdegree, 1));
      const receives = equalBlocks(indegree, received.bytes / Math.max(indegree, 1));
      start(request, { kind: "neighbor_alltoallv", ...hood, sends, receives }, sent, received, tag);
    };
  }

  /** The v and w forms: parts of any length and type for each neighbour. */
  const exchange =
    (hood: Neighbourhood, from: readonly Items[], to: readonly Items[]): Start =>
    (request, tag) => {
      const sent = Side.ofParts(program, from, true);
      const received = Side.ofParts(program, to, keeps(hood));
      const blocks = { sends: sent.blocks, receives: received.blocks };
      start(request, { kind: "neighbor_alltoallv", ...hood, ...blocks }, sent, received, tag);
    };

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = partsOf(program, data, layout, hood.destinations.length);
    return exchange(hood, from, partsOf(program, into, intoLayout, hood.sources.length));
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = typedPartsOf(program, data, hood.destinations.length);
    return exchange(hood, from, typedPartsOf(program, into, hood.sources.length));
  }

  return { allgather, allgatherv, alltoall, alltoallv, alltoallw };
}
