/**
 * The operations of a program under the fault-simulation layer, on top of those of its process. A program that no process of the job makes
 * dead, and that revokes nothing, sees what it would see without the layer.
 */
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../base/constants.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import { Exchange } from "../binding/exchange.ts";
import type { Leftover } from "../binding/finish-later.ts";
import { type MessageOutcome, Now, type Operations } from "../binding/operations.ts";
import { PassingOperations } from "../binding/passing-operations.ts";
import { refusedKind, unlike } from "../coll/engine/collective-call.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import { Group } from "../comm/group.ts";
import { Agree } from "../process/agree.ts";
import { isOfBoards } from "../process/board-operations.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import { Shrink } from "../process/communicators/shrink.ts";
import type { Process } from "../process/process.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Task } from "../process/task.ts";
import { R_STATE, RecordFlag, RecordState, type SendMode } from "../request/records.ts";
import { FaultLayer, type FaultLayerOptions } from "./fault-layer.ts";
import {
  type GuardedCall,
  GuardedCollective,
  GuardedTask,
  LayerAgree,
  LayerExchange,
  LayerShrink,
  recentCallOf,
  startCall,
} from "./guarded-tasks.ts";
import type { Member } from "./member.ts";
import { MetCollective } from "./met-collective.ts";
import { isMeeting, type RecentCall } from "./recent-collectives.ts";
import { Purpose } from "./report.ts";
import { SelfSynchronised, UntoldCollective } from "./self-synchronised.ts";
import type { EqualCollective } from "./started-collectives.ts";

/**
 * The call, if it is its own synchronisation; null: it is not. Before any news the answer depends on the call alone, and is the same at all members. A
 * barrier is the synchronisation of the layer.
 */
function ownMeetingOf(comm: Communicator, call: GuardedCall): RecentCall | null {
  const recent = recentCallOf(comm, call);
  return recent !== null && recent.kind !== "barrier" && isMeeting(recent) ? recent : null;
}

export class LayeredOperations extends PassingOperations {
  readonly layer: FaultLayer;
  readonly #process: Process;
  readonly #untold: UntoldCollective;

  constructor(base: Operations, process: Process, options: FaultLayerOptions) {
    super(base);
    this.#process = process;
    this.#untold = new UntoldCollective(base);
    this.layer = new FaultLayer(base, process, options);
  }

  override get simulatedDeath(): FaultLayer {
    return this.layer;
  }

  // Messages

  /** Every send is watched until its receiver has answered. */
  override sendNow(): boolean {
    return false;
  }

  override receiveNow(): number {
    return Now.MUST_POST;
  }

  override startSend(
    comm: Communicator,
    from: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    mode: SendMode,
  ): RecordId {
    const error = this.#errorOfSend(comm, dest);
    if (error !== 0) return this.#failed(this.base.startSend(comm, from, 0, PROC_NULL, tag, mode), error);
    return this.#sending(comm, dest, () => this.base.startSend(comm, from, bytes, dest, tag, mode));
  }

  override startPartitionedSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): RecordId {
    const error = this.#errorOfSend(comm, dest);
    if (error !== 0) return this.#failed(this.base.startPartitionedSend(comm, from, 0, PROC_NULL, tag), error);
    return this.#sending(comm, dest, () => this.base.startPartitionedSend(comm, from, bytes, dest, tag));
  }

  #errorOfSend(comm: Communicator, dest: number): ErrorCode {
    if (this.layer.memberOf(comm).isRevoked) return ErrorClass.REVOKED;
    if (dest === PROC_NULL) return 0;
    return this.layer.deaths.has(comm.peers.worldRank(dest as CommRank)) ? ErrorClass.PROC_FAILED : 0;
  }

  /** The question leaves first: it is on its way while the base looks at the message. */
  #sending(comm: Communicator, dest: number, start: () => RecordId): RecordId {
    const { layer } = this;
    if (dest === PROC_NULL) return start();
    const peer = comm.peers.worldRank(dest as CommRank);
    const question = peer === layer.rank ? 0 : layer.ask(peer);
    const request = start();
    layer.messages.sending(request, comm, peer, question);
    return request;
  }

  override startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    if (this.layer.memberOf(comm).isRevoked) {
      return this.#failed(this.base.startReceive(comm, to, 0, PROC_NULL, tag), ErrorClass.REVOKED);
    }
    return this.#receiving(comm, source, this.base.startReceive(comm, to, room, source, tag));
  }

  override startPartitionedReceive(
    comm: Communicator,
    to: Pointer,
    room: number,
    source: number,
    tag: number,
  ): RecordId {
    if (this.layer.memberOf(comm).isRevoked) {
      return this.#failed(this.base.startPartitionedReceive(comm, to, 0, PROC_NULL, tag), ErrorClass.REVOKED);
    }
    return this.#receiving(comm, source, this.base.startPartitionedReceive(comm, to, room, source, tag));
  }

  /** A receive whose message is here asks nobody. */
  #receiving(comm: Communicator, source: number, request: RecordId): RecordId {
    const { layer } = this;
    if (this.base.isComplete(request)) return request;
    const peer = source === ANY_SOURCE ? ANY_SOURCE : comm.peers.worldRank(source as CommRank);
    layer.messages.receiving(request, comm, peer);
    if (peer === ANY_SOURCE) this.#stallIfPending(comm, request);
    else if (peer !== layer.rank && !layer.deaths.isConfirmed(peer as WorldRank)) layer.ask(peer as WorldRank);
    return request;
  }

  #stallIfPending(comm: Communicator, request: RecordId): void {
    const { records, matching } = this.#process.engine;
    if (records.get(request, R_STATE) !== RecordState.PENDING) return;
    if (this.layer.isPending(this.layer.memberOf(comm))) matching.stall(request);
  }

  override startHeld(comm: Communicator): RecordId {
    const request = this.base.startHeld(comm);
    this.layer.messages.holding(request, comm);
    if (this.layer.memberOf(comm).isRevoked) this.layer.messages.revoked(comm);
    return request;
  }

  override endHeld(request: RecordId): void {
    this.layer.messages.forget(request);
    this.base.endHeld(request);
  }

  /** A message of a complete request that came to nothing. */
  #failed(request: RecordId, error: ErrorCode): RecordId {
    this.base.failOwn(request, error);
    return request;
  }

  // Probes: messages are sent at once, so the base finds them; that none can come any more is the layer's affair (§5.3.9)

  override probe(comm: Communicator, source: number, tag: number): RecordId {
    const { layer } = this;
    if (layer.memberOf(comm).isRevoked) return -1 as RecordId;
    const envelope = this.base.probe(comm, source, tag);
    if (envelope >= 0 || source < 0) return envelope;
    const peer = comm.peers.worldRank(source as CommRank);
    // Once: of a later death the root tells.
    if (peer !== layer.rank && !layer.handshakes.hasAsked(peer)) layer.ask(peer);
    return envelope;
  }

  override probeError(comm: Communicator, source: number): ErrorCode {
    const { layer } = this;
    const member = layer.memberOf(comm);
    if (member.isRevoked) return ErrorClass.REVOKED;
    if (source === ANY_SOURCE) return layer.isPending(member) ? ErrorClass.PROC_FAILED_PENDING : 0;
    const isSilent = source >= 0 && layer.deaths.isConfirmed(comm.peers.worldRank(source as CommRank));
    return isSilent ? ErrorClass.PROC_FAILED : 0;
  }

  // Collectives

  override startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    return this.#startCollective(comm, { kind, send, receive, call, reduction: null });
  }

  override startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    return this.#startCollective(comm, { kind, send, receive, call, reduction });
  }

  /** Non-blocking ones start at once, where every member can be told in a few words what they are; others wait for the verdict. */
  #startCollective(comm: Communicator, program: EqualCollective): RecordId {
    const { form = "nonblocking" } = program.call;
    const member = this.layer.memberOf(comm);
    if (form !== "nonblocking" || comm.isInter) return this.#guard(member, { equal: program }, form);
    if (member.isRevoked) return this.#failedOperation(ErrorClass.REVOKED);
    // One that the dead had started is started here too: others may wait for it without knowing of the death.
    if (member.isLackedByDead(member.recent.count)) return this.#failedOperation(ErrorClass.PROC_FAILED);
    return this.layer.collectives.start(member, program);
  }

  #failedOperation(error: ErrorCode): RecordId {
    const request = this.base.startOwn();
    this.base.completeOwn(request);
    return this.#failed(request, error);
  }

  #guard(member: Member, call: GuardedCall, form: CollectiveForm): RecordId {
    if (form === "blocking") {
      const isOnBoard = "equal" in call && this.#isOfBoard(member.comm, call.equal);
      const own = isOnBoard ? null : ownMeetingOf(member.comm, call);
      if (own !== null) return this.#synchroniseItself(member, call, own);
      if (this.#mayMeet(member)) return this.#meet(member, call, isOnBoard);
    }
    const isHopeless = this.layer.deaths.isAmong(member.members);
    return this.base.startTask(new GuardedCollective(this.base, member, call, form, isHopeless));
  }

  /** Where a member is known to be dead nobody comes to the board; only a data plane may have done so in our name, and not have known. */
  #mayMeet(member: Member): boolean {
    if (member.comm.board === null) return false;
    return !this.layer.isBroken(member) || this.#process.pass.meetings?.isAtGate === true;
  }

  #synchroniseItself(member: Member, call: GuardedCall, recent: RecentCall): RecordId {
    const { base } = this;
    const { comm } = member;
    let request: RecordId;
    if (this.#untold.request < 0 && member.isIdle && !comm.isBroken) {
      this.#untold.announce(member, recent);
      request = startCall(base, comm, call, "blocking");
      this.#untold.request = request;
    } else request = base.startTask(new SelfSynchronised(base, member, call));
    // A call that waits for nobody hears others all the same.
    if (base.isComplete(request)) base.progress();
    return request;
  }

  #meet(member: Member, call: GuardedCall, isOnBoard: boolean): RecordId {
    const request = this.base.startTask(new MetCollective(this.base, member, call, isOnBoard));
    if (this.layer.isBroken(member)) this.layer.broken(member);
    if (this.base.isComplete(request)) this.base.progress();
    return request;
  }

  #isOfBoard(comm: Communicator, { kind, call, reduction }: EqualCollective): boolean {
    return isOfBoards(kind) && this.#process.collectives.meets(comm, kind, call, reduction);
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
    const other = { kind: "blocks", collective, send, receive, reduction, error } as const;
    return this.#guard(this.layer.memberOf(comm), { other }, form);
  }

  override startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    const other = { kind: "neighbor", collective, send, receive } as const;
    return this.#guard(this.layer.memberOf(comm), { other }, form);
  }

  override startTask(task: Task): RecordId {
    const { base, layer } = this;
    if (task instanceof Agree) return base.startTask(new LayerAgree(task, layer.memberOf(task.comm)));
    if (task instanceof Shrink) {
      return base.startTask(new LayerShrink(task, layer.memberOf(task.parent), this.#process));
    }
    if (task instanceof Exchange) return base.startTask(new LayerExchange(task, this));
    const { together, awaited } = task;
    if (together !== null) {
      return base.startTask(new GuardedTask(task, layer.memberOf(together).enter(Purpose.COLLECTIVE), layer));
    }
    if (awaited === null) return base.startTask(task);
    const turn = layer.partial.enter(awaited.comm.context, awaited.tag, Group.of([...awaited.peers]));
    return base.startTask(new GuardedTask(task, turn, layer));
  }

  /** Calls of programs come to boards as other collectives do: the layer must see who waits there. */
  override get hasShortWay(): boolean {
    return false;
  }

  /** The others are not told: they wait for this member in the layer. */
  override refuse(comm: Communicator): void {
    this.layer.memberOf(comm).refused(comm.nextCollective(refusedKind, unlike, unlike));
  }

  // Ends, revocations and deaths

  override startFinalBarrier(): RecordId {
    return this.layer.startEnd();
  }

  override freeCommunicator(comm: Communicator): void {
    this.layer.begin(comm);
    // For the program it is gone.
    comm.freed = true;
  }

  /** What has failed for the program is none of its business any more. */
  override isUsing(comm: Communicator): boolean {
    const { isRevoked, members } = this.layer.memberOf(comm);
    return !isRevoked && !this.layer.deaths.isAmong(members) && this.base.isUsing(comm);
  }

  override revoke(comm: Communicator): void {
    this.layer.memberOf(comm).revoke();
  }

  override isRevoked(comm: Communicator): boolean {
    return this.layer.memberOf(comm).isRevoked;
  }

  override get deaths(): number {
    return this.layer.deaths.count;
  }

  override failedOf(comm: Communicator): Group {
    return this.layer.deaths.groupOf(this.layer.memberOf(comm).members);
  }

  override acknowledge(comm: Communicator, count: number): number {
    const { layer } = this;
    const member = layer.memberOf(comm);
    const known = layer.deaths.of(member.members).length;
    member.acknowledged = Math.max(member.acknowledged, Math.min(count, known));
    layer.updateWildcards(member);
    return member.acknowledged;
  }

  override acknowledgedOf(comm: Communicator): Group {
    const { members, acknowledged } = this.layer.memberOf(comm);
    return this.layer.deaths.groupOf(members, acknowledged);
  }

  // Completion

  /** Null: the layer leaves the end of the request to the base. */
  #isOver(request: RecordId): boolean | null {
    if (request === this.#untold.request) return this.#untold.isOver;
    return this.layer.messages.isSendOver(request) ?? this.layer.collectives.isOver(request);
  }

  #errorHere(request: RecordId): ErrorCode {
    if (request === this.#untold.request) return this.#untold.error;
    return this.layer.messages.errorOf(request) || this.layer.collectives.errorOf(request);
  }

  override isComplete(request: RecordId): boolean {
    return this.#isOver(request) ?? this.base.isComplete(request);
  }

  override errorOf(request: RecordId): ErrorCode {
    return this.#errorHere(request) || this.base.errorOf(request);
  }

  override readOutcome(comm: Communicator, request: RecordId, into: MessageOutcome, tellsMessage?: boolean): void {
    const error = this.#errorHere(request);
    if (error === 0) {
      this.base.readOutcome(comm, request, into, tellsMessage);
      return;
    }
    into.source = ANY_SOURCE;
    into.tag = ANY_TAG;
    into.bytes = 0;
    into.cancelled = false;
    into.error = error;
  }

  override end(request: RecordId): void {
    if (request === this.#untold.request) {
      this.#untold.end();
      this.layer.lingering.end(request);
      return;
    }
    if (this.layer.collectives.end(request)) return;
    this.layer.messages.forget(request);
    this.layer.lingering.end(request);
  }

  override abandon(request: RecordId): void {
    this.#free(request, null);
  }

  override finishLater(request: RecordId, leftover: Leftover): void {
    this.#free(request, leftover);
  }

  #free(request: RecordId, leftover: Leftover | null): void {
    this.#process.engine.records.addFlag(request, RecordFlag.UNWANTED);
    this.layer.lingering.free(request, leftover, this);
  }

  // Waiting

  override wait(request: RecordId): boolean {
    if (request === this.#untold.request) return this.#waitForUntold(request);
    if (this.#isOver(request) === null) return this.base.wait(request);
    return this.base.waitUntil(() => this.isComplete(request));
  }

  /** By the loop that is warm without the layer; the verdict, where there is news, is a matter of its own. */
  #waitForUntold(request: RecordId): boolean {
    const untold = this.#untold;
    return this.base.wait(request) && (untold.isOver || this.base.waitUntil(() => untold.isOver));
  }
}
