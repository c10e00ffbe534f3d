/** Starts of the collectives that only move data: MPI 5.0 §6.3 to §6.8. */
import type { Pointer } from "../core/base/brand.ts";
import { PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { saves } from "../core/base/saved-classes.ts";
import type { Collective } from "../core/coll/plan.ts";
import type { InterCollective } from "../core/coll/plan-inter.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import type { Blocks } from "../core/coll/schedule.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { checkApart } from "./buffers.ts";
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
import type { CCommunicator, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Items, type Parts, Settle, Side } from "./side.ts";

const nowhere = 0 as Pointer;

/** What a collective moves, from here and to here. */
interface Movement {
  readonly from: Parts;
  readonly to: Parts;
  readonly root?: number;
  readonly inPlace?: boolean;
}

type EqualKind = "barrier" | "gather" | "scatter" | "allgather" | "alltoall";

/** Every peer has as many bytes. */
class EqualMove implements Start {
  private readonly kind: EqualKind;
  private readonly movement: Movement;
  /** Of one peer. */
  private readonly bytes: number;
  /** Of the part that this rank gives to itself, as long as it says on either side; null: there is none. */
  private readonly own: { readonly sent: number; readonly room: number } | null;

  constructor(kind: EqualKind, movement: Movement, bytes: number, own: { sent: number; room: number } | null = null) {
    this.kind = kind;
    this.movement = movement;
    this.bytes = bytes;
    this.own = own;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const { own } = this;
    if (own !== null && own.sent !== own.room) {
      this.beginUnequal(program, request, tag, own.sent, own.room);
      return;
    }
    const { from, to, root = 0, inPlace = false } = this.movement;
    const sent = Side.of(program, from, true);
    const received = Side.of(program, to, inPlace);
    request.after = new Settle(sent, received);
    const { operations } = program;
    const call = { bytes: this.bytes, root, inPlace, tag };
    request.record = operations.startEqual(request.comm.core, this.kind, sent.pointer, received.pointer, call);
  }

  /**
   * The two sides of this rank do not match. Its own part is moved here, as far as it fits; the collective runs in place, with
   * the length that the others see.
   */
  private beginUnequal(program: Program, request: CRequest, tag: number | undefined, own: number, room: number): void {
    const { from, to, root = 0 } = this.movement;
    const { kind, bytes } = this;
    const { core } = request.comm;
    const { memory } = program;
    const given = Side.of(program, from, true);
    const received = Side.of(program, to, true);
    const isExchange = kind === "alltoall";
    const sent = isExchange ? Side.refitted(program, given, core.size, own, room) : given;
    if (isExchange) given.end(program);
    else {
      const to = kind === "scatter" ? 0 : core.rank * room;
      memory.copy(received.pointer, to, sent.pointer, kind === "scatter" ? core.rank * own : 0, Math.min(own, room));
    }
    request.after = new Settle(sent, received);
    const error = own > room ? ErrorClass.TRUNCATE : ErrorClass.SUCCESS;
    const call = { bytes, root, inPlace: !isExchange, tag, error };
    const { operations } = program;
    request.record = operations.startEqual(core, kind, sent.pointer, received.pointer, call);
  }
}

class Bcast implements Start {
  private readonly items: Items | null;
  private readonly root: number;
  private readonly holds: boolean;

  constructor(items: Items | null, root: number, holds: boolean) {
    this.items = items;
    this.root = root;
    this.holds = holds;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const side = Side.of(program, this.items, this.holds);
    request.after = this.holds ? new Settle(side, Side.nothing) : new Settle(Side.nothing, side);
    const call = { bytes: side.bytes, root: this.root, tag };
    const { operations } = program;
    request.record = operations.startEqual(request.comm.core, "bcast", nowhere, side.pointer, call);
  }
}

/** Every peer has bytes of its own. */
class PartsMove implements Start {
  private readonly kind: "gatherv" | "scatterv" | "allgatherv" | "alltoallv";
  private readonly movement: Movement;

  constructor(kind: "gatherv" | "scatterv" | "allgatherv" | "alltoallv", movement: Movement) {
    this.kind = kind;
    this.movement = movement;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const { core } = request.comm;
    const given = Side.of(program, this.movement.from, true);
    const received = Side.of(program, this.movement.to, this.movement.inPlace ?? false);
    const own = core.isInter ? null : this.ownPart(core.rank, given, received);
    const collective = this.collective(core, given, received);
    // The others expect as much of us as we have room for ourselves.
    const isTooShort = this.kind === "allgatherv" && own !== null && own.sent < own.room;
    const sent = isTooShort ? Side.refitted(program, given, 1, own.sent, own.room) : given;
    if (isTooShort) given.end(program);
    request.after = new Settle(sent, received);
    const error = own !== null && own.sent > own.room ? ErrorClass.TRUNCATE : ErrorClass.SUCCESS;
    const { operations } = program;
    request.record = operations.startBlocks(core, collective, sent.pointer, received.pointer, null, tag, error);
  }

  /** Of the part that this rank gives to itself: how long it is, and how much room there is; null: there is none. */
  private ownPart(rank: number, sent: Side, received: Side): { sent: number; room: number } | null {
    const { from, to } = this.movement;
    if (from === null || to === null) return null;
    const bytes = (side: Side, parts: Parts): number => (Array.isArray(parts) ? side.blocks.bytes[rank]! : side.bytes);
    return { sent: bytes(sent, from), room: bytes(received, to) };
  }

  private collective(core: Communicator, sent: Side, received: Side): Collective | InterCollective {
    const { kind } = this;
    const { from, to, root = 0, inPlace = false } = this.movement;
    const { place } = core;
    const blocks = (side: Side, parts: Parts): Blocks =>
      Array.isArray(parts) ? side.blocks : equalBlocks(core.peers.size, side.bytes / core.peers.size);
    switch (kind) {
      case "gatherv":
        return { kind, ...place, root, bytes: sent.bytes, blocks: to === null ? undefined : received.blocks, inPlace };
      case "scatterv":
        return {
          kind,
          ...place,
          root,
          bytes: received.bytes,
          blocks: from === null ? undefined : sent.blocks,
          inPlace,
        };
      case "allgatherv":
        return { kind, ...place, bytes: sent.bytes, blocks: blocks(received, to), inPlace, nodes: core.memberNodes };
      case "alltoallv": {
        const receives = blocks(received, to);
        return { kind, ...place, sends: inPlace ? receives : blocks(sent, from), receives, inPlace };
      }
    }
  }
}

const bytesOf = (items: Items | null): number => (items === null ? 0 : items.type.size * items.count);

export function movement(program: Program) {
  /** `whole` is for all ranks, as many items for each; `part` must be neither it nor this rank's own part of it. */
  function checkEqual({ core }: CCommunicator, part: Items | null, whole: Items | null): void {
    if (core.isInter || part === null || whole === null || bytesOf(part) === 0) return;
    checkApart(program, part.address, whole.address);
    checkApart(program, part.address, whole.address + ((core.rank * whole.count) / core.size) * whole.type.extent);
  }

  /** The same where every rank has items of its own. */
  function checkParts({ core }: CCommunicator, part: Items | null, whole: readonly Items[] | null): void {
    if (core.isInter || part === null || whole === null || bytesOf(part) === 0) return;
    checkApart(program, part.address, whole[core.rank]!.address);
  }

  /** Both are for all ranks. MPI_BOTTOM is no buffer. */
  function checkBuffers({ core }: CCommunicator, from: number, to: number, parts: Parts): void {
    const isEmpty = [parts ?? []].flat().every((items) => bytesOf(items) === 0);
    if (!core.isInter && from !== 0 && !isEmpty) checkApart(program, from, to);
  }

  const barrier = (): Start => new EqualMove("barrier", { from: null, to: null }, 0);

  function bcast(comm: CCommunicator, data: Given, root: number): Start {
    const holds = isRoot(comm, root);
    return new Bcast(root === PROC_NULL ? null : itemsOf(program, data), root, holds);
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
    return new EqualMove("gather", { from, to, root, inPlace }, to === null ? bytesOf(from) : room, own);
  }

  function gatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, data.address);
    const from = (isInter ? root >= 0 : !inPlace) ? itemsOf(program, data) : null;
    const to = atRoot ? partsOf(program, into, layout, peers.size) : null;
    checkParts(comm, from, to);
    return new PartsMove("gatherv", { from, to, root, inPlace });
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
    return new EqualMove("scatter", { from, to, root, inPlace }, from === null ? bytesOf(to) : sent, own);
  }

  function scatterv(comm: CCommunicator, data: Given, layout: Layout, into: Given, root: number): Start {
    const { isInter, peers } = comm.core;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, into.address);
    const from = atRoot ? partsOf(program, data, layout, peers.size) : null;
    const to = (isInter ? root >= 0 : !inPlace) ? itemsOf(program, into) : null;
    checkParts(comm, to, from);
    return new PartsMove("scatterv", { from, to, root, inPlace });
  }

  function allgather(comm: CCommunicator, data: Given, into: Given): Start {
    const { isInter, peers } = comm.core;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = itemsForEach(program, into, peers.size);
    checkEqual(comm, from, to);
    if (isInter) return new PartsMove("allgatherv", { from, to });
    const room = bytesOf(to) / peers.size;
    const own = from === null ? null : { sent: bytesOf(from), room };
    return new EqualMove("allgather", { from, to, inPlace }, room, own);
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = partsOf(program, into, layout, comm.core.peers.size);
    checkParts(comm, from, to);
    return new PartsMove("allgatherv", { from, to, inPlace });
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    const { isInter, peers } = comm.core;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsForEach(program, data, peers.size);
    const to = itemsForEach(program, into, peers.size);
    checkBuffers(comm, data.address, into.address, from);
    if (isInter) return new PartsMove("alltoallv", { from, to });
    const room = bytesOf(to) / peers.size;
    const own = from === null ? null : { sent: bytesOf(from) / peers.size, room };
    return new EqualMove("alltoall", { from, to, inPlace }, room, own);
  }

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    const { size } = comm.core.peers;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : partsOf(program, data, layout, size);
    checkBuffers(comm, data.address, into.address, from);
    return new PartsMove("alltoallv", { from, to: partsOf(program, into, intoLayout, size), inPlace });
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    const { size } = comm.core.peers;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : typedPartsOf(program, data, size);
    checkBuffers(comm, data.address, into.address, from);
    return new PartsMove("alltoallv", { from, to: typedPartsOf(program, into, size), inPlace });
  }

  return { barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw };
}

saves({ EqualMove, Bcast, PartsMove });
