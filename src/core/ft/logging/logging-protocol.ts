/**
 * Message logging with correlated sets ("Correlated set coordination …", docs/papers.md): pessimistic event logging, sender-based payload log between sets only.
 *
 *   between sets   a message is copied into the payload log of its sender and leaves when every choice it may depend on is
 *                  stable; the send is complete as soon as it is logged; a synchronous one, when it is matched and the
 *                  receiver's choices before that are stable
 *   inside a set   nothing is logged: its processes fall together, go back together, and the wait for the event logger is at
 *                  the set's border (Theorem 1; one stream of determinants for the set, Theorem 2)
 *
 * This file is the face: it hands each question and each event of the engine to the part that deals with it.
 *
 *   channels.ts          the peers of other sets: one channel with each (channel.ts)
 *   sender-log.ts        messages to other sets: logged, sent, trimmed (kept.ts, payload-memory.ts)
 *   confirmations.ts     when synchronous sends are complete
 *   reconnection.ts      after a restart both ends of a channel tell each other which messages they hold
 *   trim-limits.ts       which messages senders need not keep any more, since a checkpoint
 *   frames.ts            the words that processes of different sets say to each other
 *   ../determinants      which message each receive took, what each choice came to: on its way to the stream of the set, and seen again
 */
import type { Pointer, RecordId, WorldRank } from "../../base/brand.ts";
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import { Arrival, Pin } from "../../request/decisions.ts";
import { R_CONTEXT, R_PEER, R_PROTOCOL, RecordFlag, recordWords } from "../../request/records.ts";
import { BYTES, CONTEXT, SEQUENCE, SOURCE, TAG } from "../../wire/packet.ts";
import { DeterminantLog } from "../determinants/determinant-log.ts";
import { DeterminantKind, type DeterminantStream } from "../determinants/determinant-stream.ts";
import { LoggedChoices } from "../determinants/logged-choices.ts";
import { LoggedReceives } from "../determinants/logged-receives.ts";
import { Replay } from "../determinants/replay.ts";
import type { Beginning, Protocol, ProtocolPorts, Write } from "../protocol.ts";
import type { SentInSet } from "../set-split.ts";
import { Channels } from "./channels.ts";
import { Confirmations } from "./confirmations.ts";
import { Frame } from "./frames.ts";
import type { Kept } from "./kept.ts";
import { beginParted } from "./parting.ts";
import { PayloadMemory, type PayloadMemoryOptions } from "./payload-memory.ts";
import { Reconnection } from "./reconnection.ts";
import type { Logged } from "./report.ts";
import { SenderLog } from "./sender-log.ts";
import { TrimLimits } from "./trim-limits.ts";

/** Contexts of the program's own messages are even; those of collectives and of the runtime are odd. */
const isOfProgram = (context: number): boolean => (context & 1) === 0;

export interface LoggingOptions {
  readonly rank: number;
  /** Correlated set of each rank. */
  readonly setOf: Int32Array;
  /** Of this rank's set. */
  readonly stream: DeterminantStream;
  /** Bounds the memory of the payload log; it has no bound unless given. */
  readonly payloads?: PayloadMemoryOptions | null;
  /** One number: the calls that the process has passed, for the observer of its progress. */
  readonly passed?: Float64Array;
}

/** The choices with which a life that is not the first begins. */
export interface KnownChoices {
  /** The set's stream from the position of its image on. */
  readonly log: Int32Array;
  /** Correlated set of each rank, as it is now. */
  readonly setOf: readonly number[];
  /** Between ranks that were of one set until that image. */
  readonly parted: readonly SentInSet[];
}

export class LoggingProtocol implements Protocol {
  static readonly unsaved = { lastWrite: -1, whenCaughtUp: null, isLive: false, passed: null, met: 0 };
  readonly deathEndsRequests = false;
  readonly peersSpeak = true;
  readonly mayJudgeCollectives = false;
  readonly finishedServe = true;
  readonly hasFarewell = false;
  readonly awaitsOthers = false;
  readonly choices: LoggedChoices;
  readonly operations = null;
  readonly cloning = null;
  private readonly rank: number;
  private readonly setOf: Int32Array;
  /** Our own. */
  private set: number;
  private readonly ports: ProtocolPorts;
  private readonly log: DeterminantLog;
  private readonly replay = new Replay();
  private readonly channels: Channels;
  private readonly payloads: PayloadMemory;
  private readonly confirmations: Confirmations;
  private readonly sends: SenderLog;
  private readonly receives: LoggedReceives;
  private readonly reconnection: Reconnection;
  private readonly trimLimits: TrimLimits;
  /**
   * The number of the program's receives, sends to other sets and meetings on boards so far: every life has them in the same order,
   * whichever way its messages go.
   */
  callsPassed = 0;
  private receivesPassed = 0;
  /** Shows `callsPassed`. */
  private readonly passed: Float64Array;
  /** Meetings of a data plane that `callsPassed` has. */
  private met = 0;
  /** There is nothing to see again, for certain: asked of every message. */
  private isLive = false;
  /** The write that was asked about last, and the position that must be stable before it. */
  private lastWrite = -1;
  private writeTicket = 0;
  /** Null: it has caught up, or never fell. */
  private whenCaughtUp: (() => void) | null = null;

  constructor({ rank, setOf, stream, payloads = null, passed }: LoggingOptions, ports: ProtocolPorts) {
    this.rank = rank;
    this.setOf = setOf;
    this.set = setOf[rank]!;
    this.ports = ports;
    const log = new DeterminantLog(rank, stream);
    const channels = new Channels(rank, setOf);
    const confirmations = new Confirmations(ports, log);
    this.payloads = new PayloadMemory(ports.memory, payloads, channels);
    this.sends = new SenderLog(ports, { channels, log, payloads: this.payloads, confirmations });
    this.receives = new LoggedReceives(ports.records, log, this.replay, true);
    this.reconnection = new Reconnection(ports, { channels, sends: this.sends, confirmations });
    this.trimLimits = new TrimLimits(ports, channels);
    this.passed = passed ?? new Float64Array(1);
    this.choices = new LoggedChoices(log, this.replay, ports.pass);
    this.log = log;
    this.channels = channels;
    this.confirmations = confirmations;
  }

  // Lives

  begin({ incarnation, incarnations, data, caughtUp }: Beginning): void {
    this.ports.pass.numbered = this.receivesPassed;
    if (incarnation === 0) return;
    this.whenCaughtUp = caughtUp;
    const { log, setOf, parted } = data as KnownChoices;
    this.replay.add(this.rank, log);
    this.channels.setsAre(this.rank, setOf);
    this.setOf.set(setOf);
    this.set = this.setOf[this.rank]!;
    beginParted(this.rank, parted, this.ports, { channels: this.channels, sends: this.sends });
    this.isLive = false;
    this.ports.pinPosted((receive) => this.receives.pinOf(receive));
    this.reconnection.begin(incarnation, incarnations);
  }

  peerFailed({ rank }: ProcessName, incarnation: number): void {
    this.reconnection.peerFailed(rank, incarnation);
  }

  peerReturned({ rank }: ProcessName, incarnation: number): void {
    this.reconnection.peerReturned(rank, incarnation);
  }

  /** It has seen again all that it saw, and sent again all that others have of it. */
  private checkCaughtUp(): void {
    if (this.whenCaughtUp === null || !this.replay.isOver || !this.reconnection.isComplete) return;
    const caughtUp = this.whenCaughtUp;
    this.whenCaughtUp = null;
    caughtUp();
  }

  /** Are there choices of the life before that this life has not repeated yet? */
  get isReplaying(): boolean {
    return !this.replay.isOver;
  }

  control(words: Int32Array, packet: number): void {
    const channel = this.channels.with(words[packet + SOURCE]!);
    if (channel === null) return;
    const b = words[packet + TAG]!;
    const c = words[packet + SEQUENCE]!;
    switch (words[packet + CONTEXT]!) {
      case Frame.BEGIN:
        this.reconnection.hearBegin(channel, b, c);
        return;
      case Frame.HELD:
        channel.hearHeld(b);
        return;
      case Frame.BROKEN:
        channel.hearBroken(b);
        return;
      case Frame.SUM:
        channel.hearSum(b);
        return;
      case Frame.END:
        this.reconnection.hearEnd(channel, b, c !== 0);
        this.checkCaughtUp();
        return;
      case Frame.TRIM:
        this.sends.trim(channel, b);
        return;
      case Frame.ASK:
        this.confirmations.hearQuestion(channel.peer, b);
        return;
      case Frame.ANSWER:
        this.confirmations.hearAnswer(channel, b);
    }
  }

  // The short ways

  /** Inside a set the protocol need not see messages once nothing is left to replay; but a send closes a run of nothings. */
  mayPass(peer: number): boolean {
    if (!this.isLive) this.isLive = this.replay.isOver;
    return this.isLive && this.setOf[peer] === this.set && !this.log.hasOpenRun;
  }

  /** It counts as the others do: which way a receive goes is chance. */
  received(isAnySource: boolean, source: WorldRank, sequence: number): void {
    const number = this.passReceive();
    if (isAnySource) this.log.append3(DeterminantKind.MATCH, number, source, sequence);
  }

  private pass(): void {
    if (this.ports.pass.isUsed) this.countPlane();
    this.passed[0] = ++this.callsPassed;
  }

  /** The number of the receive. */
  private passReceive(): number {
    this.pass();
    const number = ++this.receivesPassed;
    this.ports.pass.numbered = number;
    return number;
  }

  /** What a data plane has done since the last time counts as if it had been done here. */
  private countPlane(): void {
    const { pass } = this.ports;
    this.callsPassed += pass.numbered - this.receivesPassed + (pass.met - this.met);
    this.receivesPassed = pass.numbered;
    this.met = pass.met;
    this.log.appended3(pass.takeRecorded());
  }

  // Sends

  sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    const at = send * recordWords;
    if (isOfProgram(records.words[at + R_CONTEXT]!)) this.replay.passed();
    const channel = this.channels.with(records.words[at + R_PEER]!);
    if (channel === null) {
      // Messages of other members that follow from this one must not leave before our choices are in the stream.
      this.log.closeRun();
      // The program may have seen that it was complete: the send must not wait for its receiver now because memory is scarcer.
      if (!this.replay.isOver) records.addFlag(send, RecordFlag.INSISTS);
      return false;
    }
    this.pass();
    this.sends.post(send, channel);
    return true;
  }

  /** Once nothing is left to replay. */
  keepsNow(dest: number): boolean {
    if (!this.isLive) this.isLive = this.replay.isOver;
    return this.isLive && this.channels.with(dest) !== null;
  }

  keepNow(from: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): void {
    this.pass();
    this.sends.keep(this.channels.with(dest)!, from, bytes, tag, context, sequence);
  }

  lend(send: RecordId, isForLong: boolean): boolean {
    return this.sends.lend(send, isForLong);
  }

  get isBusy(): boolean {
    return this.sends.isBusy || this.confirmations.isAsked;
  }

  progress(): boolean {
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
    let moved = this.confirmations.isAsked && this.confirmations.answer();
    if (this.sends.isBusy && this.sends.progress()) moved = true;
    return moved;
  }

  /** As a send inside the set: our choices must be in the stream first. */
  meeting(): void {
    this.pass();
    this.log.closeRun();
  }

  /** Inside a set: the wait is at its border. */
  sendMayLeave(): boolean {
    return true;
  }

  /** Asked of messages that we have announced, when their receiver has them; and of sends inside the set. */
  sendMayComplete(send: RecordId): boolean {
    const { records } = this.ports;
    if (records.hasFlag(send, RecordFlag.KEPT)) this.sends.delivered(records.get(send, R_PROTOCOL));
    return true;
  }

  // Receives

  receivePosted(receive: RecordId): Pin {
    if (!isOfProgram(this.ports.records.get(receive, R_CONTEXT))) return Pin.FREE;
    this.replay.passed();
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
    return this.receives.posted(receive, this.ports.pass.adopting || this.passReceive());
  }

  arrived(words: Int32Array, packet: number): Arrival {
    const source = words[packet + SOURCE]!;
    const channel = this.channels.with(source);
    if (channel === null) return Arrival.TAKE;
    const sequence = words[packet + SEQUENCE]!;
    if (channel.receive(sequence, words[packet + CONTEXT]!, words[packet + TAG]!, words[packet + BYTES]!)) {
      return Arrival.TAKE;
    }
    return this.ports.isBroken(source, sequence) ? Arrival.AGAIN : Arrival.DROP;
  }

  readonly sharesClocks = false;
  readonly sharesRevocations = false;

  revoking(): void {}

  putAside(): void {}

  mayCount(): boolean {
    return true;
  }

  held(): void {}

  /** What has been matched is in the log, seen or not. */
  seen(): void {}

  collectiveBegins(): void {}

  actsFor(): void {}

  actsForProgram(): void {}

  collectiveSeen(): void {}

  matched(receive: RecordId, source: WorldRank, sequence: number): void {
    this.receives.matched(receive, source, sequence);
  }

  mayCancel(): boolean {
    return true;
  }

  cancelling(receive: RecordId, isMatched: boolean): boolean {
    return this.receives.cancelling(receive, isMatched);
  }

  get rests(): null {
    return null;
  }

  /** What crosses the border of a set may be on its way when the set is captured. */
  settles(): void {}

  // Output

  writeMayLeave({ kind, number }: Write): boolean {
    if (number !== this.lastWrite) {
      this.lastWrite = number;
      this.writeTicket = kind === "file" ? this.log.ticketOfFile() : this.log.ticket();
    }
    return this.log.isStable(this.writeTicket);
  }

  // Checkpoints

  /** The position: where the set's stream is now. Members are told one after the other; the last of them counts. */
  captured(checkpoint: number): number {
    this.countPlane();
    this.log.closeRun();
    this.payloads.flush();
    this.trimLimits.captured(checkpoint);
    // The checkpoint counts when the event logger has come as far.
    this.log.hurry();
    return this.log.position;
  }

  trimmedTo(checkpoint: number): void {
    this.trimLimits.trimmedTo(checkpoint);
  }

  get kept(): Kept[] {
    return this.channels.kept;
  }

  /** Bytes in the payload log. */
  get loggedBytes(): number {
    return this.channels.keptBytes;
  }

  report(): Logged {
    this.countPlane();
    const { channels, sends, log } = this;
    return { bytesTo: channels.loggedBytesTo, messages: sends.messages, determinantBytes: log.bytes };
  }
}

lives({ LoggingProtocol });
