/**
 * No rank waits for ever in a collective whose ranks disagree: about counts, the root, the function, or because one of them
 * refused its arguments and took no part (ADR 18).
 *
 * A rank that has waited long (how long, its world decides) asks the ranks that it waits for what they have done about this
 * collective. They answer from their progress, in the same channel as their messages, and only what the answer proves counts:
 *
 *   the rank has passed the collective     channels are FIFO, so all its messages are here: one that is missing never comes
 *   the rank's program is over             likewise
 *   the rank is in it with another call    ranks must agree on the kind, the root and most lengths; the program is wrong
 *   the rank is in it with other messages  it will send fewer than this rank waits for, or take fewer
 *   the rank is blocked elsewhere          in a call that needs this rank, which is blocked in this one: both wait for ever
 *
 * Then the collective ends here with an error that says which rank called what, and all other members are told that this rank has
 * passed it, so that ranks which wait for it need not ask. A rank that has not come to the collective yet, or is in it with the same
 * call, proves nothing and is waited for. One that computes or stands still does not answer, and is waited for too.
 *
 * Nothing of this costs a collective that goes well anything but its number, which it needs anyhow, and four words that say what
 * was called last. No verdict is passed where a member has failed (ULFM: the program revokes the communicator), nor under a
 * protocol that sends messages itself or repeats outcomes (`Protocol.mayJudgeCollectives`).
 */
import type { CommRank, RecordId, WorldRank } from "../base/brand.ts";
import { UNDEFINED } from "../base/constants.ts";
import { ErrorClass, type ErrorCode, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import {
  type CollectiveCall,
  differenceOf,
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
import { R_FLAGS, R_KIND, R_PEER, R_STATE, RecordFlag, RecordKind, RecordState } from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import type { BoardOperation } from "./board-operations.ts";
import type { Collectives } from "./collectives.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";
import type { Failures } from "./failures.ts";
import type { Creation, Task } from "./task.ts";

const Step = {
  QUESTION: 0,
  /** In it, by messages. */
  EXCHANGING: 1,
  /** In it, at the gate of a board. */
  AT_BOARD: 2,
  /** It is over here, well or not; nothing of it is sent or received any more. */
  PASSED: 3,
  /** The program is over, and has not come to it. */
  NEVER: 4,
  /** The program is blocked in another call, which cannot end without the rank that asks. */
  ELSEWHERE: 5,
} as const;
type Step = (typeof Step)[keyof typeof Step];

/** Ranks that are asked at a time about one operation; the others have their turn the next time. */
export const askedMax = 16;

const twoTo32 = 2 ** 32;
const none = -1 as RecordId;

const unknownCall: CollectiveCall = { kind: unknownKind, root: unlike, bytes: unlike };
const noMessages = { sends: 0, receives: 0 };

/** Which collective is spoken of: words of every packet. */
interface Subject {
  /** Of the messages of collectives. */
  readonly context: number;
  readonly tag: number;
  readonly turn: number;
}

/** The collective of the program that an operation belongs to. */
interface Matter {
  readonly comm: Communicator;
  readonly tag: number;
  readonly turn: number;
  readonly call: CollectiveCall;
  readonly messages: typeof noMessages;
}

/** What a rank says about a collective, to one other rank. */
interface Answer extends CollectiveCall {
  readonly step: Step;
  /** How many messages it sends to that rank in all, and receives from it; of ELSEWHERE context and number of the other call. */
  readonly sends: number;
  readonly receives: number;
  /** With which error it was given up; 0: it was not. Only of PASSED. */
  readonly error: ErrorCode;
}

/** The rest of a question, which has the same words. */
const noAnswer: Answer = { step: Step.QUESTION, ...unknownCall, ...noMessages, error: 0 };

interface Verdict {
  readonly error: ErrorCode;
  /** What is wrong, and at which rank. */
  readonly text: string;
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
  /** The program has come to its end. */
  readonly isOver: boolean;
}

export class Inquiries {
  static readonly unsaved = { gate: null, gateError: null, refused: null, blockedIn: none };
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

  constructor(process: InquiringProcess) {
    this.process = process;
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
    if (step === Step.QUESTION) {
      const answer = this.answerTo(source, subject);
      if (answer !== null) this.send(source, subject, answer);
      return;
    }
    if (step < Step.EXCHANGING || step > Step.ELSEWHERE) return;
    const [kind = 0, root = 0, low = 0, high = 0, sends = 0, receives = 0, error = 0] = words.slice(4);
    const bytes = high < 0 ? unlike : high * twoTo32 + (low >>> 0);
    this.heard(source, subject, { step: step as Step, kind, root, bytes, sends, receives, error });
  }

  /** Null: nothing that the asking rank could conclude anything from. */
  private answerTo(source: WorldRank, subject: Subject): Answer | null {
    const { context, tag, turn } = subject;
    const { process } = this;
    const operation = this.operationOf(subject, source);
    if (operation !== undefined && operation.phase !== Phase.FAILED) return this.exchangingWith(source, operation);
    if (this.awaitingTask(subject) !== undefined) return null;
    const creation = this.creationOf(subject);
    if (creation !== null) return { step: Step.EXCHANGING, ...callOfCreation(creation), ...noMessages, error: 0 };
    const comm = process.communicators.get(context & ~1);
    const never = { step: Step.NEVER, ...unknownCall, ...noMessages, error: 0 };
    if (tag < 0 || comm === undefined) return process.isOver ? never : this.elsewhere(source);
    if (!isJudged(process, comm)) return null;
    if (!comm.hasReached(tag, turn)) return process.isOver ? never : null;
    const isLast = comm.lastCollective === tag;
    const [kind, root, bytes] = isLast ? [comm.lastKind, comm.lastRoot, comm.lastBytes] : [unknownKind, unlike, unlike];
    const isAtBoard = this.boardCallOf(subject) !== undefined || (this.gate === comm && this.gateNumber === tag);
    const step = isAtBoard ? Step.AT_BOARD : Step.PASSED;
    return { step, kind, root, bytes, ...noMessages, error: isLast ? comm.lastError : 0 };
  }

  /** The call in which the program is blocked until that rank has come to it; null: it is not blocked so. */
  private elsewhere(source: WorldRank): Answer | null {
    const said = (call: CollectiveCall, context: number, number: number): Answer => ({
      step: Step.ELSEWHERE,
      ...call,
      sends: context,
      receives: number,
      error: 0,
    });
    const { gate, blockedIn, process } = this;
    if (gate !== null) {
      const call = { kind: gate.lastKind, root: gate.lastRoot, bytes: gate.lastBytes };
      return gate.group.has(source) ? said(call, gate.collectiveContext, this.gateNumber) : null;
    }
    if (blockedIn === none) return null;
    const task = process.tasks.find(({ request }) => request === blockedIn);
    if (task !== undefined) {
      const { awaited, creation } = task;
      if (awaited !== null && task.isAwaiting(process) && [...awaited.peers].includes(source)) {
        return said({ ...unknownCall, kind: awaited.kind }, awaited.comm.collectiveContext, awaited.tag);
      }
      if (creation === null || !needsEveryMember(creation.kind) || !unionOf(creation.comm).has(source)) return null;
      return said(callOfCreation(creation), creation.comm.collectiveContext, creation.number);
    }
    const board = process.collectives.boardCalls.find(({ request }) => request === blockedIn);
    if (board?.comm.group.has(source)) return said(unknownCall, board.comm.collectiveContext, board.number);
    const operation = process.collectives.operations.find(({ request }) => request === blockedIn);
    if (operation === undefined || operation.phase !== Phase.RUNNING) return null;
    const { comm, tag, call } = this.matterOf(operation, source);
    const needs = this.waitsFor(operation, source) || (needsEveryMember(call.kind) && unionOf(comm).has(source));
    return needs ? said(call, comm.collectiveContext, tag) : null;
  }

  private exchangingWith(source: WorldRank, operation: Operation): Answer {
    const { call, messages } = this.matterOf(operation, source);
    const { kind, root, bytes } = call;
    return { step: Step.EXCHANGING, kind, root, bytes, ...messages, error: 0 };
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
    if (theirs.step !== Step.PASSED || (theirs.error === 0 && theirs.kind !== refusedKind)) return;
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
    if (theirs.step === Step.ELSEWHERE && !this.isBlockedToo(subject, theirs)) return;
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
    this.judgeMeeting(source, subject, comm, call, theirs);
  }

  /** This program is blocked in the task in question, and has not come to the call in which the other one is blocked. */
  private isBlockedToo(subject: Subject, { sends: context, receives: number }: Answer): boolean {
    const task = this.awaitingTask(subject);
    if (task === undefined || task.request !== this.blockedIn) return false;
    if (number < 0) return context !== subject.context || number !== subject.tag;
    const comm = this.process.communicators.get(context & ~1);
    return comm !== undefined && !comm.hasReached(number, 0);
  }

  private judgeTask(source: WorldRank, subject: Subject, theirs: Answer): void {
    const { process } = this;
    const task = this.awaitingTask(subject);
    const awaited = task?.awaited ?? null;
    if (task === undefined || awaited === null || !task.isAwaiting(process)) return;
    if (![...awaited.peers].includes(source) || !isJudged(process, awaited.comm)) return;
    if (theirs.step !== Step.ELSEWHERE && theirs.step !== Step.NEVER) return;
    const mine = { ...unknownCall, kind: awaited.kind };
    const verdict = verdictOn(mine, theirs, Step.EXCHANGING, noMessages)!;
    const { creation } = task;
    const comm = creation?.comm ?? awaited.comm;
    comm.disagreement = disagreement(awaited.comm, source, mine, verdict);
    this.verdicts++;
    task.abandon(process, verdict.error);
    if (theirs.step === Step.ELSEWHERE) {
      const other = process.communicators.get(theirs.sends & ~1);
      if (other !== undefined && theirs.receives === other.nextNumber) this.refuse(other);
    }
    if (creation === null) return;
    const { collectiveContext: context } = creation.comm;
    this.tellMembers(
      creation.comm,
      { context, tag: creation.number, turn: 0 },
      verdict.error,
      callOfCreation(creation),
    );
  }

  private judgeOperation(source: WorldRank, subject: Subject, operation: Operation, theirs: Answer): void {
    const { collectives } = this.process;
    const { comm, call: mine, messages } = this.matterOf(operation, source);
    // A group's exchange that one member has given up no member can complete.
    const isGivenUp = subject.tag < 0 && theirs.step === Step.PASSED && theirs.error !== 0;
    if (operation.phase !== Phase.RUNNING || !(isGivenUp || this.waitsFor(operation, source))) return;
    if (!isJudged(this.process, comm) || !unionOf(comm).has(source)) return;
    const verdict = verdictOn(mine, theirs, Step.EXCHANGING, messages);
    // Communicators that are being made: which messages belong to which attempt only their own rules tell.
    if (verdict === null || (subject.tag < 0 && theirs.step === Step.EXCHANGING)) return;
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
    const isCollective = (theirs.step === Step.ELSEWHERE || theirs.step === Step.PASSED) && context !== 0;
    const comm = isCollective ? this.process.communicators.get(context & ~1) : undefined;
    if (comm !== undefined && number === comm.nextNumber) this.refuse(comm);
    const answer = { step: Step.PASSED, ...unknownCall, ...noMessages, error };
    for (const member of unionOf(draft).worldRanks()) {
      if (member === (this.process.rank as WorldRank)) continue;
      this.send(member, subject, isCollective ? { ...answer, sends: context, receives: number } : answer);
    }
  }

  private waitsFor({ records, recordCount }: Operation, source: number): boolean {
    for (let i = 0; i < recordCount; i++) if (this.awaitedPeer(records[i]!) === source) return true;
    return false;
  }

  /** `call` undefined: the program is at the gate without a request. */
  private judgeMeeting(
    source: WorldRank,
    subject: Subject,
    comm: Communicator,
    call: BoardOperation | undefined,
    theirs: Answer,
  ): void {
    const { board } = comm;
    if (board === null || board.passed() || !isJudged(this.process, comm) || !comm.group.has(source)) return;
    const mine = { kind: comm.lastKind, root: comm.lastRoot, bytes: comm.lastBytes };
    const verdict = verdictOn(mine, theirs, Step.AT_BOARD, noMessages);
    if (verdict === null) return;
    const error = disagreement(comm, source, mine, verdict);
    if (call === undefined) {
      if (!board.withdraw()) return;
      this.gateError = error;
    } else {
      if (!this.process.collectives.giveUpBoard(call, verdict.error)) return;
      comm.disagreement = error;
    }
    this.verdicts++;
    this.tellMembers(comm, subject, verdict.error, mine);
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
    const answer = { step: Step.PASSED, ...mine, ...noMessages, error };
    for (const member of unionOf(comm).worldRanks()) {
      if (member !== (this.process.rank as WorldRank)) this.send(member, subject, answer);
    }
  }

  // Calls in which the program is blocked

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

const callOfCreation = ({ kind }: Creation): CollectiveCall => ({ kind, root: unlike, bytes: unlike });

/** After a death, and when it is revoked, a communicator has rules of its own (ULFM). */
const isJudged = ({ failures }: InquiringProcess, comm: Communicator): boolean =>
  !comm.isRevoked && (failures.count === 0 || failures.of(comm).size === 0);

function messagesOf(
  { program }: Operation,
  { group, peers, isInter }: Communicator,
  world: WorldRank,
): { readonly sends: number; readonly receives: number } {
  const remote = messagesWith(program, peers.rankOf(world), false);
  const local = isInter ? messagesWith(program, group.rankOf(world), true) : noMessages;
  return { sends: remote.sends + local.sends, receives: remote.receives + local.receives };
}

/** Null: what they say proves nothing. `way`: how this rank is in it; `messages`: how many it exchanges with that one. */
function verdictOn(mine: CollectiveCall, theirs: Answer, way: Step, messages: typeof noMessages): Verdict | null {
  const { step, error } = theirs;
  if (step === Step.NEVER) return { error: ErrorClass.OTHER, text: "has come to the end of its program without it" };
  if (step === Step.ELSEWHERE) {
    return { error: ErrorClass.OTHER, text: `waits for this rank in ${textOf(theirs)}` };
  }
  if (theirs.kind === refusedKind)
    return { error: ErrorClass.OTHER, text: "called it with arguments that were refused" };
  // Members of a board meet whatever they called, and see then what was wrong.
  if (step === Step.AT_BOARD && way === Step.AT_BOARD) return null;
  const difference = differenceOf(mine, theirs);
  if (difference !== null) return { error: errorOf(difference), text: `called ${textOf(theirs)}` };
  if (step === Step.PASSED) {
    if (error !== 0) return { error, text: "has given it up" };
    const isKnown = theirs.kind !== unknownKind;
    const text = "has ended it without a message that this rank waits for";
    return { error: isKnown ? ErrorClass.TRUNCATE : ErrorClass.OTHER, text };
  }
  if (step !== way) {
    const form =
      step === Step.AT_BOARD ? "its blocking form, this rank another" : "another form, this rank the blocking one";
    return { error: ErrorClass.OTHER, text: `called ${form}` };
  }
  if (theirs.sends === messages.receives && theirs.receives === messages.sends) return null;
  const wanted = `this rank sends it ${messages.sends} and waits for ${messages.receives}`;
  return {
    error: ErrorClass.TRUNCATE,
    text: `sends this rank ${theirs.sends} messages and waits for ${theirs.receives}, ${wanted}`,
  };
}

function errorOf(difference: "kind" | "root" | "bytes"): ErrorCode {
  if (difference === "bytes") return ErrorClass.TRUNCATE;
  return difference === "root" ? ErrorClass.ROOT : ErrorClass.OTHER;
}

function disagreement(comm: Communicator, source: WorldRank, mine: CollectiveCall, { error, text }: Verdict): MpiError {
  const rank = comm.peers.rankOf(source);
  const culprit = rank === UNDEFINED ? `rank ${comm.group.rankOf(source)} of this group` : `rank ${rank}`;
  return new MpiError(error, `Cannot complete ${textOf(mine)}: ${culprit} ${text}`);
}

lives({ Inquiries });
