/**
 * Starts of the collectives among the neighbours of a topology: MPI 5.0 §8.6. Blocks are in the order of the topology's
 * neighbours; what would come from MPI_PROC_NULL, beyond the edge of a grid, stays as it was.
 */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { neighbourhoodOf } from "../../core/binding/checks.ts";
import type { Neighbourhood } from "../../core/coll/intra/neighbor-direct.ts";
import type { CCommunicator } from "../handles/objects.ts";
import type { Program } from "../program.ts";
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
import { Move } from "./start-movement.ts";

export function neighborStarts(program: Program) {
  const hoodOf = (comm: CCommunicator): Neighbourhood => neighbourhoodOf(comm, "exchange with the neighbours");

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
    return new Move({
      kind: "neighbor_allgatherv",
      hood,
      from: itemsOf(program, data),
      to: itemsForEach(program, into, hood.sources.length),
    });
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const to = partsOf(program, into, layout, hood.sources.length);
    return new Move({ kind: "neighbor_allgatherv", hood, from: itemsOf(program, data), to });
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = itemsForEach(program, data, hood.destinations.length);
    return new Move({ kind: "neighbor_alltoallv", hood, from, to: itemsForEach(program, into, hood.sources.length) });
  }

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = partsOf(program, data, layout, hood.destinations.length);
    return new Move({
      kind: "neighbor_alltoallv",
      hood,
      from,
      to: partsOf(program, into, intoLayout, hood.sources.length),
    });
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    checkApart(data.address);
    const hood = hoodOf(comm);
    const from = typedPartsOf(program, data, hood.destinations.length);
    return new Move({ kind: "neighbor_alltoallv", hood, from, to: typedPartsOf(program, into, hood.sources.length) });
  }

  return { allgather, allgatherv, alltoall, alltoallv, alltoallw };
}
