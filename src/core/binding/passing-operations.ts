/**
 * A layer between a program and its process that changes nothing: every operation is handed to those below. A layer that is to change some of
 * them extends this class, and says which.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import type { Group } from "../comm/group.ts";
import type { Choices } from "../ft/choices.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Asked } from "../process/reductions-under-way.ts";
import type { Task } from "../process/task.ts";
import type { SendMode } from "../request/records.ts";
import type { Leftover } from "./finish-later.ts";
import type { MessageOutcome, Operations, SimulatedDeath } from "./operations.ts";

export class PassingOperations implements Operations {
  protected readonly base: Operations;

  constructor(base: Operations) {
    this.base = base;
  }

  get lastTag(): number {
    return this.base.lastTag;
  }

  get lastBytes(): number {
    return this.base.lastBytes;
  }

  get lastError(): number {
    return this.base.lastError;
  }

  get programReductions(): number {
    return this.base.programReductions;
  }

  get asked(): Asked | null {
    return this.base.asked;
  }

  get deaths(): number {
    return this.base.deaths;
  }

  get hasShortWay(): boolean {
    return this.base.hasShortWay;
  }

  get simulatedDeath(): SimulatedDeath | null {
    return this.base.simulatedDeath;
  }

  get choices(): Choices | null {
    return this.base.choices;
  }

  get clocks(): Choices | null {
    return this.base.clocks;
  }

  sendNow(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): boolean {
    return this.base.sendNow(comm, from, bytes, dest, tag);
  }

  startSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number, mode: SendMode): RecordId {
    return this.base.startSend(comm, from, bytes, dest, tag, mode);
  }

  receiveNow(comm: Communicator, to: Pointer, room: number, source: number, tag: number): number {
    return this.base.receiveNow(comm, to, room, source, tag);
  }

  lastSource(comm: Communicator): number {
    return this.base.lastSource(comm);
  }

  startReceived(comm: Communicator, source: number, tag: number, bytes: number): RecordId {
    return this.base.startReceived(comm, source, tag, bytes);
  }

  startSent(): RecordId {
    return this.base.startSent();
  }

  startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    return this.base.startReceive(comm, to, room, source, tag);
  }

  startHeld(comm: Communicator): RecordId {
    return this.base.startHeld(comm);
  }

  endHeld(request: RecordId): void {
    this.base.endHeld(request);
  }

  startPartitionedSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): RecordId {
    return this.base.startPartitionedSend(comm, from, bytes, dest, tag);
  }

  startPartitionedReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    return this.base.startPartitionedReceive(comm, to, room, source, tag);
  }

  probe(comm: Communicator, source: number, tag: number): RecordId {
    return this.base.probe(comm, source, tag);
  }

  probeError(comm: Communicator, source: number): ErrorCode {
    return this.base.probeError(comm, source);
  }

  messageNumber(envelope: RecordId): readonly [source: number, number: number] {
    return this.base.messageNumber(envelope);
  }

  numberedMessage(source: number, number: number): RecordId {
    return this.base.numberedMessage(source, number);
  }

  readEnvelope(comm: Communicator, envelope: RecordId, into: MessageOutcome): void {
    this.base.readEnvelope(comm, envelope, into);
  }

  setAside(envelope: RecordId): void {
    this.base.setAside(envelope);
  }

  startMatchedReceive(to: Pointer, room: number, envelope: RecordId): RecordId {
    return this.base.startMatchedReceive(to, room, envelope);
  }

  startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    return this.base.startEqual(comm, kind, send, receive, call);
  }

  startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    return this.base.startReduction(comm, kind, send, receive, call, reduction);
  }

  startBlocks(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null,
    form: CollectiveForm,
    error?: ErrorCode,
  ): RecordId {
    return this.base.startBlocks(comm, collective, send, receive, reduction, form, error);
  }

  startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    return this.base.startNeighbor(comm, collective, send, receive, form);
  }

  meet(comm: Communicator, reduction: Reduction | null, bytes: number): boolean {
    return this.base.meet(comm, reduction, bytes);
  }

  refuse(comm: Communicator): void {
    this.base.refuse(comm);
  }

  combine(reduction: Reduction, left: Pointer, right: Pointer, into: Pointer, count: number): void {
    this.base.combine(reduction, left, right, into, count);
  }

  takeAsked(): Asked {
    return this.base.takeAsked();
  }

  answered(asked: Asked): void {
    this.base.answered(asked);
  }

  startTask(task: Task): RecordId {
    return this.base.startTask(task);
  }

  startFinalBarrier(): RecordId {
    return this.base.startFinalBarrier();
  }

  startOwn(): RecordId {
    return this.base.startOwn();
  }

  completeOwn(request: RecordId, bytes?: number): void {
    this.base.completeOwn(request, bytes);
  }

  failOwn(request: RecordId, error: ErrorCode): void {
    this.base.failOwn(request, error);
  }

  freeCommunicator(comm: Communicator): void {
    this.base.freeCommunicator(comm);
  }

  isUsing(comm: Communicator): boolean {
    return this.base.isUsing(comm);
  }

  disconnect(comm: Communicator): void {
    this.base.disconnect(comm);
  }

  revoke(comm: Communicator): void {
    this.base.revoke(comm);
  }

  isRevoked(comm: Communicator): boolean {
    return this.base.isRevoked(comm);
  }

  failedOf(comm: Communicator): Group {
    return this.base.failedOf(comm);
  }

  acknowledge(comm: Communicator, count: number): number {
    return this.base.acknowledge(comm, count);
  }

  acknowledgedOf(comm: Communicator): Group {
    return this.base.acknowledgedOf(comm);
  }

  isComplete(request: RecordId): boolean {
    return this.base.isComplete(request);
  }

  errorOf(request: RecordId): ErrorCode {
    return this.base.errorOf(request);
  }

  show(request: RecordId): void {
    this.base.show(request);
  }

  isStalled(request: RecordId): boolean {
    return this.base.isStalled(request);
  }

  bytesOf(request: RecordId): number {
    return this.base.bytesOf(request);
  }

  readOutcome(comm: Communicator, request: RecordId, into: MessageOutcome, tellsMessage?: boolean): void {
    this.base.readOutcome(comm, request, into, tellsMessage);
  }

  isMessage(request: RecordId): boolean {
    return this.base.isMessage(request);
  }

  end(request: RecordId): void {
    this.base.end(request);
  }

  abandon(request: RecordId): void {
    this.base.abandon(request);
  }

  finishLater(request: RecordId, leftover: Leftover): void {
    this.base.finishLater(request, leftover);
  }

  cancel(request: RecordId): void {
    this.base.cancel(request);
  }

  wait(request: RecordId): boolean {
    return this.base.wait(request);
  }

  waitUntil(isReady: () => boolean): boolean {
    return this.base.waitUntil(isReady);
  }

  look(): void {
    this.base.look();
  }

  progress(): boolean {
    return this.base.progress();
  }
}
