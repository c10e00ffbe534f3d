/**
 * No rank waits for ever in a collective whose ranks disagree: about counts, the root, the function, or because one of them
 * refused its arguments and took no part (ADR 18).
 *
 * A rank that has waited long (how long, its world decides) asks the ranks that it waits for what they have done about this
 * collective. They answer from their progress, in the same channel as their messages, and only what the answer proves counts:
 *
 *   the rank has passed the collective     channels are FIFO, so all its messages are here: one that is missing never comes
 *   the rank's program is over             likewise
 *   the rank has freed the communicator    likewise
 *   the rank is in it with another call    ranks must agree on the kind, the root and most lengths; the program is wrong
 *   the rank is in it with other messages  it will send fewer than this rank waits for, or take fewer
 *   the rank is blocked elsewhere          in a call that needs this rank, which is blocked in this one: both wait for ever
 *
 * Circles of more than two ranks that are blocked in each other's absence are found by chases (wait-circles.ts).
 *
 * Then the collective ends here with an error that says which rank called what, and all other members are told that this rank has
 * passed it, so that ranks which wait for it need not ask. A rank that has not come to the collective yet, or is in it with the same
 * call, proves nothing and is waited for. One that computes or stands still does not answer, and is waited for too.
 *
 * Nothing of this costs a collective that goes well anything but its number, which it needs anyhow, and four words that say what
 * was called last. No verdict is passed where a member has failed (ULFM: the program revokes the communicator), nor under a
 * protocol that sends messages itself or repeats outcomes (`Protocol.mayJudgeCollectives`).
 */
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import {
  type CollectiveCall,
  needsEveryMember,
  refusedKind,
  textOf,
  unknownKind,
  unlike,
} from "../coll/engine/collective-call.ts";
import { messagesWith } from "../coll/engine/compiled-schedule.ts";
import { type Operation, Phase } from "../coll/engine/operation.ts";
import type { Protocol } from "../ft/protocol.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_FLAGS,
  R_KIND,
  R_PEER,
  R_SEQUENCE,
  R_STATE,
  RecordFlag,
  RecordKind,
  RecordState,
} from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import type { BoardOperation } from "./board-operations.ts";
import type { Collectives } from "./collectives.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";
import { groupTag } from "./communicators/task-tags.ts";
import type { Failures } from "./failures.ts";
import {
  type Answer,
  disagreement,
  InquiryStep,
  noAnswer,
  noMessages,
  unknownCall,
  verdictOn,
} from "./inquiry-answers.ts";
import type { AwaitedPeers, Creation, Task } from "./task.ts";
import { type BlockedCall, type Chase, type CircleHost, type Subject, WaitCircles } from "./wait-circles.ts";

/** Ranks that are asked at a time about one operation; the others have their turn the next time. */
export const askedMax = 16;

const twoTo32 = 2 ** 32;
const none = -1 as RecordId;

/** The collective of the program that an operation belongs to. */
interface Matter {
  readonly comm: Communicator;
  readonly tag: number;
  readonly turn: number;
  readonly call: CollectiveCall;
  readonly messages: typeof noMessages;
}

/** The parts of a process that ask and answer. */
interface InquiringProcess {
  readonly rank: number;
  readonly engine: Engine;
  readonly protocol: Protocol | null;
  readonly collectives: Collectives;
  readonly tasks: readonly Task[];
  readonly memory: Memory;
  readonly failures: Failures;
  /** By context. */
  readonly communicators: ReadonlyMap<number, Communicator>;
  /** In whose context communicators are made of groups alone. */
  readonly everybody: Communicator;
  /** Has the program freed the communicator with that context, some time ago at most? */
  hasFreed(context: number): boolean;
  /** The program has come to its end. */
  readonly isOver: boolean;
  /** A layer above that may end what members wait for; null: there is none. */
  readonly background: object | null;
}

export class Inquiries implements CircleHost {
  static readonly unsaved = { gate: null, gateError: null, refused: null, blockedIn: none, circles: null };
  private readonly process: InquiringProcess;
  /** How often ranks were asked: others have their turn each time. */
  private rounds = 0;
  /** The one request for which the program waits and does nothing else; −1: it does not wait so. */
  private blockedIn: RecordId = none;
  /** Collectives that were given up. */
  verdicts = 0;
  /** The communicator at whose board the program waits without a request, and the number of that call; null: at none. */
  private gate: Communicator | null = null;
  private gateNumber = 0;
  private gateError: MpiError | null = null;
  /** Collectives at boards whose arguments were refused, and of which the others have not been told; null: none. */
  refused: { readonly comm: Communicator; readonly tag: number }[] | null = null;
  private readonly circles: WaitCircles = new WaitCircles(this);

  constructor(process: InquiringProcess) {
    this.process = process;
  }

  get rank(): number {
    return this.process.rank;
  }

  // Questions

  /** Is there a collective to ask about? */
  get isWaiting(): boolean {
    const { operations, boardCalls } = this.process.collectives;
    return operations.length > 0 || boardCalls.length > 0 || this.gate !== null || this.process.tasks.length > 0;
  }

  /** The world has waited long for this process's operations. True: ranks were asked. */
  ask(): boolean {
    const { collectives, protocol } = this.process;
    if (protocol?.mayJudgeCollectives === false) return false;
    let asked = false;
    for (const operation of collectives.operations) if (this.askAbout(operation)) asked = true;
    for (const task of this.process.tasks) if (this.askLeader(task)) asked = true;
    for (const { comm, number } of collectives.boardCalls) if (this.askMembers(comm, number)) asked = true;
    if (this.gate !== null && this.askMembers(this.gate, this.gateNumber)) asked = true;
    if (this.circles.begin(askedMax)) asked = true;
    this.rounds++;
    return asked;
  }

  private askAbout(operation: Operation): boolean {
    if (operation.phase !== Phase.RUNNING) return false;
    const { records, recordCount } = operation;
    const asked = new Set<number>();
    for (let i = 0; i < recordCount && asked.size < askedMax; i++) {
      const peer = this.awaitedPeer(records[(this.rounds * askedMax + i) % recordCount]!);
      if (peer >= 0) asked.add(peer);
    }
    for (const peer of asked) {
      const { comm, tag, turn } = this.matterOf(operation, peer as WorldRank);
      this.question(peer, { context: comm.collectiveContext, tag, turn });
    }
    return asked.size > 0;
  }

  /** A task that waits for another process without an operation. */
  private askLeader(task: Task): boolean {
    const { awaited } = task;
    if (awaited === null || !task.isAwaiting(this.process)) return false;
    const { comm, tag, peers } = awaited;
    const subject = { context: comm.collectiveContext, tag, turn: 0 };
    if (this.operationOf(subject, null) !== undefined) return false;
    for (const peer of peers) if (peer !== this.process.rank) this.question(peer, subject);
    return true;
  }

  /** World rank of the process for whose message, or for whose receive, this message waits; −1: it waits for neither. */
  private awaitedPeer(record: number): number {
    const { records } = this.process.engine;
    const get = (field: number): number => records.get(record as RecordId, field);
    const isUnmatched = get(R_KIND) === RecordKind.RECEIVE && get(R_STATE) === RecordState.PENDING;
    const isUntaken = get(R_STATE) === RecordState.ACTIVE && (get(R_FLAGS) & RecordFlag.AWAITS_ANSWER) !== 0;
    return (isUnmatched || isUntaken) && get(R_PEER) !== this.process.rank ? get(R_PEER) : -1;
  }

  /** A board does not show which members have not come to it: members are asked in turn. */
  private askMembers(comm: Communicator, number: number): boolean {
    const { size, collectiveContext: context } = comm;
    for (let i = 0; i < Math.min(size, askedMax); i++) {
      const member = comm.group.worldRank(((this.rounds * askedMax + i) % size) as CommRank);
      if (member !== this.process.rank) this.question(member, { context, tag: number, turn: 0 });
    }
    return size > 1;
  }

  private question(rank: number, subject: Subject): void {
    this.send(rank, subject, noAnswer);
  }

  private send(rank: number, { context, tag, turn }: Subject, answer: Answer): void {
    const { step, kind, root, bytes, sends, receives, error } = answer;
    const [low, high] = bytes === unlike ? [-1, -1] : [(bytes % twoTo32) | 0, Math.floor(bytes / twoTo32)];
    const words = [context, tag, turn, step, kind, root, low, high, sends, receives, error];
    this.process.engine.outbox.announce(rank, PacketKind.INQUIRY, words);
  }

  // Answers

  /** A packet of another process. */
  take(source: WorldRank, words: readonly number[]): void {
    const [context, tag, turn, step] = words as [number, number, number, number];
    const subject = { context, tag, turn };
    if (step === InquiryStep.QUESTION) {
      const answer = this.answerTo(source, subject);
      if (answer !== null) this.send(source, subject, answer);
      return;
    }
    if (step < InquiryStep.EXCHANGING || step > InquiryStep.FREED) return;
    const [kind = 0, root = 0, low = 0, high = 0, sends = 0, receives = 0, error = 0] = words.slice(4);
    const bytes = high < 0 ? unlike : high * twoTo32 + (low >>> 0);
    if (step === InquiryStep.CLOSED) this.circles.closed(sends, receives);
    else if (step === InquiryStep.CHASE) {
      const chase = { subject, call: { kind, root, bytes }, number: error, initiator: sends, round: receives };
      this.circles.take(source, chase, askedMax);
    } else this.heard(source, subject, { step: step as InquiryStep, kind, root, bytes, sends, receives, error });
  }

  /** Null: nothing that the asking rank could conclude anything from. */
  private answerTo(source: WorldRank, subject: Subject): Answer | null {
    const { context, tag, turn } = subject;
    const { process } = this;
    const operation = this.operationOf(subject, source);
    if (operation !== undefined && operation.phase !== Phase.FAILED) return this.exchangingWith(source, operation);
    if (this.awaitingTask(subject) !== undefined) return null;
    const creation = this.creationOf(subject);
    if (creation !== null)
      return { step: InquiryStep.EXCHANGING, ...callOfCreation(creation), ...noMessages, error: 0 };
    const comm = process.communicators.get(context & ~1);
    const never = { step: InquiryStep.NEVER, ...unknownCall, ...noMessages, error: 0 };
    if (tag >= 0 && comm === undefined && process.hasFreed(context & ~1)) return { ...never, step: InquiryStep.FREED };
    if (tag < 0 || comm === undefined) return process.isOver ? never : this.elsewhere(source);
    if (!isJudged(process, comm)) return null;
    if (!comm.hasReached(tag, turn)) return process.isOver ? never : null;
    const isLast = comm.lastCollective === tag;
    const [kind, root, bytes] = isLast ? [comm.lastKind, comm.lastRoot, comm.lastBytes] : [unknownKind, unlike, unlike];
    const isAtBoard = this.boardCallOf(subject) !== undefined || (this.gate === comm && this.gateNumber === tag);
    const step = isAtBoard ? InquiryStep.AT_BOARD : InquiryStep.PASSED;
    return { step, kind, root, bytes, ...noMessages, error: isLast ? comm.lastError : 0 };
  }

  /** The call in which the program is blocked until that rank has come to it; null: it is not blocked so. */
  private elsewhere(source: WorldRank): Answer | null {
    const blocked = this.blockedCall();
    if (blocked === null || !blocked.peers.includes(source)) return null;
    const { call, subject } = blocked;
    const error = blocked.numberWith(source);
    return { step: InquiryStep.ELSEWHERE, ...call, sends: subject.context, receives: subject.tag, error };
  }

  private exchangingWith(source: WorldRank, operation: Operation): Answer {
    const { call, messages } = this.matterOf(operation, source);
    const { kind, root, bytes } = call;
    return { step: InquiryStep.EXCHANGING, kind, root, bytes, ...messages, error: 0 };
  }

  /** The collective of the program that an operation is, or is a step of; with the messages that it exchanges with `peer`. */
  private matterOf(operation: Operation, peer: WorldRank | null = null): Matter {
    const { collectives, tasks } = this.process;
    const comm = collectives.communicatorOf(operation);
    const { tag, turn, program } = operation;
    const task = tasks.find((it) => it.isStep(comm, tag));
    const creation = task?.creation ?? null;
    const awaited = creation === null ? (task?.awaited ?? null) : null;
    if (awaited !== null) {
      const call = { ...unknownCall, kind: awaited.kind };
      return { comm: awaited.comm, tag: awaited.tag, turn: 0, call, messages: noMessages };
    }
    // The other side of an inter-communicator that is being made knows nothing of this side's parent.
    const isKnown = creation !== null && (peer === null || unionOf(creation.comm).has(peer));
    if (!isKnown) {
      const messages = peer === null ? noMessages : messagesOf(operation, comm, peer);
      return { comm, tag, turn, call: program.call ?? unknownCall, messages };
    }
    // Ranks may be in different steps of it.
    return { comm: creation.comm, tag: creation.number, turn: 0, call: callOfCreation(creation), messages: noMessages };
  }

  /** A communicator that is being made by that collective; null: none is. */
  private creationOf({ context, tag }: Subject): Creation | null {
    const isIt = (it: Creation | null): boolean => it?.number === tag && it.comm.collectiveContext === context;
    return this.process.tasks.find(({ creation }) => isIt(creation))?.creation ?? null;
  }

  /** A task that waits for other processes in that, which is no collective. */
  private awaitingTask({ context, tag }: Subject): Task | undefined {
    return this.process.tasks.find(
      ({ awaited }) => awaited !== null && awaited.tag === tag && awaited.comm.collectiveContext === context,
    );
  }

  /** Of which `source` speaks; null: this process. */
  private operationOf({ context, tag, turn }: Subject, source: WorldRank | null): Operation | undefined {
    return this.process.collectives.operations.find((operation) => {
      if (operation.phase === Phase.DONE) return false;
      const matter = this.matterOf(operation, source);
      return matter.tag === tag && matter.turn === turn && matter.comm.collectiveContext === context;
    });
  }

  private boardCallOf({ context, tag }: Subject): BoardOperation | undefined {
    const { boardCalls } = this.process.collectives;
    return boardCalls.find(({ comm, number }) => comm.collectiveContext === context && number === tag);
  }

  // Verdicts

  private heard(source: WorldRank, subject: Subject, theirs: Answer): void {
    this.judge(source, subject, theirs);
    if (theirs.step !== InquiryStep.PASSED || (theirs.error === 0 && theirs.kind !== refusedKind)) return;
    if (subject.tag < 0) this.forgetPartial(source, subject, theirs);
    const comm = this.process.communicators.get(subject.context & ~1);
    // Where only some members take part the others would stay at the board.
    if (subject.tag >= 0 && comm?.group.has(source)) this.leaveBoard(comm, source);
  }

  /** That member does not use the board any more, so no member can. */
  private leaveBoard(comm: Communicator, source: WorldRank): void {
    const { board } = comm;
    if (board !== null && this.gate === comm && this.gateError === null) {
      if (board.passed() || !board.withdraw()) return;
      const mine = { kind: comm.lastKind, root: comm.lastRoot, bytes: comm.lastBytes };
      const text = "has given up an earlier collective";
      this.gateError = disagreement(comm, source, mine, { error: ErrorClass.OTHER, text });
      comm.board = null;
    } else this.process.collectives.leaveBoard(comm);
  }

  private judge(source: WorldRank, subject: Subject, theirs: Answer): void {
    if (theirs.step === InquiryStep.ELSEWHERE && !this.isBlockedToo(source, subject, theirs)) return;
    const operation = this.operationOf(subject, source);
    if (operation === undefined && subject.tag < 0) this.judgeTask(source, subject, theirs);
    if (operation !== undefined) {
      this.judgeOperation(source, subject, operation, theirs);
      return;
    }
    const call = this.boardCallOf(subject);
    const comm = call?.comm ?? this.gate;
    if (comm === null || comm.collectiveContext !== subject.context) return;
    if (call === undefined && subject.tag !== this.gateNumber) return;
    this.judgeMeeting(source, subject, comm, theirs);
  }

  /** This program is blocked in the task in question, and has not come to the call in which the other one is blocked. */
  private isBlockedToo(source: WorldRank, subject: Subject, theirs: Answer): boolean {
    const task = this.awaitingTask(subject);
    if (task === undefined || task.request !== this.blockedIn) return false;
    const { sends: context, receives: number, error: partial } = theirs;
    // This rank may have passed a call of some members in which that one still waits for the words of a third.
    return !this.hasComeTo(source, { context, tag: number, turn: 0 }, partial);
  }

  hasComeTo(source: WorldRank, { context, tag, turn }: Subject, number: number): boolean {
    const comm = this.communicatorWith(context);
    if (comm === undefined || !isJudged(this.process, comm)) return true;
    return tag < 0 ? comm.partialCallsWith(source) >= number : comm.hasTaken(tag, turn);
  }

  private communicatorWith(context: number): Communicator | undefined {
    const { communicators, everybody } = this.process;
    return communicators.get(context & ~1) ?? (everybody.context === (context & ~1) ? everybody : undefined);
  }

  private judgeTask(source: WorldRank, subject: Subject, theirs: Answer): void {
    const { process } = this;
    const task = this.awaitingTask(subject);
    const awaited = task?.awaited ?? null;
    if (task === undefined || awaited === null || !task.isAwaiting(process)) return;
    if (![...awaited.peers].includes(source) || !isJudged(process, awaited.comm)) return;
    const isGivenUp = theirs.step === InquiryStep.PASSED && theirs.error !== 0;
    if (theirs.step !== InquiryStep.ELSEWHERE && theirs.step !== InquiryStep.NEVER && !isGivenUp) return;
    const mine = { ...unknownCall, kind: awaited.kind };
    const verdict = verdictOn(mine, theirs, InquiryStep.EXCHANGING, noMessages)!;
    this.verdicts++;
    this.abandonTask(task, awaited, disagreement(awaited.comm, source, mine, verdict));
    if (theirs.step === InquiryStep.ELSEWHERE)
      this.refuseNext({ context: theirs.sends, tag: theirs.receives, turn: 0 });
  }

  /** Ends a task that waits for words of other processes without an operation. */
  private abandonTask(task: Task, { comm, tag, peers }: AwaitedPeers, error: MpiError): void {
    const { creation } = task;
    (creation?.comm ?? comm).disagreement = error;
    task.abandon(this.process, error.code);
    for (const peer of peers) this.tellPartial(peer, { context: comm.collectiveContext, tag, turn: 0 }, error.code);
    if (creation === null) return;
    const { collectiveContext: context } = creation.comm;
    const subject = { context, tag: creation.number, turn: 0 };
    this.tellMembers(creation.comm, subject, error.code, callOfCreation(creation));
  }

  /** A collective that others have come to, and that ends there, counts here as refused if it would be the next one. */
  private refuseNext({ context, tag }: Subject): void {
    const comm = this.process.communicators.get(context & ~1);
    if (comm !== undefined && tag === comm.nextNumber) this.refuse(comm);
  }

  private judgeOperation(source: WorldRank, subject: Subject, operation: Operation, theirs: Answer): void {
    const { collectives } = this.process;
    const { comm, call: mine, messages } = this.matterOf(operation, source);
    // A group's exchange that one member has given up no member can complete.
    const isGivenUp = subject.tag < 0 && theirs.step === InquiryStep.PASSED && theirs.error !== 0;
    if (operation.phase !== Phase.RUNNING || !(isGivenUp || this.waitsFor(operation, source))) return;
    if (!isJudged(this.process, comm) || !unionOf(comm).has(source)) return;
    const verdict = verdictOn(mine, theirs, InquiryStep.EXCHANGING, messages);
    // Communicators that are being made: which messages belong to which attempt only their own rules tell.
    if (verdict === null || (subject.tag < 0 && theirs.step === InquiryStep.EXCHANGING)) return;
    comm.disagreement = disagreement(comm, source, mine, verdict);
    this.verdicts++;
    collectives.giveUp(operation, verdict.error);
    if (subject.tag >= 0) this.tellMembers(comm, subject, verdict.error, mine);
    else this.partedFor(collectives.communicatorOf(operation), subject, verdict.error, theirs);
  }

  /**
   * Only some members of a communicator took part in that, and have given it up for a collective of another rank. That collective counts
   * here as refused: what all of them call next is the same again.
   */
  private partedFor(draft: Communicator, subject: Subject, error: ErrorCode, theirs: Answer): void {
    const { sends: context, receives: number } = theirs;
    const isCollective = (theirs.step === InquiryStep.ELSEWHERE || theirs.step === InquiryStep.PASSED) && context !== 0;
    if (isCollective) this.refuseNext({ context, tag: number, turn: 0 });
    const others = isCollective ? { sends: context, receives: number } : noMessages;
    for (const member of unionOf(draft).worldRanks()) this.tellPartial(member, subject, error, others);
  }

  /** This rank has given up a call that only some members make, among them that one: it need not wait, and what was said is void. */
  private tellPartial(member: WorldRank, subject: Subject, error: ErrorCode, messages = noMessages): void {
    if (member === (this.process.rank as WorldRank)) return;
    const root = this.communicatorWith(subject.context)?.partialCallsWith(member) ?? 0;
    const bytes = this.process.engine.outbox.numbers.last(member) >>> 0;
    this.send(member, subject, { step: InquiryStep.PASSED, kind: unknownKind, root, bytes, ...messages, error });
  }

  /**
   * That rank has given up such a call. This rank will not come to it any more, if it has not, and drops the words of it that nobody took:
   * they have the program's tag, and the next call with that tag would take them for its own.
   */
  private forgetPartial(source: WorldRank, { context, tag }: Subject, { root: number, bytes: last }: Answer): void {
    const comm = this.communicatorWith(context);
    if (comm === undefined || !unionOf(comm).has(source) || tag > groupTag(0)) return;
    comm.skipPartial(source, number);
    const { engine } = this.process;
    const { records } = engine;
    for (;;) {
      const envelope = engine.probe(source, tag, context);
      if (envelope < 0 || ((last - records.get(envelope, R_SEQUENCE)) | 0) < 0) return;
      engine.setAside(envelope);
      engine.abandon(engine.startMatchedReceive(0 as Pointer, 0, envelope));
    }
  }

  private waitsFor({ records, recordCount }: Operation, source: number): boolean {
    for (let i = 0; i < recordCount; i++) if (this.awaitedPeer(records[i]!) === source) return true;
    return false;
  }

  private judgeMeeting(source: WorldRank, subject: Subject, comm: Communicator, theirs: Answer): void {
    const { board } = comm;
    if (board === null || board.passed() || !isJudged(this.process, comm) || !comm.group.has(source)) return;
    const mine = { kind: comm.lastKind, root: comm.lastRoot, bytes: comm.lastBytes };
    const verdict = verdictOn(mine, theirs, InquiryStep.AT_BOARD, noMessages);
    if (verdict === null) return;
    if (this.endMeeting(comm, subject, disagreement(comm, source, mine, verdict), mine)) this.verdicts++;
  }

  /** Ends a call at the gate of a board, where the program may be without a request; false: the gate is about to open. */
  private endMeeting(comm: Communicator, subject: Subject, error: MpiError, mine: CollectiveCall): boolean {
    const { board } = comm;
    const call = this.boardCallOf(subject);
    if (board === null || board.passed()) return false;
    if (call === undefined) {
      if (this.gate !== comm || this.gateNumber !== subject.tag || !board.withdraw()) return false;
      this.gateError = error;
    } else {
      if (!this.process.collectives.giveUpBoard(call, error.code)) return false;
      comm.disagreement = error;
    }
    this.tellMembers(comm, subject, error.code, mine);
    return true;
  }

  /**
   * This rank refuses the arguments of a collective, and takes no part. The collective counts all the same, because the others may
   * have called it. A board does not show which member comes to which round: no member uses it again. The others are told when the
   * program goes on, because a job that ends by the mistake shall report it, and not that another rank has heard of it.
   */
  refuse(comm: Communicator): void {
    const tag = comm.nextCollective(refusedKind, unlike, unlike);
    if (comm.board === null || this.process.protocol?.mayJudgeCollectives === false) return;
    this.process.collectives.leaveBoard(comm);
    this.refused ??= [];
    this.refused.push({ comm, tag });
  }

  /** The program goes on. */
  tellRefused(): void {
    const refused = this.refused ?? [];
    this.refused = null;
    const call = { kind: refusedKind, root: unlike, bytes: unlike };
    for (const { comm, tag } of refused) {
      this.tellMembers(comm, { context: comm.collectiveContext, tag, turn: 0 }, 0, call);
    }
  }

  /** The collective is given up here: members that wait for this rank in it need not ask. */
  private tellMembers(comm: Communicator, subject: Subject, error: ErrorCode, mine: CollectiveCall): void {
    if (comm.lastCollective === subject.tag) comm.lastError = error;
    if (this.gateError !== null && this.gate === comm) comm.board = null;
    else this.process.collectives.leaveBoard(comm);
    const answer = { step: InquiryStep.PASSED, ...mine, ...noMessages, error };
    for (const member of unionOf(comm).worldRanks()) {
      if (member !== (this.process.rank as WorldRank)) this.send(member, subject, answer);
    }
  }

  // Calls in which the program is blocked

  blockedCall(): BlockedCall | null {
    const { gate, blockedIn, process } = this;
    const { tasks, collectives } = process;
    if (gate !== null) {
      const call = { kind: gate.lastKind, root: gate.lastRoot, bytes: gate.lastBytes };
      return blockedCollective(gate, this.gateNumber, call, gate.group.worldRanks());
    }
    if (blockedIn === none) return null;
    const task = tasks.find(({ request }) => request === blockedIn);
    if (task !== undefined) return this.blockedTask(task);
    const board = collectives.boardCalls.find(({ request }) => request === blockedIn);
    if (board !== undefined)
      return blockedCollective(board.comm, board.number, unknownCall, board.comm.group.worldRanks());
    const operation = collectives.operations.find(({ request }) => request === blockedIn);
    if (operation === undefined || operation.phase !== Phase.RUNNING) return null;
    // News that this process has not heard may end it.
    if (process.background !== null) return null;
    const { comm, tag, turn, call } = this.matterOf(operation);
    const peers = needsEveryMember(call.kind) ? unionOf(comm).worldRanks() : this.awaitedPeers(operation);
    return blockedCollective(comm, tag, call, peers, turn);
  }

  private blockedTask(task: Task): BlockedCall | null {
    const { awaited, creation } = task;
    if (awaited !== null && task.isAwaiting(this.process)) {
      const { comm, tag, kind } = awaited;
      const call = { ...unknownCall, kind };
      const subject = { context: comm.collectiveContext, tag, turn: 0 };
      const numberWith = (peer: WorldRank): number => comm.partialCallsWith(peer);
      return { subject, call, peers: [...awaited.peers], turn: numberWith(this.rank as WorldRank), numberWith };
    }
    if (creation === null || !needsEveryMember(creation.kind)) return null;
    return blockedCollective(
      creation.comm,
      creation.number,
      callOfCreation(creation),
      unionOf(creation.comm).worldRanks(),
    );
  }

  chase(rank: WorldRank, { subject, call, number, initiator, round }: Chase): void {
    this.send(rank, subject, { step: InquiryStep.CHASE, ...call, sends: initiator, receives: round, error: number });
  }

  close(rank: WorldRank, initiator: number, round: number): void {
    const answer = { step: InquiryStep.CLOSED, ...unknownCall, sends: initiator, receives: round, error: 0 };
    this.send(rank, { context: 0, tag: 0, turn: 0 }, answer);
  }

  endBlockedCall({ subject, call }: BlockedCall, source: WorldRank, last: Chase): void {
    const comm = this.communicatorWith(subject.context);
    if (comm === undefined || !isJudged(this.process, comm)) return;
    const state = `ranks wait for each other in a circle, process ${source} for this one in ${textOf(last.call)}`;
    const error = new MpiError(ErrorClass.OTHER, `Cannot complete ${textOf(call)}: ${state}`);
    if (!this.endCall(comm, subject, call, error)) return;
    this.verdicts++;
    if (last.subject.tag >= 0) this.refuseNext(last.subject);
  }

  /** False: it ends by itself. */
  private endCall(comm: Communicator, subject: Subject, call: CollectiveCall, error: MpiError): boolean {
    const { collectives } = this.process;
    const operation = this.operationOf(subject, null);
    if (operation !== undefined) {
      if (operation.phase !== Phase.RUNNING) return false;
      comm.disagreement = error;
      collectives.giveUp(operation, error.code);
      if (subject.tag >= 0) this.tellMembers(comm, subject, error.code, call);
      else this.partedFor(collectives.communicatorOf(operation), subject, error.code, noAnswer);
      return true;
    }
    const task = this.awaitingTask(subject);
    if (task !== undefined) {
      this.abandonTask(task, task.awaited!, error);
      return true;
    }
    return this.endMeeting(comm, subject, error, call);
  }

  private awaitedPeers({ records, recordCount }: Operation): WorldRank[] {
    const peers = new Set(records.slice(0, recordCount).map((record) => this.awaitedPeer(record)));
    return [...peers].filter((peer) => peer >= 0) as WorldRank[];
  }

  /** The program waits for that request and does nothing else, until `unblock`. */
  block(request: RecordId): void {
    this.blockedIn = request;
  }

  unblock(): void {
    this.blockedIn = none;
  }

  // Calls that wait at the gate of a board without a request

  /** The program waits at the gate for the collective that it called last. */
  enterGate(comm: Communicator): void {
    this.gate = comm;
    this.gateNumber = comm.lastCollective;
    this.gateError = null;
  }

  leaveGate(): void {
    this.gate = null;
  }

  /** Throws when the call has been given up. */
  checkGate(): void {
    if (this.gateError !== null) throw this.gateError;
  }
}

const blockedCollective = (
  comm: Communicator,
  tag: number,
  call: CollectiveCall,
  peers: readonly WorldRank[],
  turn = 0,
): BlockedCall => ({
  subject: { context: comm.collectiveContext, tag, turn },
  call,
  peers,
  turn: 0,
  numberWith: () => 0,
});

const callOfCreation = ({ kind }: Creation): CollectiveCall => ({ kind, root: unlike, bytes: unlike });

/** After a death, and when it is revoked, a communicator has rules of its own (ULFM). */
const isJudged = ({ failures }: InquiringProcess, comm: Communicator): boolean =>
  !comm.isRevoked && !comm.isBroken && (failures.count === 0 || failures.of(comm).size === 0);

function messagesOf(
  { program }: Operation,
  { group, peers, isInter }: Communicator,
  world: WorldRank,
): { readonly sends: number; readonly receives: number } {
  const remote = messagesWith(program, peers.rankOf(world), false);
  const local = isInter ? messagesWith(program, group.rankOf(world), true) : noMessages;
  return { sends: remote.sends + local.sends, receives: remote.receives + local.receives };
}

lives({ Inquiries });
