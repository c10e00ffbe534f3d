/**
 * Starts of the collectives among the neighbours of a topology: MPI 5.0 §8.6. Blocks are in the order of the topology's
 * neighbours; what would come from MPI_PROC_NULL, beyond the edge of a grid, stays as it was.
 */
import { CART, PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { saves } from "../core/base/saved-classes.ts";
import type { Neighbourhood } from "../core/coll/neighbor-direct.ts";
import type { NeighborCollective } from "../core/coll/plan-inter.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import type { Blocks } from "../core/coll/schedule.ts";
import { onBoard } from "../core/process/collectives.ts";
import {
  type Given,
  IN_PLACE,
  itemsForEach,
  itemsOf,
  type Layout,
  partsOf,
  type Start,
  type TypedLayout,
  typedPartsOf,
} from "./collective-arguments.ts";
import type { CCommunicator, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Parts, Settle, Side } from "./side.ts";

/** What MPI_PROC_NULL leaves as it was must survive in scratch memory. */
const keeps = ({ sources }: Neighbourhood): boolean => sources.includes(PROC_NULL);

/** To and from all neighbours: parts of any length, or items side by side, as many for each. */
class NeighborMove implements Start {
  private readonly kind: "neighbor_allgatherv" | "neighbor_alltoallv";
  private readonly hood: Neighbourhood;
  private readonly from: Parts;
  private readonly to: Parts;

  constructor(kind: NeighborCollective["kind"], hood: Neighbourhood, from: Parts, to: Parts) {
    this.kind = kind;
    this.hood = hood;
    this.from = from;
    this.to = to;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const { hood } = this;
    const sent = Side.of(program, this.from, true);
    const received = Side.of(program, this.to, keeps(hood));
    request.after = new Settle(sent, received);
    const receives = blocksOf(received, this.to, hood.sources.length);
    const collective: NeighborCollective =
      this.kind === "neighbor_allgatherv"
        ? { kind: this.kind, ...hood, bytes: sent.bytes, receives }
        : { kind: this.kind, ...hood, sends: blocksOf(sent, this.from, hood.destinations.length), receives };
    const { operations } = program;
    // A neighbourhood has no board.
    const own = tag === onBoard ? undefined : tag;
    request.record = operations.startNeighbor(request.comm.core, collective, sent.pointer, received.pointer, own);
  }
}

const blocksOf = (side: Side, parts: Parts, neighbours: number): Blocks =>
  Array.isArray(parts) ? side.blocks : equalBlocks(neighbours, side.bytes / Math.max(neighbours, 1));

export function neighborStarts(program: Program) {
  function hoodOf(comm: CCommunicator): Neighbourhood {
    const { core } = comm;
    const { topology, rank } = core;
    if (topology === null) {
      throw new MpiError(ErrorClass.TOPOLOGY, `Cannot exchange with the neighbours: ${comm.label} has no topology`);
    }
    const { sources, destinations } = topology.neighbours(rank);
    return { rank, sources, destinations, cartesian: topology.kind === CART };
  }

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
    return new NeighborMove(
      "neighbor_allgatherv",
      hood,
      itemsOf(program, data),
      itemsForEach(program, into, hood.sources.length),
    );
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const to = partsOf(program, into, layout, hood.sources.length);
    return new NeighborMove("neighbor_allgatherv", hood, itemsOf(program, data), to);
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = itemsForEach(program, data, hood.destinations.length);
    return new NeighborMove("neighbor_alltoallv", hood, from, itemsForEach(program, into, hood.sources.length));
  }

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = partsOf(program, data, layout, hood.destinations.length);
    return new NeighborMove("neighbor_alltoallv", hood, from, partsOf(program, into, intoLayout, hood.sources.length));
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = typedPartsOf(program, data, hood.destinations.length);
    return new NeighborMove("neighbor_alltoallv", hood, from, typedPartsOf(program, into, hood.sources.length));
  }

  return { allgather, allgatherv, alltoall, alltoallv, alltoallw };
}

saves({ NeighborMove });
