/**
 * Message logging with correlated sets ("Correlated set coordination …", docs/papers.md): pessimistic event logging, sender-based payload log between sets only.
 *
 *   between sets   a message is copied into the payload log of its sender and leaves when every choice it may depend on is
 *                  stable; the send is complete as soon as it is logged; a synchronous one, when it is matched and the
 *                  receiver's choices before that are stable: who hears of it must not hear of what may never have been
 *   inside a set   nothing is logged: its processes fall together, go back together, and the wait for the event logger is at
 *                  the set's border (Theorem 1; one stream of determinants for the set, Theorem 2)
 *
 * When a set has been restarted, its processes and all others tell each other once, channel by channel and both ways, which
 * messages they hold (channel.ts). What is lacking is sent again from the payload log; what is there already is not sent
 * again by a sender that posts it for the second time. Receives from any source take what they took (replay.ts).
 *
 * Frames: three words.
 *
 *   BEGIN   our incarnation, the peer's that we speak to    HELD    a number above the first missing that we have
 *   BROKEN  a number that we have without all its bytes     SUM     of what we have, for comparing
 *   END     the first number that we miss; 1: all was heard TRIM    the peer need not keep lower numbers any more
 *   ASK     of a synchronous message that was taken         ANSWER  whatever led to that is stable
 */
import type { Pointer, RecordId, WorldRank } from "../../base/brand.ts";
import { ANY_SOURCE } from "../../base/constants.ts";
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import { Arrival, Pin, Went } from "../../request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_PROTOCOL,
  R_SEQUENCE,
  R_TAG,
  RecordFlag,
  SendMode,
} from "../../request/records.ts";
import { BYTES, CONTEXT, SEQUENCE, SOURCE, TAG } from "../../wire/packet.ts";
import type { Beginning, Protocol, ProtocolPorts, Write } from "../protocol.ts";
import { Channel } from "./channel.ts";
import { DeterminantLog } from "./determinant-log.ts";
import { DeterminantKind, type DeterminantStream } from "./determinant-stream.ts";
import { Kept, Lent, noRequest } from "./kept.ts";
import { LoggedChoices } from "./logged-choices.ts";
import { type PayloadLog, PayloadMemory, type PayloadMemoryOptions } from "./payload-memory.ts";
import { Replay } from "./replay.ts";

const Frame = { BEGIN: 1, HELD: 2, BROKEN: 3, SUM: 4, END: 5, TRIM: 6, ASK: 7, ANSWER: 8 } as const;

/** Contexts of the program's own messages are even; those of collectives and of the runtime are odd. */
const isOfProgram = (context: number): boolean => (context & 1) === 0;

/** Ranks have one process each. */
const nameOf = (rank: number): ProcessName => ({ rank, replica: 0 });

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

/** What a life that is not the first begins with. */
export interface KnownChoices {
  /** The set's stream from the position of its image on. */
  readonly log: Int32Array;
}

/** What a process has put into logs, in all of its life that its image knows of. */
export interface Logged {
  /** Payload, by the set of the receiver. */
  readonly bytesTo: readonly number[];
  readonly messages: number;
  readonly determinantBytes: number;
}

export class LoggingProtocol implements Protocol {
  static readonly unsaved = {
    incarnation: 0,
    lastWrite: -1,
    whenCaughtUp: null,
    isLive: false,
    passed: null,
  };
  readonly deathEndsRequests = false;
  readonly mayJudgeCollectives = false;
  readonly finishedServe = true;
  readonly hasFarewell = false;
  readonly choices: LoggedChoices;
  private readonly rank: number;
  private readonly log: DeterminantLog;
  private readonly replay = new Replay();
  /** There is nothing to see again, for certain: asked of every message. */
  private isLive = false;
  private readonly ports: ProtocolPorts;
  private readonly payloads: PayloadMemory;
  private incarnation = 0;
  /** By rank: of those of other sets that this process has had to do with. */
  private readonly channels = new Map<number, Channel>();
  /** Messages that have been announced and not taken yet, by the number that the engine's records name them by. */
  private readonly underWay = new Map<number, Kept>();
  private keepers = 0;
  /** Channels with something that has not left. */
  private readonly pending = new Set<number>();
  /** What peers want to know and what must be stable first, in the order of asking. */
  private answers: { readonly peer: number; readonly sequence: number; readonly ticket: number }[] = [];
  /** Receives that the program has posted. */
  private receives = 0;
  /** The write that was asked about last, and what it waits for. */
  private lastWrite = -1;
  private writeTicket = 0;
  /** At each checkpoint that may still be restored: below which number each rank of another set need not send again. */
  private readonly heldAt = new Map<number, ReadonlyMap<number, number>>();
  /** Null: it has caught up, or never fell. */
  private whenCaughtUp: (() => void) | null = null;
  private readonly setOf: Int32Array;
  /** Payload, by the set of the receiver. */
  private readonly loggedBytesTo = new Map<number, number>();
  private loggedMessages = 0;
  /**
   * Receives of the program, sends to other sets, meetings on boards: what every life does in the same order, whichever way its
   * messages go.
   */
  private calls = 0;
  private readonly passed: Float64Array;

  constructor({ rank, setOf, stream, payloads, passed }: LoggingOptions, ports: ProtocolPorts) {
    this.rank = rank;
    this.passed = passed ?? new Float64Array(1);
    this.ports = ports;
    this.payloads = new PayloadMemory(ports.memory, payloads ?? null, () => this.payloadLog);
    this.setOf = setOf;
    this.log = new DeterminantLog(rank, stream);
    this.choices = new LoggedChoices(this.log, this.replay);
  }

  /** For the memory of the payload log, when it is short. */
  private get payloadLog(): PayloadLog {
    return { channels: this.channels, setOf: this.setOf };
  }

  private isOfOurSet(rank: number): boolean {
    return this.setOf[rank] === this.setOf[this.rank];
  }

  /** The channel with a rank of another set, made when it is first asked for; null: the rank is of our own, or none. */
  private channelWith(rank: number): Channel | null {
    const known = this.channels.get(rank);
    if (known !== undefined) return known;
    if (this.isOfOurSet(rank) || this.setOf[rank] === undefined) return null;
    const channel = new Channel(rank);
    this.channels.set(rank, channel);
    return channel;
  }

  // Restarts

  begin({ incarnation, incarnations, data, caughtUp }: Beginning): void {
    if (incarnation === 0) return;
    this.incarnation = incarnation;
    this.whenCaughtUp = caughtUp;
    this.replay.add(this.rank, (data as KnownChoices).log);
    this.isLive = false;
    this.ports.pinPosted((receive) => this.pinOf(receive));
    // All peers, also those that the image does not know: they may have sent to a life of this process that knew them.
    for (const peer of this.setOf.keys()) {
      const channel = this.channelWith(peer);
      if (channel === null) continue;
      this.lose(channel, incarnations[peer]!);
      this.tellPeer(channel);
    }
  }

  peerFailed({ rank }: ProcessName, incarnation: number): void {
    const channel = this.channelWith(rank);
    // Ranks of our own set fall with us: this life ends too, and is told nothing.
    if (channel === null || incarnation < channel.incarnation) return;
    this.lose(channel, incarnation);
  }

  peerReturned({ rank }: ProcessName, incarnation: number): void {
    const channel = this.channelWith(rank);
    if (channel === null || incarnation < channel.incarnation) return;
    if (incarnation > channel.incarnation) this.lose(channel, incarnation);
    this.tellPeer(channel);
  }

  private lose(channel: Channel, incarnation: number): void {
    this.ports.peerLost(nameOf(channel.peer), incarnation);
    for (const [keeper, message] of this.underWay) {
      if (message.dest !== channel.peer) continue;
      this.underWay.delete(keeper);
      this.payloads.giveBack(message);
    }
    this.answers = this.answers.filter(({ peer }) => peer !== channel.peer);
    channel.close(incarnation);
  }

  private tellPeer(channel: Channel): void {
    if (!channel.mustTell(this.incarnation)) return;
    const { peer, received, sum } = channel;
    this.tell(peer, Frame.BEGIN, this.incarnation, channel.incarnation);
    for (const number of received.later) this.tell(peer, Frame.HELD, number);
    for (const number of this.ports.brokenFrom(peer)) this.tell(peer, Frame.BROKEN, number);
    this.tell(peer, Frame.SUM, sum);
    this.tell(peer, Frame.END, received.firstMissing, channel.isOpen ? 1 : 0);
  }

  private tell(peer: number, frame: number, b: number, c = 0): void {
    this.ports.tell(nameOf(peer), { a: frame, b, c });
  }

  control(words: Int32Array, packet: number): void {
    const channel = this.channelWith(words[packet + SOURCE]!);
    if (channel === null) return;
    const a = words[packet + TAG]!;
    switch (words[packet + CONTEXT]!) {
      case Frame.BEGIN:
        this.hearBegin(channel, a, words[packet + SEQUENCE]!);
        return;
      case Frame.HELD:
        channel.hearHeld(a);
        return;
      case Frame.BROKEN:
        channel.hearBroken(a);
        return;
      case Frame.SUM:
        channel.hearSum(a);
        return;
      case Frame.END:
        this.hearEnd(channel, a, words[packet + SEQUENCE]! !== 0);
        return;
      case Frame.TRIM:
        this.forget(channel.trim(a));
        return;
      case Frame.ASK:
        this.answers.push({ peer: channel.peer, sequence: a, ticket: this.log.ticket() });
        this.answer();
        return;
      case Frame.ANSWER:
        this.hearAnswer(channel, a);
    }
  }

  /** A committed image of the receiver has these: they were taken, and that is certain. */
  private forget(messages: readonly Kept[]): void {
    for (const message of messages) {
      this.completeSend(message);
      this.payloads.forget(message);
    }
  }

  /** Words for another life of ours, from an old life of the peer's, or said twice, are not for us. */
  private hearBegin(channel: Channel, theirs: number, ours: number): void {
    if (ours !== this.incarnation || theirs < channel.incarnation) return;
    if (theirs === channel.incarnation && channel.isOpen) return;
    // Its new life speaks before we have heard of the old one's death.
    if (theirs > channel.incarnation) this.lose(channel, theirs);
    channel.hearBegin();
  }

  /**
   * `isHeard`: the peer's present life has heard what we told it. Otherwise that may be lost: we may have known of that life before
   * it began. It is told again before anything else leaves; to hear it twice does no harm.
   */
  private hearEnd(channel: Channel, firstMissing: number, isHeard: boolean): void {
    if (!channel.hearEnd(firstMissing)) return;
    this.ports.peerBack(nameOf(channel.peer));
    if (!isHeard) channel.tellAgain();
    this.tellPeer(channel);
    for (const message of channel.kept) if (message.isDelivered) this.ask(channel, message);
    if (channel.isPending) this.pending.add(channel.peer);
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
  }

  /** It has seen again all that it saw, and sent again all that others have of it. */
  private checkCaughtUp(): void {
    if (!this.replay.isOver) return;
    for (const channel of this.channels.values()) if (!channel.isRepeated) return;
    const caughtUp = this.whenCaughtUp!;
    this.whenCaughtUp = null;
    caughtUp();
  }

  // The short ways

  /** Inside a set the protocol need not see messages once nothing is left to replay; but a send closes a run of nothings. */
  mayPass(peer: number): boolean {
    if (!this.isLive) this.isLive = this.replay.isOver;
    return this.isLive && this.isOfOurSet(peer) && !this.log.hasOpenRun;
  }

  /** It counts as the others do: which way a receive goes is chance. */
  received(isAnySource: boolean, source: WorldRank, sequence: number): void {
    const number = ++this.receives;
    this.pass();
    if (isAnySource) this.log.append3(DeterminantKind.MATCH, number, source, sequence);
  }

  get callsPassed(): number {
    return this.calls;
  }

  private pass(): void {
    this.passed[0] = ++this.calls;
  }

  // Sends

  sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    const dest = records.get(send, R_PEER);
    const channel = this.channelWith(dest);
    if (isOfProgram(records.get(send, R_CONTEXT))) this.replay.passed();
    if (channel === null) {
      // What it makes others of the set send must not leave before what we were told is in the stream.
      this.log.closeRun();
      // That it was complete may be what was seen: it must not wait for its receiver now because memory is scarcer.
      if (!this.replay.isOver) records.addFlag(send, RecordFlag.INSISTS);
      return false;
    }
    this.pass();
    const bytes = records.get(send, R_BYTES);
    const isSynchronous = records.get(send, R_MODE) === SendMode.SYNCHRONOUS;
    const pointer = this.payloads.copy(records.get(send, R_POINTER) as Pointer, bytes);
    const context = records.get(send, R_CONTEXT);
    const tag = records.get(send, R_TAG);
    const sequence = records.get(send, R_SEQUENCE);
    const message = { dest, context, tag, bytes, sequence, isSynchronous, pointer };
    const kept = new Kept(message, this.log.ticket(), isSynchronous ? send : noRequest);
    if (!isSynchronous) this.ports.complete(send);
    if (!channel.keep(kept)) {
      this.completeSend(kept);
      this.payloads.forget(kept);
      return true;
    }
    if (kept.isDelivered) this.ask(channel, kept);
    const set = this.setOf[dest]!;
    this.loggedBytesTo.set(set, (this.loggedBytesTo.get(set) ?? 0) + bytes);
    this.loggedMessages++;
    this.pending.add(dest);
    this.pump(channel);
    return true;
  }

  /** A synchronous message has been taken: is that certain? */
  private ask(channel: Channel, message: Kept): void {
    if (message.send < 0) return;
    channel.asked.set(message.sequence, message);
    this.tell(channel.peer, Frame.ASK, message.sequence);
  }

  private hearAnswer(channel: Channel, sequence: number): void {
    const message = channel.asked.get(sequence);
    if (message === undefined) return;
    channel.asked.delete(sequence);
    this.completeSend(message);
  }

  /** Answers what has become certain. */
  private answer(): boolean {
    const { answers, log } = this;
    let moved = false;
    while (answers.length !== 0 && log.isStable(answers[0]!.ticket)) {
      const { peer, sequence } = answers.shift()!;
      this.tell(peer, Frame.ANSWER, sequence);
      moved = true;
    }
    return moved;
  }

  private completeSend(message: Kept): void {
    if (message.send < 0) return;
    const { send } = message;
    message.send = noRequest;
    this.ports.complete(send);
  }

  /** Puts on its way what may leave and finds room. */
  private pump(channel: Channel): boolean {
    if (!channel.isOpen) return false;
    const before = channel.next;
    const { kept } = channel;
    for (; channel.next < kept.length; channel.next++) {
      const message = kept[channel.next]!;
      if (message.isDelivered) continue;
      if (!this.log.isStable(message.ticket)) break;
      if (!this.transmit(message)) break;
    }
    if (!channel.isPending) this.pending.delete(channel.peer);
    return channel.next !== before;
  }

  /** What travels with its envelope is read now; what follows it, when it is wanted: by the receiver itself if it may be lent. */
  private transmit(message: Kept): boolean {
    const ports = this.ports;
    const payloads = this.payloads;
    if (ports.isEager(message)) {
      payloads.fetch(message);
      return ports.transmit(message, 0) === Went.WHOLE;
    }
    if (message.isInMemory && payloads.mayLend(message, Lent.OFFERED)) payloads.lend(message, Lent.OFFERED);
    const keeper = this.keepers;
    if (ports.transmit(message, keeper) === Went.NOWHERE) {
      payloads.giveBack(message);
      return false;
    }
    this.underWay.set(keeper, message);
    this.keepers = (keeper + 1) | 0;
    return true;
  }

  lend(send: RecordId, isForLong: boolean): boolean {
    const { records } = this.ports;
    const message = this.underWay.get(records.get(send, R_PROTOCOL))!;
    if (isForLong && !this.payloads.mayLend(message, Lent.TAKEN)) return false;
    this.payloads.lend(message, Lent.TAKEN);
    records.put(send, R_POINTER, message.pointer);
    return true;
  }

  get isBusy(): boolean {
    return this.pending.size !== 0 || this.answers.length !== 0;
  }

  progress(): boolean {
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
    let moved = this.answers.length !== 0 && this.answer();
    if (this.pending.size !== 0) for (const peer of this.pending) if (this.pump(this.channels.get(peer)!)) moved = true;
    return moved;
  }

  /** As a send inside the set: what we were told must be in the stream first. */
  meeting(): void {
    this.pass();
    this.log.closeRun();
  }

  /** Inside a set: the wait is at its border. */
  sendMayLeave(): boolean {
    return true;
  }

  /** Asked of what we have announced, when its receiver has it; and of sends inside the set. */
  sendMayComplete(send: RecordId): boolean {
    const { records } = this.ports;
    if (!records.hasFlag(send, RecordFlag.KEPT)) return true;
    const keeper = records.get(send, R_PROTOCOL);
    const message = this.underWay.get(keeper);
    this.underWay.delete(keeper);
    if (message !== undefined) {
      this.payloads.giveBack(message);
      message.isDelivered = true;
      this.ask(this.channels.get(message.dest)!, message);
    }
    return true;
  }

  // Receives

  /** The record's word for protocols: 0, or twice the number of the receive, counted from 1, and 1 for any source. */
  receivePosted(receive: RecordId): Pin {
    const { records } = this.ports;
    if (!isOfProgram(records.get(receive, R_CONTEXT))) return Pin.FREE;
    this.replay.passed();
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
    const number = ++this.receives;
    this.pass();
    const isAnySource = records.get(receive, R_PEER) === ANY_SOURCE;
    records.put(receive, R_PROTOCOL, 2 * number + (isAnySource ? 1 : 0));
    return this.replay.isOver ? Pin.FREE : this.pinOf(receive);
  }

  private pinOf(receive: RecordId): Pin {
    const { records } = this.ports;
    const word = records.get(receive, R_PROTOCOL);
    if (this.replay.takeCancelled(word >> 1)) return Pin.NOTHING;
    const match = (word & 1) === 0 ? undefined : this.replay.takeMatch(word >> 1);
    if (match === undefined) return Pin.FREE;
    records.put(receive, R_PEER, match.source);
    records.put(receive, R_SEQUENCE, match.sequence);
    return Pin.MESSAGE;
  }

  arrived(words: Int32Array, packet: number): Arrival {
    const source = words[packet + SOURCE]!;
    const channel = this.channelWith(source);
    if (channel === null) return Arrival.TAKE;
    const sequence = words[packet + SEQUENCE]!;
    if (channel.receive(sequence, words[packet + CONTEXT]!, words[packet + TAG]!, words[packet + BYTES]!)) {
      return Arrival.TAKE;
    }
    return this.ports.isBroken(source, sequence) ? Arrival.AGAIN : Arrival.DROP;
  }

  held(): void {}

  matched(receive: RecordId, source: WorldRank, sequence: number): void {
    const { records } = this.ports;
    const word = records.get(receive, R_PROTOCOL);
    if ((word & 1) === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return;
    this.log.append3(DeterminantKind.MATCH, word >> 1, source, sequence);
  }

  /** A pinned receive does what it did. One from any source that has its message has said so when it took it. */
  cancelling(receive: RecordId, isMatched: boolean): boolean {
    const { records } = this.ports;
    const word = records.get(receive, R_PROTOCOL);
    const number = word >> 1;
    if (number === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return true;
    if (this.replay.takeCame(number)) return false;
    if (!isMatched) this.log.append(DeterminantKind.CANCELLED, [number]);
    else if ((word & 1) === 0) this.log.append(DeterminantKind.CAME, [number]);
    return true;
  }

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
    this.log.closeRun();
    this.payloads.flush();
    const below = new Map<number, number>();
    for (const { peer, received } of this.channels.values()) {
      let limit = received.firstMissing;
      for (const number of this.ports.incompleteFrom(peer)) if (((number - limit) | 0) < 0) limit = number;
      below.set(peer, limit);
    }
    this.heldAt.set(checkpoint, below);
    return this.log.position;
  }

  /** Senders need not keep what the image of that number has. */
  trimmedTo(checkpoint: number): void {
    const below = this.heldAt.get(checkpoint);
    for (const number of this.heldAt.keys()) if (number < checkpoint) this.heldAt.delete(number);
    if (below === undefined) return;
    for (const [peer, limit] of below) {
      if (this.channels.get(peer)!.isOpen) this.tell(peer, Frame.TRIM, limit);
    }
  }

  /** Has it still to see again what its life before saw? */
  get isReplaying(): boolean {
    return !this.replay.isOver;
  }

  report(): Logged {
    const { loggedBytesTo, loggedMessages, log } = this;
    const sets = 1 + this.setOf.reduce((most, set) => Math.max(most, set), 0);
    const bytesTo = Array.from({ length: sets }, (_, set) => loggedBytesTo.get(set) ?? 0);
    return { bytesTo, messages: loggedMessages, determinantBytes: log.bytes };
  }

  /** Messages of the payload log that have bytes in the process's memory; in the same order after a restore. */
  get kept(): Kept[] {
    const isInMemory = (message: Kept): boolean => message.bytes !== 0 && message.isInMemory;
    return [...this.channels.values()].flatMap(({ kept }) => kept.filter(isInMemory));
  }

  /** Bytes in the payload log. */
  get loggedBytes(): number {
    let bytes = 0;
    for (const { kept } of this.channels.values()) for (const message of kept) bytes += message.bytes;
    return bytes;
  }
}

lives({ LoggingProtocol });
