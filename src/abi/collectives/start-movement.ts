/** Starts of the collectives that only move data: MPI 5.0 §6.3 to §6.8. */
import { PROC_NULL } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Movement } from "../../core/binding/movement.ts";
import { bytesOf as bytesOfItems, type Parts } from "../../core/binding/side.ts";
import { checkApart } from "../arguments/buffers.ts";
import type { CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import {
  type Given,
  isInPlace,
  isRoot,
  itemsForEach,
  itemsOf,
  type Layout,
  partsOf,
  type Start,
  type TypedLayout,
  typedPartsOf,
} from "./collective-arguments.ts";
import { type CItems, Settle } from "./collective-sides.ts";

export class Move implements Start {
  private readonly movement: Movement<CItems>;

  constructor(movement: Movement<CItems>) {
    this.movement = movement;
  }

  begin({ mover }: Program, request: CRequest, tag: number | undefined): void {
    const { record, sent, received } = mover.begin(request.comm.core, this.movement, tag);
    request.record = record;
    request.after = new Settle(sent, received);
  }
}

const bytesOf = (items: CItems | null): number => (items === null ? 0 : bytesOfItems(items));

export function movement(program: Program) {
  /** `whole` is for all ranks, as many items for each; `part` must be neither it nor this rank's own part of it. */
  function checkEqual({ core }: CCommunicator, part: CItems | null, whole: CItems | null): void {
    if (core.isInter || part === null || whole === null || bytesOf(part) === 0) return;
    checkApart(program, part.address, whole.address);
    checkApart(program, part.address, whole.address + ((core.rank * whole.count) / core.size) * whole.type.extent);
  }

  /** The same where every rank has items of its own. */
  function checkParts({ core }: CCommunicator, part: CItems | null, whole: readonly CItems[] | null): void {
    if (core.isInter || part === null || whole === null || bytesOf(part) === 0) return;
    checkApart(program, part.address, whole[core.rank]!.address);
  }

  /** Both are for all ranks. MPI_BOTTOM is no buffer. */
  function checkBuffers({ core }: CCommunicator, from: number, to: number, parts: Parts<CItems>): void {
    const isEmpty = [parts ?? []].flat().every((items) => bytesOf(items) === 0);
    if (!core.isInter && from !== 0 && !isEmpty) checkApart(program, from, to);
  }

  const barrier = (): Start => new Move({ kind: "barrier", from: null, to: null, bytes: 0 });

  function bcast(comm: CCommunicator, data: Given, root: number): Start {
    const holds = isRoot(comm, root);
    const items = root === PROC_NULL ? null : itemsOf(program, data);
    return new Move({ kind: "bcast", items, root, holds });
  }

  function gather(comm: CCommunicator, data: Given, into: Given, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, data.address);
    const sends = isInter ? root >= 0 : !inPlace;
    const from = sends ? itemsOf(program, data) : null;
    const to = atRoot ? itemsForEach(program, into, peers.size) : null;
    checkEqual(comm, from, to);
    const room = bytesOf(to) / peers.size;
    const own = from !== null && to !== null ? { sent: bytesOf(from), room } : null;
    return new Move({ kind: "gather", from, to, root, inPlace, bytes: to === null ? bytesOf(from) : room, own });
  }

  function gatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, data.address);
    const from = (isInter ? root >= 0 : !inPlace) ? itemsOf(program, data) : null;
    const to = atRoot ? partsOf(program, into, layout, peers.size) : null;
    checkParts(comm, from, to);
    return new Move({ kind: "gatherv", from, to, root, inPlace });
  }

  function scatter(comm: CCommunicator, data: Given, into: Given, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, into.address);
    const takes = isInter ? root >= 0 : !inPlace;
    const from = atRoot ? itemsForEach(program, data, peers.size) : null;
    const to = takes ? itemsOf(program, into) : null;
    checkEqual(comm, to, from);
    const sent = bytesOf(from) / peers.size;
    const own = from !== null && to !== null ? { sent, room: bytesOf(to) } : null;
    return new Move({ kind: "scatter", from, to, root, inPlace, bytes: from === null ? bytesOf(to) : sent, own });
  }

  function scatterv(comm: CCommunicator, data: Given, layout: Layout, into: Given, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, into.address);
    const from = atRoot ? partsOf(program, data, layout, peers.size) : null;
    const to = (isInter ? root >= 0 : !inPlace) ? itemsOf(program, into) : null;
    checkParts(comm, to, from);
    return new Move({ kind: "scatterv", from, to, root, inPlace });
  }

  function allgather(comm: CCommunicator, data: Given, into: Given): Start {
    const { isInter, peers } = comm.core;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = itemsForEach(program, into, peers.size);
    checkEqual(comm, from, to);
    if (isInter) return new Move({ kind: "allgatherv", from, to });
    const room = bytesOf(to) / peers.size;
    const own = from === null ? null : { sent: bytesOf(from), room };
    return new Move({ kind: "allgather", from, to, inPlace, bytes: room, own });
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = partsOf(program, into, layout, comm.core.peers.size);
    checkParts(comm, from, to);
    return new Move({ kind: "allgatherv", from, to, inPlace });
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    const { isInter, peers } = comm.core;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsForEach(program, data, peers.size);
    const to = itemsForEach(program, into, peers.size);
    checkBuffers(comm, data.address, into.address, from);
    if (isInter) return new Move({ kind: "alltoallv", from, to });
    const room = bytesOf(to) / peers.size;
    const own = from === null ? null : { sent: bytesOf(from) / peers.size, room };
    return new Move({ kind: "alltoall", from, to, inPlace, bytes: room, own });
  }

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    const { size } = comm.core.peers;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : partsOf(program, data, layout, size);
    checkBuffers(comm, data.address, into.address, from);
    return new Move({ kind: "alltoallv", from, to: partsOf(program, into, intoLayout, size), inPlace });
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    const { size } = comm.core.peers;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : typedPartsOf(program, data, size);
    checkBuffers(comm, data.address, into.address, from);
    return new Move({ kind: "alltoallv", from, to: typedPartsOf(program, into, size), inPlace });
  }

  return { barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw };
}

saves({ Move });
