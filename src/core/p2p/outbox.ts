/**
 * The sending side of all channels from this process: numbers messages, decides which are eager, and puts packets on their
 * way, or in their destination's queue when the channel is full. A full channel never blocks; order is kept.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { type KeptMessage, Went } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import {
  protocolWords,
  R_BYTES,
  R_CONTEXT,
  R_FLAGS,
  R_KIND,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_PROTOCOL,
  R_SEQUENCE,
  R_STATE,
  R_TAG,
  R_USER,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
  SendMode,
  userWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PacketKind, SEQUENCE, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import type { Completion } from "./completion.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import { OutgoingQueues } from "./outgoing-queues.ts";
import type { Peers } from "./peers.ts";
import type { Refusals } from "./refusals.ts";
import { SparseTable } from "./sparse-table.ts";

/** Words of what the layer above announces: those of the header that are the sender's, then further ones. */
const ownWords = 4;
/** As many as a record has for layers above and protocols, who want none in a packet that waits. */
const announcementWords = userWords + protocolWords;

/** Words of a channel, behind the rank that it leads to: the next number. */
const C_NEXT = 1;

export class Outbox {
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly completion: Completion;
  private readonly queues: OutgoingQueues;
  /** By rank: the next number of that channel. */
  private readonly channels = new SparseTable([0]);
  private readonly peers: Peers;
  private readonly refusals: Refusals;
  /** Sends must look closer than the short way does: a protocol wants to see them, or something is revoked. */
  looksCloser: boolean;

  constructor({ records, transport, memory, hooks, peers }: EnginePorts, completion: Completion, refusals: Refusals) {
    this.refusals = refusals;
    this.looksCloser = hooks !== null;
    this.records = records;
    this.transport = transport;
    this.memory = memory;
    this.hooks = hooks;
    this.completion = completion;
    this.queues = new OutgoingQueues(records, peers);
    this.peers = peers;
  }

  // Messages

  /** The short way of a standard send: true when the whole message has left. */
  sendNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    if (this.looksCloser && !this.maySendNow(dest, context)) return false;
    if (bytes > this.peers.eagerBytesMax(dest) || this.queues.waiting(dest)) return false;
    const channel = this.channels.at(dest) + C_NEXT;
    const sequence = this.channels.words[channel]!;
    if (!this.transmitEager(pointer, bytes, dest, tag, context, sequence)) return false;
    this.channels.words[channel] = (sequence + 1) | 0;
    return true;
  }

  private maySendNow(dest: number, context: number): boolean {
    return (this.hooks === null || this.hooks.mayPass(dest)) && !this.refusals.isRevoked(context);
  }

  /** The number of the message numbered last. */
  lastSequence(dest: number): number {
    return (this.channels.get(dest, C_NEXT) - 1) | 0;
  }

  /** Numbers the next message of a channel. */
  nextSequence(dest: number): number {
    const sequence = this.channels.get(dest, C_NEXT);
    this.channels.put(dest, C_NEXT, (sequence + 1) | 0);
    return sequence;
  }

  /** Puts a numbered send on its way, or in its queue. True when all of it has left. */
  post(send: RecordId): boolean {
    const dest = this.records.get(send, R_PEER);
    const went = this.queues.waiting(dest) ? Went.NOWHERE : this.transmitSend(send);
    if (went === Went.NOWHERE) this.queues.append(dest, send);
    if (went !== Went.WHOLE) return false;
    this.completion.finishSend(send);
    return true;
  }

  /** A message that the protocol keeps: an eager one needs no request, another gets one that nobody waits for. */
  transmit(message: KeptMessage, keeper: number): Went {
    const { dest, bytes, pointer, tag, context, sequence, isSynchronous, isLent } = message;
    // What the protocol wants to tell first is told first.
    if (this.queues.waiting(dest)) return Went.NOWHERE;
    if (this.isEager(message)) {
      return this.transmitEager(pointer, bytes, dest, tag, context, sequence) ? Went.WHOLE : Went.NOWHERE;
    }
    const send = this.records.take(RecordKind.SEND);
    const words = this.records.words;
    const at = send * recordWords;
    words[at + R_CONTEXT] = context;
    words[at + R_PEER] = dest;
    words[at + R_TAG] = tag;
    words[at + R_BYTES] = bytes;
    words[at + R_POINTER] = pointer;
    words[at + R_MODE] = isSynchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD;
    words[at + R_SEQUENCE] = sequence;
    words[at + R_FLAGS] = RecordFlag.KEPT | RecordFlag.ORPHAN | (isLent ? RecordFlag.LENT : 0);
    words[at + R_PROTOCOL] = keeper;
    if (this.transmitEnvelope(send)) return Went.ENVELOPE;
    this.records.give(send);
    return Went.NOWHERE;
  }

  isEager({ dest, bytes, isSynchronous }: KeptMessage): boolean {
    return bytes <= this.peers.eagerBytesMax(dest) && !isSynchronous;
  }

  /** Puts the first packet of a send on its channel, unless there is no room or the protocol says not yet. */
  private transmitSend(send: RecordId): Went {
    if (this.hooks !== null && !this.isLetGo(send)) return Went.NOWHERE;
    const words = this.records.words;
    const at = send * recordWords;
    const dest = words[at + R_PEER]!;
    const bytes = words[at + R_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    const tag = words[at + R_TAG]!;
    const context = words[at + R_CONTEXT]!;
    const sequence = words[at + R_SEQUENCE]!;
    if (bytes <= this.eagerLimitOf(send, dest) && words[at + R_MODE] !== SendMode.SYNCHRONOUS) {
      return this.transmitEager(pointer, bytes, dest, tag, context, sequence) ? Went.WHOLE : Went.NOWHERE;
    }
    return this.transmitEnvelope(send) ? Went.ENVELOPE : Went.NOWHERE;
  }

  private eagerLimitOf(send: RecordId, dest: number): number {
    return this.records.hasFlag(send, RecordFlag.INSISTS)
      ? this.transport.eagerBytesMax(dest)
      : this.peers.eagerBytesMax(dest);
  }

  private transmitEnvelope(send: RecordId): boolean {
    const words = this.records.words;
    const at = send * recordWords;
    const dest = words[at + R_PEER]!;
    const pointer = this.isAbsent(send) ? -1 : words[at + R_POINTER]!;
    const transport = this.transport;
    const packet = transport.reserve(dest, 0);
    if (packet < 0) return false;
    const out = transport.words;
    out[packet + KIND] = PacketKind.RTS;
    out[packet + CONTEXT] = words[at + R_CONTEXT]!;
    out[packet + TAG] = words[at + R_TAG]!;
    out[packet + BYTES] = words[at + R_BYTES]!;
    out[packet + SEQUENCE] = words[at + R_SEQUENCE]!;
    out[packet + EXTRA] = send;
    out[packet + EXTRA + 1] = pointer >= 0 && transport.shares(dest) ? pointer : -1;
    transport.commit(dest);
    words[at + R_STATE] = RecordState.ACTIVE;
    words[at + R_FLAGS] = words[at + R_FLAGS]! | RecordFlag.AWAITS_ANSWER;
    return true;
  }

  /** The protocol keeps this message, and its bytes elsewhere. */
  isAbsent(send: RecordId): boolean {
    return (this.records.get(send, R_FLAGS) & (RecordFlag.KEPT | RecordFlag.LENT)) === RecordFlag.KEPT;
  }

  /** Asks the protocol until it says yes, then never again: a full channel does not make it change its mind. */
  private isLetGo(send: RecordId): boolean {
    const flags = this.records.get(send, R_FLAGS);
    if ((flags & RecordFlag.LET_GO) !== 0) return true;
    if (!this.hooks!.sendMayLeave(send)) return false;
    this.records.put(send, R_FLAGS, flags | RecordFlag.LET_GO);
    return true;
  }

  /** Payload first, then the header words, then commit: `Transport.reserve` says why. */
  private transmitEager(
    pointer: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    context: number,
    sequence: number,
  ): boolean {
    const transport = this.transport;
    const packet = transport.reserve(dest, bytes);
    if (packet < 0) return false;
    if (bytes !== 0) this.memory.toPayload(transport.payload, pointer, 0, bytes);
    const words = transport.words;
    words[packet + KIND] = PacketKind.EAGER;
    words[packet + CONTEXT] = context;
    words[packet + TAG] = tag;
    words[packet + BYTES] = bytes;
    words[packet + SEQUENCE] = sequence;
    transport.commit(dest);
    return true;
  }

  /**
   * Cancels a send that has not left. Numbers of a channel have no gaps: those behind it move up by one. A protocol has seen
   * the number, and perhaps told others of it, so under one the message leaves all the same, and its receiver is asked to
   * forget it as soon as its envelope is on the way; without an envelope of its own (eager) it is not cancelled.
   */
  cancel(send: RecordId): void {
    if (this.hooks !== null) {
      this.records.addFlag(send, RecordFlag.CANCELLING);
      return;
    }
    const words = this.records.words;
    const dest = words[send * recordWords + R_PEER]!;
    this.queues.forEachBehind(send, (record) => {
      const at = record * recordWords;
      if (words[at + R_KIND] === RecordKind.SEND) words[at + R_SEQUENCE] = (words[at + R_SEQUENCE]! - 1) | 0;
    });
    this.channels.put(dest, C_NEXT, this.lastSequence(dest));
    this.queues.remove(dest, send);
    this.completion.completeCancelled(send);
  }

  /** Asks the receiver of an envelope to forget it. */
  recall(send: RecordId): void {
    this.records.addFlag(send, RecordFlag.CANCELLING);
    this.control(this.records.get(send, R_PEER), PacketKind.CANCEL, send, 0, 0, 0);
  }

  // Packets without payload

  /** A packet of the layer above: up to four words of the header and eight more. As `control`, but for their number. */
  announce(dest: number, kind: PacketKind, said: readonly number[]): void {
    const overtakes = this.hooks !== null && this.queues.onlySends(dest);
    if ((overtakes || !this.queues.waiting(dest)) && this.transmitAnnouncement(dest, kind, said)) return;
    const packet = this.records.take(RecordKind.OUTGOING);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_PEER] = dest;
    words[at + R_MODE] = kind;
    for (let i = 0; i < announcementWords; i++) words[at + R_USER + i] = said[i] ?? 0;
    if (this.hooks === null) this.queues.append(dest, packet);
    else this.queues.appendBeforeSends(dest, packet);
  }

  private transmitAnnouncement(dest: number, kind: number, said: readonly number[]): boolean {
    const transport = this.transport;
    const packet = transport.reserve(dest, 0);
    if (packet < 0) return false;
    const words = transport.words;
    words[packet + KIND] = kind;
    for (let i = 0; i < announcementWords; i++) {
      words[packet + (i < ownWords ? CONTEXT + i : EXTRA + i - ownWords)] = said[i] ?? 0;
    }
    transport.commit(dest);
    return true;
  }

  /**
   * A packet without payload; waits in its queue when the channel is full. It never waits for a send that the protocol holds
   * back: what it answers has nothing to do with that send, and may be what the protocol waits for.
   */
  control(dest: number, kind: PacketKind, a: number, b: number, c: number, d: number): void {
    const overtakes = this.hooks !== null && this.queues.onlySends(dest);
    if ((overtakes || !this.queues.waiting(dest)) && this.transmitControl(dest, kind, a, b, c, d)) return;
    const packet = this.records.take(RecordKind.OUTGOING);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_PEER] = dest;
    words[at + R_MODE] = kind;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = c;
    words[at + R_SEQUENCE] = d;
    if (this.hooks === null) this.queues.append(dest, packet);
    else this.queues.appendBeforeSends(dest, packet);
  }

  private transmitControl(dest: number, kind: number, a: number, b: number, c: number, d: number): boolean {
    const transport = this.transport;
    const packet = transport.reserve(dest, 0);
    if (packet < 0) return false;
    const words = transport.words;
    words[packet + KIND] = kind;
    words[packet + CONTEXT] = a;
    words[packet + TAG] = b;
    words[packet + BYTES] = c;
    words[packet + SEQUENCE] = d;
    transport.commit(dest);
    return true;
  }

  // Queues

  /** Packets that wait for room, and sends that the protocol holds back. */
  get count(): number {
    return this.queues.count;
  }

  /** Transmits what waits, as far as channels take it; true when anything left. */
  flush(): boolean {
    let moved = false;
    for (let dest = this.queues.firstDestination(); dest >= 0; ) {
      const next = this.queues.destinationAfter(dest);
      while (this.queues.waiting(dest) && this.transmitHead(dest)) moved = true;
      dest = next;
    }
    return moved;
  }

  private transmitHead(dest: number): boolean {
    const record = this.queues.head(dest);
    return this.records.get(record, R_KIND) === RecordKind.SEND
      ? this.transmitHeadSend(dest, record)
      : this.transmitHeadControl(dest, record);
  }

  private transmitHeadSend(dest: number, send: RecordId): boolean {
    const went = this.transmitSend(send);
    if (went === Went.NOWHERE) return false;
    this.queues.removeHead(dest);
    // Only now: a finished send may be given back, and its links with it; another packet may become the head.
    if (went === Went.WHOLE) this.completion.finishSend(send);
    else if (this.records.hasFlag(send, RecordFlag.CANCELLING)) this.recall(send);
    return true;
  }

  private transmitHeadControl(dest: number, packet: RecordId): boolean {
    const words = this.records.words;
    const at = packet * recordWords;
    const kind = words[at + R_MODE]!;
    if (kind === PacketKind.REVOKE || kind === PacketKind.AGREEMENT) {
      const said = Array.from(words.subarray(at + R_USER, at + R_USER + announcementWords));
      if (!this.transmitAnnouncement(dest, kind, said)) return false;
    } else {
      const a = words[at + R_CONTEXT]!;
      const b = words[at + R_TAG]!;
      const c = words[at + R_BYTES]!;
      const d = words[at + R_SEQUENCE]!;
      if (!this.transmitControl(dest, kind, a, b, c, d)) return false;
    }
    this.queues.removeHead(dest);
    this.records.give(packet);
    return true;
  }

  /** That rank will come back: it has told us nothing yet, and what we wanted to tell it is for its old life. */
  peerLost(rank: number): void {
    this.peers.setShut(rank, false);
    this.queues.drop(rank, (packet) => this.records.give(packet));
  }

  /** That rank is dead: what waits for room in its channel is given up. */
  peerFailed(rank: number): void {
    this.queues.drop(rank, (record) => {
      if (this.records.get(record, R_KIND) === RecordKind.SEND)
        this.completion.complete(record, ErrorClass.PROC_FAILED);
      else this.records.give(record);
    });
  }
}

lives({ Outbox });
