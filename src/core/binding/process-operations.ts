/** `Operations` on a process and the waits of its world, with nothing in between. */
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../base/constants.ts";
import { kindCode, unlike } from "../coll/engine/collective-call.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import type { Group } from "../comm/group.ts";
import { AwaitedChoices, waitThrough } from "../ft/awaited-choices.ts";
import type { Choices } from "../ft/choices.ts";
import { PerformedChoices } from "../ft/performed-choices.ts";
import type { Engine } from "../p2p/engine.ts";
import { foldOnBoard } from "../process/board-fold.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Collectives } from "../process/collectives.ts";
import type { Communicator } from "../process/communicator.ts";
import { partitionedContext } from "../process/context.ts";
import type { Process } from "../process/process.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Asked } from "../process/reductions-under-way.ts";
import type { Task } from "../process/task.ts";
import {
  R_BYTES,
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_PEER,
  R_POINTER,
  R_SEQUENCE,
  R_STATE,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  R_TAG,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  SendMode,
} from "../request/records.ts";
import { FinishLater, type Leftover } from "./finish-later.ts";
import type { MessageOutcome, Operations } from "./operations.ts";
import type { Waits } from "./world.ts";

const worldRank = (comm: Communicator, rank: number): number =>
  rank === ANY_SOURCE ? ANY_SOURCE : comm.peers.worldRank(rank as CommRank);

/** One of the processes that play a rank reads a clock for all of them. Null: each reads its own. */
function sharedClocks(waits: Waits): Choices | null {
  const { protocol } = waits.process;
  if (protocol === null || !protocol.sharesClocks || protocol.operations === null) return null;
  return new PerformedChoices(protocol.operations, (isOver) => {
    waitThrough((over) => waits.waitUntil(over), isOver);
  });
}

export class ProcessOperations implements Operations {
  private readonly waits: Waits;
  private readonly process: Process;
  private readonly engine: Engine;
  private readonly records: Records;
  private readonly collectives: Collectives;
  readonly choices: Choices | null;
  readonly clocks: Choices | null;
  readonly simulatedDeath = null;
  readonly hasShortWay = true;

  constructor(waits: Waits) {
    const { process } = waits;
    this.waits = waits;
    this.process = process;
    this.engine = process.engine;
    this.records = process.engine.records;
    this.collectives = process.collectives;
    const { choices } = process;
    this.choices = choices === null ? null : new AwaitedChoices(choices, (isOver) => waits.waitUntil(isOver));
    this.clocks = this.choices ?? sharedClocks(waits);
  }

  sendNow(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): boolean {
    return this.engine.sendNow(from, bytes, comm.peers.worldRank(dest as CommRank), tag, comm.context);
  }

  startSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number, mode: SendMode): RecordId {
    return this.process.startSend(comm, from, bytes, dest, tag, mode);
  }

  receiveNow(comm: Communicator, to: Pointer, room: number, source: number, tag: number): number {
    return this.waits.receiveNow(to, room, worldRank(comm, source), tag, comm.context);
  }

  lastSource(comm: Communicator): number {
    return comm.peers.rankOf(this.engine.lastSource as WorldRank);
  }

  get lastTag(): number {
    return this.engine.lastTag;
  }

  get lastBytes(): number {
    return this.engine.lastBytes;
  }

  get lastError(): number {
    return this.engine.lastError;
  }

  startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    return this.process.startReceive(comm, to, room, source, tag);
  }

  startReceived(comm: Communicator, source: number, tag: number, bytes: number): RecordId {
    const request = this.complete(RecordKind.RECEIVE);
    const { records } = this;
    records.put(request, R_STATUS_SOURCE, source === PROC_NULL ? PROC_NULL : worldRank(comm, source));
    records.put(request, R_STATUS_TAG, tag);
    records.put(request, R_STATUS_BYTES, bytes);
    if (source !== PROC_NULL) this.engine.receivedElsewhere(request, comm.context);
    return request;
  }

  startSent(): RecordId {
    return this.complete(RecordKind.SEND);
  }

  private complete(kind: RecordKind): RecordId {
    const { records } = this;
    const request = records.take(kind);
    records.put(request, R_POINTER, 0);
    records.put(request, R_STATE, RecordState.COMPLETE);
    return request;
  }

  startHeld(comm: Communicator): RecordId {
    return this.engine.startHeld(partitionedContext(comm.context));
  }

  endHeld(request: RecordId): void {
    this.engine.giveBack(request);
  }

  startPartitionedSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): RecordId {
    if (dest === PROC_NULL) return this.process.startSend(comm, from, bytes, dest, 0, SendMode.STANDARD);
    const context = partitionedContext(comm.context);
    return this.engine.startSend(from, bytes, worldRank(comm, dest), tag, context, SendMode.STANDARD);
  }

  startPartitionedReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    if (source === PROC_NULL) return this.process.startReceive(comm, to, 0, source, 0);
    return this.engine.startReceive(to, room, worldRank(comm, source), tag, partitionedContext(comm.context));
  }

  probe(comm: Communicator, source: number, tag: number): RecordId {
    return this.engine.probe(worldRank(comm, source), tag, comm.context);
  }

  probeError(comm: Communicator, source: number): number {
    return this.process.failures.errorOfProbe(comm, source);
  }

  messageNumber(envelope: RecordId): readonly [source: number, number: number] {
    return [this.records.get(envelope, R_PEER), this.records.get(envelope, R_SEQUENCE)];
  }

  numberedMessage(source: number, number: number): RecordId {
    return this.engine.envelopes.of(source, number);
  }

  readEnvelope(comm: Communicator, envelope: RecordId, into: MessageOutcome): void {
    const { records } = this;
    into.source = comm.peers.rankOf(records.get(envelope, R_PEER) as WorldRank);
    into.tag = records.get(envelope, R_TAG);
    into.bytes = records.get(envelope, R_BYTES);
  }

  setAside(envelope: RecordId): void {
    this.engine.setAside(envelope);
  }

  startMatchedReceive(to: Pointer, room: number, envelope: RecordId): RecordId {
    return this.engine.startMatchedReceive(to, room, envelope);
  }

  startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    return this.collectives.startEqual(comm, kind, send, receive, call);
  }

  startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    return this.collectives.startReduction(comm, kind, send, receive, call, reduction);
  }

  startBlocks(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null,
    form: CollectiveForm,
    error = 0,
  ): RecordId {
    return this.collectives.start(comm, collective, send, receive, reduction, form, error);
  }

  startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    return this.collectives.startNeighbor(comm, collective, send, receive, form);
  }

  meet(comm: Communicator, reduction: Reduction | null, bytes: number): boolean {
    const board = comm.board!;
    this.engine.meeting();
    if (reduction === null) comm.nextCollective(kindCode.barrier, unlike, unlike);
    else comm.nextCollective(kindCode.allreduce, unlike, bytes);
    if (!board.arrive()) return false;
    if (reduction !== null) foldOnBoard(comm, board, reduction, bytes);
    board.open();
    return true;
  }

  refuse(comm: Communicator): void {
    this.process.inquiries.refuse(comm);
  }

  combine(reduction: Reduction, left: Pointer, right: Pointer, into: Pointer, count: number): void {
    this.collectives.combine(reduction, left, right, into, count);
  }

  get programReductions(): number {
    return this.collectives.programOperations;
  }

  get asked(): Asked | null {
    return this.collectives.asked;
  }

  takeAsked(): Asked {
    return this.collectives.takeAsked();
  }

  answered(asked: Asked): void {
    this.collectives.answered(asked);
  }

  startTask(task: Task): RecordId {
    return this.process.start(task);
  }

  startFinalBarrier(): RecordId {
    return this.process.startFinalBarrier();
  }

  startOwn(): RecordId {
    const { records } = this;
    const request = records.take(RecordKind.OPERATION);
    records.put(request, R_POINTER, 0);
    records.put(request, R_STATE, RecordState.ACTIVE);
    return request;
  }

  completeOwn(request: RecordId, bytes = 0): void {
    const { records } = this;
    records.put(request, R_STATUS_SOURCE, ANY_SOURCE);
    records.put(request, R_STATUS_TAG, ANY_TAG);
    records.put(request, R_STATUS_BYTES, bytes);
    this.engine.completion.complete(request, 0);
  }

  failOwn(request: RecordId, error: number): void {
    this.records.put(request, R_ERROR, error);
  }

  freeCommunicator(comm: Communicator): void {
    this.process.freeCommunicator(comm);
  }

  isUsing(comm: Communicator): boolean {
    return this.process.isUsing(comm);
  }

  disconnect(comm: Communicator): void {
    this.process.disconnect(comm);
  }

  revoke(comm: Communicator): void {
    this.process.revocations.revoke(comm);
  }

  isRevoked(comm: Communicator): boolean {
    return comm.isRevoked;
  }

  get deaths(): number {
    return this.process.failures.count;
  }

  failedOf(comm: Communicator): Group {
    return this.process.failures.of(comm);
  }

  acknowledge(comm: Communicator, count: number): number {
    return this.process.failures.acknowledge(comm, count);
  }

  acknowledgedOf(comm: Communicator): Group {
    return this.process.failures.acknowledgedOf(comm);
  }

  isComplete(request: RecordId): boolean {
    return this.engine.isComplete(request);
  }

  show(request: RecordId): void {
    this.engine.completion.show(request);
  }

  errorOf(request: RecordId): number {
    return this.records.get(request, R_ERROR);
  }

  isStalled(request: RecordId): boolean {
    return this.process.engine.matching.isStalled(request);
  }

  bytesOf(request: RecordId): number {
    return this.records.get(request, R_STATUS_BYTES);
  }

  readOutcome(comm: Communicator, request: RecordId, into: MessageOutcome, tellsMessage = false): void {
    const { records } = this;
    into.error = records.get(request, R_ERROR);
    into.cancelled = (records.get(request, R_FLAGS) & RecordFlag.CANCELLED) !== 0;
    if (into.cancelled || !(tellsMessage || records.get(request, R_KIND) === RecordKind.RECEIVE)) {
      into.source = ANY_SOURCE;
      into.tag = ANY_TAG;
      into.bytes = 0;
      return;
    }
    const source = records.get(request, R_STATUS_SOURCE);
    into.source = source < 0 ? source : comm.peers.rankOf(source as WorldRank);
    into.tag = records.get(request, R_STATUS_TAG);
    into.bytes = records.get(request, R_STATUS_BYTES);
  }

  isMessage(request: RecordId): boolean {
    return this.records.get(request, R_KIND) !== RecordKind.OPERATION;
  }

  end(request: RecordId): void {
    this.engine.giveBack(request);
  }

  abandon(request: RecordId): void {
    this.engine.abandon(request);
  }

  finishLater(request: RecordId, leftover: Leftover): void {
    this.engine.abandon(this.process.start(new FinishLater(request, leftover)));
  }

  cancel(request: RecordId): void {
    const { protocol } = this.process;
    if (protocol !== null && !protocol.mayCancel(request))
      waitThrough(
        (isOver) => this.waits.waitUntil(isOver),
        () => protocol.mayCancel(request),
      );
    this.engine.cancel(request);
  }

  wait(request: RecordId): boolean {
    const { inquiries } = this.process;
    inquiries.block(request);
    const isOver = this.waits.wait(request);
    // A wait that was interrupted goes on later, and the program does nothing meanwhile.
    if (isOver) inquiries.unblock();
    return isOver;
  }

  waitUntil(isReady: () => boolean): boolean {
    return this.waits.waitUntil(isReady);
  }

  look(): void {
    this.waits.look();
  }

  progress(): boolean {
    return this.process.progress();
  }
}
