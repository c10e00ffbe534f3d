/**
 * Collectives that only move data (MPI 5.0 §6.3 to §6.8, §8.6), as plain data: the two sides of this rank, and the lengths. Faces make a
 * `Movement` of their arguments (movement-arguments.ts); a persistent collective begins the same one again and again.
 */
import type { RecordId } from "../base/brand.ts";
import { PROC_NULL } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { equalBlocks } from "../coll/engine/rounds.ts";
import type { Blocks } from "../coll/engine/schedule.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Neighbourhood } from "../coll/intra/neighbor-direct.ts";
import type { Collective } from "../coll/plan.ts";
import type { CollectiveForm } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import { type Ground, type Items, isList, type Parts, Side } from "./collective-side.ts";
import type { Operations } from "./operations.ts";

/** Bytes of the part that a rank gives to itself, as long as it says on either side. */
interface OwnPart {
  readonly sent: number;
  readonly room: number;
}

interface Sides<I extends Items> {
  readonly from: Parts<I>;
  readonly to: Parts<I>;
}

/** Every peer has as many bytes. */
interface EqualMovement<I extends Items> extends Sides<I> {
  readonly kind: "barrier" | "gather" | "scatter" | "allgather" | "alltoall";
  /** Of one peer. */
  readonly bytes: number;
  readonly root?: number;
  readonly inPlace?: boolean;
  /** Null: there is none, or the two are known to be equal. */
  readonly own?: OwnPart | null;
}

interface Broadcast<I extends Items> {
  readonly kind: "bcast";
  readonly items: I | null;
  readonly root: number;
  /** Is this rank the root? */
  readonly holds: boolean;
}

/** Every peer has bytes of its own. */
interface PartsMovement<I extends Items> extends Sides<I> {
  readonly kind: "gatherv" | "scatterv" | "allgatherv" | "alltoallv";
  readonly root?: number;
  readonly inPlace?: boolean;
}

/** To and from all neighbours: parts of any length, or items side by side, as many for each. */
interface NeighborMovement<I extends Items> extends Sides<I> {
  readonly kind: NeighborCollective["kind"];
  readonly hood: Neighbourhood;
}

export type Movement<I extends Items> = EqualMovement<I> | Broadcast<I> | PartsMovement<I> | NeighborMovement<I>;

/** A movement under way: `settle` (collective-side.ts) ends its sides. */
export interface Moving<I extends Items> {
  readonly record: RecordId;
  readonly sent: Side<I>;
  readonly received: Side<I>;
}

/** Begins movements of one program. */
export class Mover<I extends Items> {
  private readonly operations: Operations;
  private readonly ground: Ground<I>;

  constructor(operations: Operations, ground: Ground<I>) {
    this.operations = operations;
    this.ground = ground;
  }

  begin(comm: Communicator, movement: Movement<I>, form: CollectiveForm): Moving<I> {
    switch (movement.kind) {
      case "bcast":
        return this.broadcast(comm, movement, form);
      case "gatherv":
      case "scatterv":
      case "allgatherv":
      case "alltoallv":
        return this.parts(comm, movement, form);
      case "neighbor_allgatherv":
      case "neighbor_alltoallv":
        return this.neighbors(comm, movement, form);
      default:
        return this.equal(comm, movement, form);
    }
  }

  private equal(comm: Communicator, movement: EqualMovement<I>, form: CollectiveForm): Moving<I> {
    const { kind, from, to, bytes, root = 0, inPlace = false, own = null } = movement;
    if (own !== null && own.sent !== own.room) return this.unequal(comm, movement, own, form);
    const sent = Side.of(this.ground, from, true);
    const received = Side.of(this.ground, to, inPlace);
    const call = { bytes, root, inPlace, form };
    const record = this.operations.startEqual(comm, kind, sent.pointer, received.pointer, call);
    return { record, sent, received };
  }

  /**
   * The two sides of this rank do not match. Its own part is moved here, as far as it fits; the collective runs in place, with
   * the length that the others see.
   */
  private unequal(comm: Communicator, movement: EqualMovement<I>, own: OwnPart, form: CollectiveForm): Moving<I> {
    const { kind, from, to, bytes, root = 0 } = movement;
    const { ground } = this;
    const given = Side.of(ground, from, true);
    const received = Side.of(ground, to, true);
    const isExchange = kind === "alltoall";
    const sent = isExchange ? Side.refitted(ground, given, comm.size, own.sent, own.room) : given;
    if (isExchange) given.end(ground, false);
    else {
      const [at, source] = kind === "scatter" ? [0, comm.rank * own.sent] : [comm.rank * own.room, 0];
      ground.memory.copy(received.pointer, at, sent.pointer, source, Math.min(own.sent, own.room));
    }
    const error = own.sent > own.room ? ErrorClass.TRUNCATE : ErrorClass.SUCCESS;
    const call = { bytes, root, inPlace: !isExchange, form, error };
    const record = this.operations.startEqual(comm, kind, sent.pointer, received.pointer, call);
    return { record, sent, received };
  }

  private broadcast(comm: Communicator, { items, root, holds }: Broadcast<I>, form: CollectiveForm): Moving<I> {
    const side = Side.of(this.ground, items, holds);
    const call = { bytes: side.bytes, root, form };
    const record = this.operations.startEqual(comm, "bcast", Side.nothing.pointer, side.pointer, call);
    return holds ? { record, sent: side, received: Side.nothing } : { record, sent: Side.nothing, received: side };
  }

  private parts(comm: Communicator, movement: PartsMovement<I>, form: CollectiveForm): Moving<I> {
    const { ground } = this;
    const given = Side.of(ground, movement.from, true);
    const received = Side.of(ground, movement.to, movement.inPlace ?? false);
    const own = comm.isInter ? null : ownPart(comm.rank, movement, given, received);
    const collective = collectiveOf(comm, movement, given, received);
    // The others expect as much of us as we have room for ourselves.
    const isTooShort = movement.kind === "allgatherv" && own !== null && own.sent < own.room;
    const sent = isTooShort ? Side.refitted(ground, given, 1, own.sent, own.room) : given;
    if (isTooShort) given.end(ground, false);
    const error = own !== null && own.sent > own.room ? ErrorClass.TRUNCATE : ErrorClass.SUCCESS;
    const record = this.operations.startBlocks(comm, collective, sent.pointer, received.pointer, null, form, error);
    return { record, sent, received };
  }

  private neighbors(comm: Communicator, movement: NeighborMovement<I>, form: CollectiveForm): Moving<I> {
    const { kind, hood, from, to } = movement;
    const sent = Side.of(this.ground, from, true);
    // What PROC_NULL leaves as it was must survive in scratch memory.
    const received = Side.of(this.ground, to, hood.sources.includes(PROC_NULL));
    const receives = neighborBlocks(received, to, hood.sources.length);
    const collective: NeighborCollective =
      kind === "neighbor_allgatherv"
        ? { kind, ...hood, bytes: sent.bytes, receives }
        : { kind, ...hood, sends: neighborBlocks(sent, from, hood.destinations.length), receives };
    const record = this.operations.startNeighbor(comm, collective, sent.pointer, received.pointer, form);
    return { record, sent, received };
  }
}

/** Null: the rank gives itself nothing. */
function ownPart<I extends Items>(
  rank: number,
  { from, to }: PartsMovement<I>,
  sent: Side<I>,
  received: Side<I>,
): OwnPart | null {
  if (from === null || to === null) return null;
  const bytes = (side: Side<I>, parts: Parts<I>): number => (isList(parts) ? side.blocks.bytes[rank]! : side.bytes);
  return { sent: bytes(sent, from), room: bytes(received, to) };
}

function collectiveOf<I extends Items>(
  comm: Communicator,
  { kind, from, to, root = 0, inPlace = false }: PartsMovement<I>,
  sent: Side<I>,
  received: Side<I>,
): Collective | InterCollective {
  const { place, peers } = comm;
  const blocks = (side: Side<I>, parts: Parts<I>): Blocks =>
    isList(parts) ? side.blocks : equalBlocks(peers.size, side.bytes / peers.size);
  switch (kind) {
    case "gatherv":
      return { kind, ...place, root, bytes: sent.bytes, blocks: to === null ? undefined : received.blocks, inPlace };
    case "scatterv":
      return { kind, ...place, root, bytes: received.bytes, blocks: from === null ? undefined : sent.blocks, inPlace };
    case "allgatherv":
      return { kind, ...place, bytes: sent.bytes, blocks: blocks(received, to), inPlace, nodes: comm.memberNodes };
    case "alltoallv": {
      const receives = blocks(received, to);
      return { kind, ...place, sends: inPlace ? receives : blocks(sent, from), receives, inPlace };
    }
  }
}

const neighborBlocks = <I extends Items>(side: Side<I>, parts: Parts<I>, neighbours: number): Blocks =>
  isList(parts) ? side.blocks : equalBlocks(neighbours, side.bytes / Math.max(neighbours, 1));
