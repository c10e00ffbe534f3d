/**
 * The process as the executor of collectives sees it: messages by the engine, memory, reductions. Operations are plain data; they name
 * their communicator by the number of its channel.
 */
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { type CollectivePorts, shorter, underWay } from "../coll/engine/collective-ports.ts";
import { forEachSend } from "../coll/engine/compiled-schedule.ts";
import type { Operation } from "../coll/engine/operation.ts";
import { type Views, viewsOf } from "../comm/datatype/views.ts";
import { type Engine, unnumbered } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { R_BYTES, R_ERROR, R_KIND, R_STATUS_BYTES, RecordFlag, RecordKind, SendMode } from "../request/records.ts";
import type { Communicator } from "./communicator.ts";
import { freePlace } from "./free-place.ts";
import { ReductionsUnderWay } from "./reductions-under-way.ts";

const nowhere = 0 as Pointer;

export class CollectiveMessages implements CollectivePorts {
  static readonly unsaved = { views: null };
  readonly reductions = new ReductionsUnderWay();
  /** The shareable memory as kernels see it. */
  readonly views: Views;
  private readonly engine: Engine;
  private readonly memory: Memory;
  /** Communicators by channel number. */
  private readonly channels: (Communicator | null)[] = [];

  constructor(engine: Engine, memory: Memory) {
    this.engine = engine;
    this.memory = memory;
    this.views = viewsOf(memory.bytes.buffer);
  }

  /** An operation begins on the communicator: the number of its channel. */
  open(comm: Communicator): number {
    if (comm.channel < 0) comm.channel = freePlace(this.channels);
    this.channels[comm.channel] = comm;
    comm.operations++;
    return comm.channel;
  }

  /** The communicator gets no further operations: when the last one is over its channel number may be used again. */
  forget(comm: Communicator): void {
    comm.freed = true;
    if (comm.operations > 0) return;
    if (comm.channel >= 0) this.channels[comm.channel] = null;
    comm.channel = -1;
  }

  communicatorOf({ channel }: Operation): Communicator {
    return this.channels[channel]!;
  }

  /** Do the members of a communicator that is not there yet talk in its context? */
  isMaking(context: number): boolean {
    return this.channels.some((comm) => comm !== null && comm.context === context && !comm.freed);
  }

  // Ports of the executor

  begun(op: Operation): void {
    if (!this.engine.isNumbered) return;
    const comm = this.channels[op.channel]!;
    forEachSend(op.program, (peer, local) => {
      op.numbers.push(this.engine.outbox.numbers.take(rankIn(comm, peer, local)));
    });
  }

  send(op: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId {
    const comm = this.channels[op.channel]!;
    const world = rankIn(comm, peer, local);
    const from = bytes === 0 ? nowhere : this.place(pointer, offset, bytes);
    const { collectiveContext } = comm;
    const number = op.numbers.length === 0 ? unnumbered : op.numbers[op.nextNumber++]!;
    this.engine.actFor(op.request as RecordId);
    const send = this.engine.startNumbered(from, bytes, world, op.tag, collectiveContext, SendMode.STANDARD, number);
    this.engine.actForProgram();
    return send;
  }

  receive(op: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId {
    const comm = this.channels[op.channel]!;
    const world = rankIn(comm, peer, local);
    const to = bytes === 0 ? nowhere : this.place(pointer, offset, bytes);
    return this.engine.startReceive(to, bytes, world, op.tag, comm.collectiveContext);
  }

  /** A part of a lent view is lent again for its message; the engine ends that loan with the message. */
  private place(pointer: Pointer, offset: number, bytes: number): Pointer {
    if (pointer >= 0) return (pointer + offset) as Pointer;
    return this.memory.lend(this.memory.view(pointer, offset + bytes).subarray(offset));
  }

  complete(op: Operation, record: RecordId): number {
    const engine = this.engine;
    if (!engine.isComplete(record)) return underWay;
    const { records } = engine;
    const error = records.get(record, R_ERROR);
    const isShorter = records.get(record, R_STATUS_BYTES) < records.get(record, R_BYTES);
    const isReceive = records.get(record, R_KIND) === RecordKind.RECEIVE;
    // Only what is received is seen.
    if (isReceive) engine.actFor(op.request as RecordId);
    engine.giveBack(record);
    if (isReceive) engine.actForProgram();
    return error === 0 && isShorter && isReceive ? shorter : error;
  }

  cancel(record: RecordId): void {
    this.engine.records.addFlag(record, RecordFlag.UNWANTED);
    this.engine.cancel(record);
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.memory.copy(to, toOffset, from, fromOffset, bytes);
  }

  reduce(op: Operation, left: Pointer, right: Pointer, into: Pointer, bytes: number): boolean {
    const reduction = this.reductions.of(op);
    const count = bytes / reduction.elementBytes;
    const { call } = reduction;
    if (call !== undefined) {
      this.reductions.ask({ operation: op.id, call, left, right, into, count, bytes });
      return false;
    }
    reduction.apply(this.views, left, right, into, count);
    return true;
  }

  allocate(bytes: number): Pointer {
    return this.memory.allocate(bytes);
  }

  free(pointer: Pointer): void {
    this.memory.free(pointer);
  }

  finished(op: Operation, error: number): void {
    this.reductions.remove(op);
    const comm = this.channels[op.channel]!;
    if (--comm.operations === 0 && comm.freed) this.forget(comm);
    this.engine.completion.complete(op.request as RecordId, error);
  }
}

/** `isLocal`: of this process's own group of an inter-communicator. */
export const rankIn = (comm: Communicator, peer: number, isLocal: boolean): WorldRank =>
  (isLocal ? comm.group : comm.peers).worldRank(peer as CommRank);

lives({ CollectiveMessages });
