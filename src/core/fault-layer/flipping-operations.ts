/**
 * Operations of a process whose messages lose bits on their way (thesis §5.4): whatever it gives away, in messages and into collectives, flips with the
 * same probability for each bit. The program's own memory stays as it is: a message that is hit is sent from a copy. Only a collective that
 * works in place has its operands changed where they are, and puts its result there anyhow.
 *
 * It stands below the fault-simulation layer, whose own words are not hit.
 */
import { BitFlips } from "../base/bit-flips.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { PROC_NULL, ROOT } from "../base/constants.ts";
import type { Leftover } from "../binding/finish-later.ts";
import type { Operations } from "../binding/operations.ts";
import { PassingOperations } from "../binding/passing-operations.ts";
import { sum } from "../coll/engine/rounds.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import { Draws } from "../fault/draws.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Memory } from "../request/memory.ts";
import type { SendMode } from "../request/records.ts";

/** Names these draws: those that decide of deaths have lower numbers. */
const flipsDraw = 1 << 20;

/** The same seed and rank flip the same bits of the same messages. */
export function seededFlips(probability: number, seed: number, rank: number): BitFlips {
  const draws = new Draws(seed, rank, flipsDraw);
  return new BitFlips(probability, () => draws.unit());
}

/** A run of bytes that a process gives away. */
interface Piece {
  readonly offset: number;
  readonly bytes: number;
}

/** What a process gives into a collective, and in which of its buffers that is. */
interface Contribution {
  /** "broadcast": in the buffer of a broadcast, at its root, which keeps what it has. */
  readonly buffer: "send" | "receive" | "broadcast";
  readonly pieces: readonly Piece[];
}

interface Buffers {
  readonly send: Pointer;
  readonly receive: Pointer;
  /** To be freed when the operation is over; null: there is none. */
  readonly copy: Pointer | null;
}

export class FlippingOperations extends PassingOperations {
  readonly #memory: Memory;
  readonly #flips: BitFlips;
  readonly #copies = new Map<RecordId, Pointer>();
  readonly #ended: (flips: number) => void;

  /** `ended` is called when the process comes to its end, with the number of flips. */
  constructor(base: Operations, memory: Memory, flips: BitFlips, ended: (flips: number) => void = () => {}) {
    super(base);
    this.#memory = memory;
    this.#flips = flips;
    this.#ended = ended;
  }

  // Messages

  override sendNow(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): boolean {
    if (this.#flips.isNear(bytes)) return false;
    const hasLeft = this.base.sendNow(comm, from, bytes, dest, tag);
    if (hasLeft) this.#flips.pass(bytes);
    return hasLeft;
  }

  override startSend(
    comm: Communicator,
    from: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    mode: SendMode,
  ): RecordId {
    const copy = dest === PROC_NULL ? null : this.#flippedCopy(from, [{ offset: 0, bytes }]);
    return this.#keep(this.base.startSend(comm, copy ?? from, bytes, dest, tag, mode), copy);
  }

  override startPartitionedSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): RecordId {
    const copy = dest === PROC_NULL ? null : this.#flippedCopy(from, [{ offset: 0, bytes }]);
    return this.#keep(this.base.startPartitionedSend(comm, copy ?? from, bytes, dest, tag), copy);
  }

  // Collectives

  override startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    const buffers = this.#flipped(contributionTo(comm, kind, call), send, receive);
    return this.#keep(this.base.startEqual(comm, kind, buffers.send, buffers.receive, call), buffers.copy);
  }

  override startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    const buffers = this.#flipped(contributionTo(comm, kind, call), send, receive);
    const request = this.base.startReduction(comm, kind, buffers.send, buffers.receive, call, reduction);
    return this.#keep(request, buffers.copy);
  }

  override startBlocks(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null,
    form: CollectiveForm,
    error = 0,
  ): RecordId {
    const buffers = this.#flipped(contributionOfBlocks(comm, collective), send, receive);
    const request = this.base.startBlocks(comm, collective, buffers.send, buffers.receive, reduction, form, error);
    return this.#keep(request, buffers.copy);
  }

  override startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    const pieces =
      collective.kind === "neighbor_alltoallv" ? piecesOf(collective.sends) : [{ offset: 0, bytes: collective.bytes }];
    const buffers = this.#flipped({ buffer: "send", pieces }, send, receive);
    return this.#keep(this.base.startNeighbor(comm, collective, buffers.send, receive, form), buffers.copy);
  }

  /** The buffers with which the base shall begin. */
  #flipped({ buffer, pieces }: Contribution, send: Pointer, receive: Pointer): Buffers {
    if (buffer === "send") {
      const copy = this.#flippedCopy(send, pieces);
      return { send: copy ?? send, receive, copy };
    }
    if (buffer === "broadcast") {
      const copy = this.#flippedCopy(receive, pieces);
      return { send, receive: copy ?? receive, copy };
    }
    for (const { offset, bytes } of pieces) {
      if (!this.#flips.isNear(bytes)) this.#flips.pass(bytes);
      else this.#flips.flip(this.#memory.view(receive, offset + bytes).subarray(offset));
    }
    return { send, receive, copy: null };
  }

  /** Null: none of the pieces has a flip. */
  #flippedCopy(from: Pointer, pieces: readonly Piece[]): Pointer | null {
    const flips = this.#flips;
    const total = sum(pieces.map(({ bytes }) => bytes));
    if (!flips.isNear(total)) {
      flips.pass(total);
      return null;
    }
    const length = Math.max(...pieces.map(({ offset, bytes }) => offset + bytes));
    const copy = this.#memory.allocate(length);
    this.#memory.copy(copy, 0, from, 0, length);
    const view = this.#memory.view(copy, length);
    for (const { offset, bytes } of pieces) flips.flip(view.subarray(offset, offset + bytes));
    return copy;
  }

  // Ends

  #keep(request: RecordId, copy: Pointer | null): RecordId {
    if (copy !== null) this.#copies.set(request, copy);
    return request;
  }

  #release(request: RecordId): void {
    const copy = this.#copies.get(request);
    if (copy === undefined) return;
    this.#copies.delete(request);
    this.#memory.free(copy);
  }

  override end(request: RecordId): void {
    this.#release(request);
    this.base.end(request);
  }

  override abandon(request: RecordId): void {
    if (this.#copies.has(request)) this.finishLater(request, { finish: () => {} });
    else this.base.abandon(request);
  }

  override finishLater(request: RecordId, leftover: Leftover): void {
    const copy = this.#copies.get(request);
    if (copy === undefined) {
      this.base.finishLater(request, leftover);
      return;
    }
    this.#copies.delete(request);
    this.base.finishLater(request, {
      finish: (bytes, error) => {
        this.#memory.free(copy);
        leftover.finish(bytes, error);
      },
    });
  }

  override startFinalBarrier(): RecordId {
    this.#ended(this.#flips.count);
    return this.base.startFinalBarrier();
  }
}

const nothing: Contribution = { buffer: "send", pieces: [] };
const whole = (buffer: Contribution["buffer"], bytes: number, offset = 0): Contribution => ({
  buffer,
  pieces: [{ offset, bytes }],
});
const piecesOf = (blocks: { readonly bytes: readonly number[]; readonly offsets: readonly number[] }): Piece[] =>
  blocks.bytes.map((bytes, i) => ({ offset: blocks.offsets[i]!, bytes }));

/** Of collectives whose blocks are equal. */
function contributionTo(
  comm: Communicator,
  kind: EqualKind | ReductionKind,
  { bytes = 0, root = 0, inPlace = false }: EqualCall,
): Contribution {
  const isRoot = comm.isInter ? root === ROOT : comm.rank === root;
  const isGiver = !comm.isInter || root >= 0;
  const buffer = inPlace ? "receive" : "send";
  switch (kind) {
    case "barrier":
      return nothing;
    case "bcast":
      return isRoot ? whole("broadcast", bytes) : nothing;
    case "gather":
      return !isGiver || (inPlace && isRoot) ? nothing : whole("send", bytes);
    case "scatter":
      return isRoot ? whole("send", comm.peers.size * bytes) : nothing;
    case "allgather":
      return inPlace ? whole("receive", bytes, comm.rank * bytes) : whole("send", bytes);
    case "alltoall":
    case "reduce_scatter_block":
      return whole(buffer, comm.peers.size * bytes);
    case "reduce":
      return isGiver ? whole(buffer, bytes) : nothing;
    default:
      return whole(buffer, bytes);
  }
}

/** Of those with blocks of their own size. Operands that lie in the place of the result are left alone. */
function contributionOfBlocks(comm: Communicator, collective: Collective | InterCollective): Contribution {
  if ("inPlace" in collective && collective.inPlace === true) return nothing;
  switch (collective.kind) {
    case "scatterv":
      return collective.blocks === undefined ? nothing : { buffer: "send", pieces: piecesOf(collective.blocks) };
    case "alltoallv":
      return { buffer: "send", pieces: piecesOf(collective.sends) };
    case "reduce_scatter":
      return whole("send", sum(collective.segments));
    case "allgatherv":
      return whole(
        "send",
        "bytes" in collective ? (collective.bytes as number) : (collective.blocks.bytes[comm.rank] ?? 0),
      );
    case "barrier":
      return nothing;
    case "bcast":
    case "gather":
    case "scatter":
    case "allgather":
    case "alltoall":
    case "reduce":
    case "allreduce":
    case "reduce_scatter_block":
    case "scan":
    case "exscan":
      return contributionTo(comm, collective.kind, collective);
    case "gatherv":
      return "root" in collective && collective.root < 0 ? nothing : whole("send", collective.bytes);
  }
}
