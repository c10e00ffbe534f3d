/**
 * Starts of the collectives that only move data: MPI 5.0 §6.3 to §6.8, §8.6. Which sides a rank has is decided in
 * core/binding/movement-arguments.ts.
 */

import { PROC_NULL } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { isRoot } from "../../core/binding/checks.ts";
import type { Movement } from "../../core/binding/movement.ts";
import {
  allgatherMovement,
  allgathervMovement,
  alltoallMovement,
  alltoallvMovement,
  neighborExchange,
  neighborGather,
  rootedMovement,
  rootedPartsMovement,
} from "../../core/binding/movement-arguments.ts";
import type { CollectiveForm } from "../../core/process/collective-form.ts";
import type { CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import {
  CSharedBuffer,
  type Given,
  type GivenBlocks,
  type GivenParts,
  itemsOf,
  ownBuffer,
  type Start,
} from "./collective-arguments.ts";
import { type CItems, Settle } from "./collective-sides.ts";

class Move implements Start {
  private readonly movement: Movement<CItems>;

  constructor(movement: Movement<CItems>) {
    this.movement = movement;
  }

  begin({ mover }: Program, request: CRequest, form: CollectiveForm): void {
    const { record, sent, received } = mover.begin(request.comm.core, this.movement, form);
    request.record = record;
    request.after = new Settle(sent, received);
  }
}

type Shared = GivenBlocks | GivenParts;

/** A buffer of all peers beside the rank's own one. */
const besideOwn = (program: Program, { core }: CCommunicator, data: Given | Shared, { address }: Given) =>
  new CSharedBuffer(program, data, { own: { address, rank: core.rank } });

/** A buffer of all peers beside another one. */
const beside = (program: Program, { core }: CCommunicator, data: Given | Shared, { address }: Given | Shared) =>
  new CSharedBuffer(program, data, core.isInter ? {} : { other: address });

/** `own`: a gather's send buffer, a scatter's receive buffer; `all`: the root's. */
const rooted =
  (kind: "gather" | "scatter") => (program: Program, comm: CCommunicator, own: Given, all: Given, root: number) =>
    new Move(rootedMovement(comm, kind, ownBuffer(program, own), besideOwn(program, comm, all, own), root));

const rootedParts =
  (kind: "gather" | "scatter") => (program: Program, comm: CCommunicator, own: Given, all: GivenBlocks, root: number) =>
    new Move(rootedPartsMovement(comm, kind, ownBuffer(program, own), besideOwn(program, comm, all, own), root));

export const movements = {
  barrier: (): Start => new Move({ kind: "barrier", from: null, to: null, bytes: 0 }),
  bcast(program: Program, comm: CCommunicator, data: Given, root: number): Start {
    const holds = isRoot(comm, "broadcast", root);
    const items = root === PROC_NULL ? null : itemsOf(program, data);
    return new Move({ kind: "bcast", items, root, holds });
  },
  gather: rooted("gather"),
  gatherv: rootedParts("gather"),
  scatter: rooted("scatter"),
  scatterv: rootedParts("scatter"),
  allgather: (program: Program, comm: CCommunicator, own: Given, all: Given): Start =>
    new Move(allgatherMovement(comm, ownBuffer(program, own), besideOwn(program, comm, all, own))),
  allgatherv: (program: Program, comm: CCommunicator, own: Given, all: GivenBlocks): Start =>
    new Move(allgathervMovement(comm, ownBuffer(program, own), besideOwn(program, comm, all, own))),
  alltoall: (program: Program, comm: CCommunicator, data: Given, into: Given): Start =>
    new Move(alltoallMovement(comm, beside(program, comm, data, into), new CSharedBuffer(program, into))),
  /** The v and the w form. */
  alltoallv: (program: Program, comm: CCommunicator, data: Shared, into: Shared): Start =>
    new Move(alltoallvMovement(comm, beside(program, comm, data, into), new CSharedBuffer(program, into))),
};

/** Blocks are in the order of the topology's neighbours; a block of MPI_PROC_NULL, beyond the edge of a grid, stays as it was. */
export const neighborMovements = {
  allgather: (program: Program, comm: CCommunicator, own: Given, all: Given): Start =>
    new Move(neighborGather(comm, "equal", ownBuffer(program, own), new CSharedBuffer(program, all))),
  allgatherv: (program: Program, comm: CCommunicator, own: Given, all: GivenBlocks): Start =>
    new Move(neighborGather(comm, "parts", ownBuffer(program, own), new CSharedBuffer(program, all))),
  alltoall: (program: Program, comm: CCommunicator, data: Given, into: Given): Start =>
    new Move(neighborExchange(comm, "equal", new CSharedBuffer(program, data), new CSharedBuffer(program, into))),
  /** The v and the w form. */
  alltoallv: (program: Program, comm: CCommunicator, data: Shared, into: Shared): Start =>
    new Move(neighborExchange(comm, "parts", new CSharedBuffer(program, data), new CSharedBuffer(program, into))),
};

saves({ Move });
