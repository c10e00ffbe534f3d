/**
 * The sending side of all channels from this process: numbers messages, decides which are eager, and puts packets on their
 * way, or in their destination's queue when the channel is full. A full channel never blocks; order is kept.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { type KeptMessage, type Told, Went } from "../request/decisions.ts";
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
  R_REPLICA,
  R_SENDER,
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
import { BYTES, CONTEXT, EXTRA, KIND, PacketKind, SEQUENCE, type Sender, senderOf, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { headerWordsOwn } from "./announcements.ts";
import type { Completion } from "./completion.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import { Gone } from "./gone.ts";
import { OutgoingQueues } from "./outgoing-queues.ts";
import type { Pass } from "./pass.ts";
import type { Peers, Way } from "./peers.ts";
import type { Refusals } from "./refusals.ts";
import { SparseTable } from "./sparse-table.ts";

/** Words of an announcement: as many as a record has for the layers above and protocols, which use none of them in a packet that waits. */
const announcementWords = userWords + protocolWords;

/** Words of a channel, behind the rank that it leads to: the next number. */
const C_NEXT = 1;

const noBytes = new Uint8Array(0);

export class Outbox {
  static readonly unsaved = { pass: null };
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly completion: Completion;
  private readonly queues: OutgoingQueues;
  /** The other processes on whose behalf this one speaks; `R_SENDER` of a record counts from 1. */
  private readonly senders: Sender[] = [];
  /** Payloads of packets that wait for room, by record: those that are no messages. */
  private readonly payloads = new Map<number, Uint8Array>();
  /** By rank: the next number of that channel. With a data plane it is in the pass, and here when an image is taken. */
  private readonly channels = new SparseTable([0]);
  private readonly pass: Pass;
  private readonly peers: Peers;
  private readonly refusals: Refusals;
  /** Sends must look closer than the short way does: a protocol wants to see them, or something is revoked. */
  looksCloser: boolean;

  constructor(ports: EnginePorts, completion: Completion, refusals: Refusals) {
    const { records, transport, memory, hooks, peers, pass } = ports;
    this.refusals = refusals;
    this.looksCloser = hooks !== null;
    this.records = records;
    this.transport = transport;
    this.memory = memory;
    this.hooks = hooks;
    this.completion = completion;
    this.queues = new OutgoingQueues(records, peers, pass);
    this.pass = pass;
    this.peers = peers;
  }

  // Messages

  /** The short way of a standard send: true when the whole message has left. */
  sendNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    if (this.looksCloser && !this.maySendNow(dest, context)) return false;
    const way = this.peers.wayTo(dest);
    if (dest !== way.rank) this.learn(way, dest);
    if (bytes > way.eagerBytesMax) return false;
    if (this.queues.count !== 0 && this.queues.waiting(this.peers.ofRank(dest))) return false;
    const next = way.channel + C_NEXT;
    const { pass } = this;
    const sequence = pass.isUsed ? pass.nextNumber(dest) : this.channels.words[next]!;
    if (!this.transmitEager(pointer, bytes, way.process, tag, context, sequence)) return false;
    if (pass.isUsed) pass.setNextNumber(dest, (sequence + 1) | 0);
    else this.channels.words[next] = (sequence + 1) | 0;
    return true;
  }

  /** From now on this is the way of messages for that rank. */
  private learn(way: Way, dest: number): void {
    const { peers } = this;
    const peer = peers.ofRank(dest);
    const eagerBytesMax = peers.eagerBytesMax(peer);
    way.channel = this.channels.at(dest);
    way.eagerBytesMax = eagerBytesMax;
    way.process = peers.processOf(peer);
    way.rank = dest;
    this.pass.openWay(dest, eagerBytesMax);
  }

  private maySendNow(dest: number, context: number): boolean {
    return (this.hooks === null || this.hooks.mayPass(dest)) && !this.refusals.isRevoked(context);
  }

  /** The number of the message numbered last. */
  lastSequence(dest: number): number {
    return (this.next(dest) - 1) | 0;
  }

  /** Numbers the next message of a channel. */
  nextSequence(dest: number): number {
    const sequence = this.next(dest);
    this.setNext(dest, (sequence + 1) | 0);
    return sequence;
  }

  private next(dest: number): number {
    return this.pass.isUsed ? this.pass.nextNumber(dest) : this.channels.get(dest, C_NEXT);
  }

  private setNext(dest: number, sequence: number): void {
    if (this.pass.isUsed) this.pass.setNextNumber(dest, sequence);
    else this.channels.put(dest, C_NEXT, sequence);
  }

  /** An image is about to be taken: the numbers are where it finds them. */
  rememberNumbers(): void {
    if (!this.pass.isUsed) return;
    for (let dest = 0; dest < this.peers.ranks; dest++) {
      const next = this.pass.nextNumber(dest);
      if (next !== 0) this.channels.put(dest, C_NEXT, next);
    }
  }

  /** The numbers are those of an image. */
  restored(): void {
    if (!this.pass.isUsed) return;
    const { words } = this.channels;
    this.channels.forEach((slot) => {
      this.pass.setNextNumber(words[slot]!, words[slot + C_NEXT]!);
    });
  }

  /** Puts a numbered send on its way, or in its queue. True when all of it has left. */
  post(send: RecordId): boolean {
    const peer = this.peerOf(send);
    const went = this.queues.waiting(peer) ? Went.NOWHERE : this.transmitSend(send);
    if (went === Went.NOWHERE) this.queues.append(peer, send);
    if (went !== Went.WHOLE) return false;
    this.completion.finishSend(send);
    return true;
  }

  /** A message that the protocol keeps: an eager one needs no request, another gets one that ends by itself. */
  transmit(message: KeptMessage, keeper: number): Went {
    const { dest, replica, from, bytes, pointer, tag, context, sequence, isSynchronous, isLent } = message;
    const peer = this.peers.numberOf(dest, replica);
    // What the protocol wants to tell first is told first.
    if (this.queues.waiting(peer)) return Went.NOWHERE;
    const sender = from === null ? 0 : this.numberOf(senderOf(from));
    if (this.isEager(message)) {
      const process = this.peers.processOf(peer);
      const as = sender === 0 ? undefined : this.senders[sender - 1];
      return this.transmitEager(pointer, bytes, process, tag, context, sequence, as) ? Went.WHOLE : Went.NOWHERE;
    }
    const send = this.records.takeMessage(RecordKind.SEND, pointer, bytes, dest, tag, context);
    const words = this.records.words;
    const at = send * recordWords;
    words[at + R_MODE] = isSynchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD;
    words[at + R_SEQUENCE] = sequence;
    words[at + R_FLAGS] = RecordFlag.KEPT | RecordFlag.ORPHAN | (isLent ? RecordFlag.LENT : 0);
    words[at + R_PROTOCOL] = keeper;
    words[at + R_REPLICA] = replica;
    words[at + R_SENDER] = sender;
    if (this.transmitEnvelope(send)) return Went.ENVELOPE;
    this.records.give(send);
    return Went.NOWHERE;
  }

  isEager({ dest, replica, bytes, isSynchronous }: KeptMessage): boolean {
    return bytes <= this.peers.eagerBytesMax(this.peers.numberOf(dest, replica)) && !isSynchronous;
  }

  /** The other side of a record: its receiver or its sender. */
  private peerOf(record: RecordId): number {
    return this.peers.ofRecord(this.records.words, record * recordWords);
  }

  /** `R_SENDER` for packets on behalf of another process. There are as many as this process has ever stood in for. */
  private numberOf({ rank, bits }: Sender): number {
    const known = this.senders.findIndex((sender) => sender.rank === rank && sender.bits === bits);
    return known >= 0 ? known + 1 : this.senders.push({ rank, bits });
  }

  /** The sender that the packets of a send name; undefined: this process. */
  senderOf(send: RecordId): Sender | undefined {
    return this.senders[this.records.get(send, R_SENDER) - 1];
  }

  /** Puts the first packet of a send on its channel, unless there is no room or the protocol says not yet. */
  private transmitSend(send: RecordId): Went {
    if (this.hooks !== null && !this.isLetGo(send)) return Went.NOWHERE;
    const words = this.records.words;
    const at = send * recordWords;
    const peer = this.peers.ofRecord(words, at);
    const bytes = words[at + R_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    const tag = words[at + R_TAG]!;
    const context = words[at + R_CONTEXT]!;
    const sequence = words[at + R_SEQUENCE]!;
    if (bytes <= this.eagerLimitOf(send, peer) && words[at + R_MODE] !== SendMode.SYNCHRONOUS) {
      const process = this.peers.processOf(peer);
      return this.transmitEager(pointer, bytes, process, tag, context, sequence) ? Went.WHOLE : Went.NOWHERE;
    }
    return this.transmitEnvelope(send) ? Went.ENVELOPE : Went.NOWHERE;
  }

  private eagerLimitOf(send: RecordId, peer: number): number {
    return this.records.hasFlag(send, RecordFlag.INSISTS)
      ? this.transport.eagerBytesMax(this.peers.processOf(peer))
      : this.peers.eagerBytesMax(peer);
  }

  private transmitEnvelope(send: RecordId): boolean {
    const words = this.records.words;
    const at = send * recordWords;
    const process = this.peers.processOf(this.peers.ofRecord(words, at));
    const pointer = this.isAbsent(send) ? -1 : words[at + R_POINTER]!;
    const transport = this.transport;
    const packet = transport.reserve(process, 0);
    if (packet < 0) return false;
    const out = transport.words;
    out[packet + KIND] = PacketKind.RTS;
    out[packet + CONTEXT] = words[at + R_CONTEXT]!;
    out[packet + TAG] = words[at + R_TAG]!;
    out[packet + BYTES] = words[at + R_BYTES]!;
    out[packet + SEQUENCE] = words[at + R_SEQUENCE]!;
    out[packet + EXTRA] = send;
    out[packet + EXTRA + 1] = pointer >= 0 && transport.shares(process) ? pointer : -1;
    this.commit(process, words[at + R_SENDER]!);
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
    if (this.hooks?.sendMayLeave(send) !== true) return false;
    this.records.put(send, R_FLAGS, flags | RecordFlag.LET_GO);
    return true;
  }

  /** Payload first, then the header words, then commit: `Transport.reserve` says why. */
  private transmitEager(
    pointer: Pointer,
    bytes: number,
    process: number,
    tag: number,
    context: number,
    sequence: number,
    sender?: Sender,
  ): boolean {
    const transport = this.transport;
    const packet = transport.reserve(process, bytes);
    if (packet < 0) return false;
    if (bytes !== 0) this.memory.toPayload(transport.payload, pointer, 0, bytes);
    const words = transport.words;
    words[packet + KIND] = PacketKind.EAGER;
    words[packet + CONTEXT] = context;
    words[packet + TAG] = tag;
    words[packet + BYTES] = bytes;
    words[packet + SEQUENCE] = sequence;
    transport.commit(process, sender);
    return true;
  }

  /** `sender` is `R_SENDER` of a record. */
  private commit(process: number, sender: number): void {
    if (sender === 0) this.transport.commit(process);
    else this.transport.commit(process, this.senders[sender - 1]);
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
    this.setNext(dest, this.lastSequence(dest));
    this.queues.remove(this.peerOf(send), send);
    this.completion.completeCancelled(send);
  }

  /** Asks the receiver of an envelope to forget it. */
  recall(send: RecordId): void {
    this.records.addFlag(send, RecordFlag.CANCELLING);
    this.control(this.peerOf(send), PacketKind.CANCEL, send, 0, 0, 0, this.records.get(send, R_SENDER));
  }

  // Packets that are no messages

  /**
   * A packet without payload; waits in its queue when the channel is full. It never waits for a send that the protocol holds
   * back: what it answers has nothing to do with that send, and may be what the protocol waits for. `sender`: `R_SENDER` of the
   * send that it is about.
   */
  control(peer: number, kind: PacketKind, a = 0, b = 0, c = 0, d = 0, sender = 0): void {
    const packet = this.newOutgoing(peer, kind, sender);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = c;
    words[at + R_SEQUENCE] = d;
    this.dispatch(peer, packet);
  }

  /** A packet of the protocol: three words, and a payload no longer than that of an eager message to that peer. */
  tell(peer: number, { a, b = 0, c = 0, payload = noBytes, from = null }: Told): void {
    const packet = this.newOutgoing(peer, PacketKind.PROTOCOL, from === null ? 0 : this.numberOf(senderOf(from)));
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = payload.length;
    words[at + R_SEQUENCE] = c;
    if (payload.length !== 0) {
      const bytesMax = this.transport.eagerBytesMax(this.peers.processOf(peer));
      assert(payload.length <= bytesMax, `a packet of a protocol has at most ${bytesMax} bytes`);
      // It may have to wait, and an image may be taken meanwhile.
      this.payloads.set(packet, payload.slice());
    }
    this.dispatch(peer, packet);
  }

  /** A packet to the layer above of another process, unless that is gone: REVOKE, AGREEMENT or INQUIRY, with its words. */
  announce(rank: number, kind: PacketKind, said: readonly number[]): void {
    const peer = this.peers.ofRank(rank);
    if (this.peers.gone(peer) !== Gone.NO) return;
    const packet = this.newOutgoing(peer, kind, 0);
    const words = this.records.words;
    for (let i = 0; i < announcementWords; i++) words[packet * recordWords + R_USER + i] = said[i] ?? 0;
    this.dispatch(peer, packet);
  }

  private newOutgoing(peer: number, kind: PacketKind, sender: number): RecordId {
    const packet = this.records.take(RecordKind.OUTGOING);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_PEER] = this.peers.rankOf(peer);
    words[at + R_REPLICA] = this.peers.replicaOfPeer(peer);
    words[at + R_MODE] = kind;
    words[at + R_SENDER] = sender;
    return packet;
  }

  /** Puts a packet on its way, or in its queue. */
  private dispatch(peer: number, packet: RecordId): void {
    const mayGo = !this.queues.waiting(peer) || (this.hooks !== null && this.queues.onlySends(peer));
    if (mayGo && this.transmitOutgoing(peer, packet)) this.giveOutgoing(packet);
    else if (this.hooks === null) this.queues.append(peer, packet);
    else this.queues.appendBeforeSends(peer, packet);
  }

  private transmitOutgoing(peer: number, record: RecordId): boolean {
    const transport = this.transport;
    const process = this.peers.processOf(peer);
    const payload = this.payloads.size === 0 ? undefined : this.payloads.get(record);
    const packet = transport.reserve(process, payload === undefined ? 0 : payload.length);
    if (packet < 0) return false;
    if (payload !== undefined) this.writePayload(payload);
    const said = this.records.words;
    const at = record * recordWords;
    const words = transport.words;
    const kind = said[at + R_MODE]!;
    words[packet + KIND] = kind;
    if (kind === PacketKind.REVOKE || kind === PacketKind.AGREEMENT || kind === PacketKind.INQUIRY) {
      for (let i = 0; i < announcementWords; i++) {
        words[packet + (i < headerWordsOwn ? CONTEXT + i : EXTRA + i - headerWordsOwn)] = said[at + R_USER + i]!;
      }
    } else {
      words[packet + CONTEXT] = said[at + R_CONTEXT]!;
      words[packet + TAG] = said[at + R_TAG]!;
      words[packet + BYTES] = said[at + R_BYTES]!;
      words[packet + SEQUENCE] = said[at + R_SEQUENCE]!;
    }
    this.commit(process, said[at + R_SENDER]!);
    return true;
  }

  private writePayload(payload: Uint8Array): void {
    const pointer = this.memory.lend(payload);
    this.memory.toPayload(this.transport.payload, pointer, 0, payload.length);
    this.memory.giveBack(pointer);
  }

  private giveOutgoing(packet: RecordId): void {
    if (this.payloads.size !== 0) this.payloads.delete(packet);
    this.records.give(packet);
  }

  // Queues

  /** Packets that wait for room, and sends that the protocol holds back. */
  get count(): number {
    return this.queues.count;
  }

  /** Transmits what waits, as far as channels take it; true when anything left. */
  flush(): boolean {
    let moved = false;
    for (let peer = this.queues.firstDestination(); peer >= 0; ) {
      const next = this.queues.destinationAfter(peer);
      while (this.queues.waiting(peer) && this.transmitHead(peer)) moved = true;
      peer = next;
    }
    return moved;
  }

  private transmitHead(peer: number): boolean {
    const record = this.queues.head(peer);
    return this.records.get(record, R_KIND) === RecordKind.SEND
      ? this.transmitHeadSend(peer, record)
      : this.transmitHeadOutgoing(peer, record);
  }

  private transmitHeadSend(peer: number, send: RecordId): boolean {
    const went = this.transmitSend(send);
    if (went === Went.NOWHERE) return false;
    this.queues.removeHead(peer);
    // Only now: a finished send may be given back, and its links with it; another packet may become the head.
    if (went === Went.WHOLE) this.completion.finishSend(send);
    else if (this.records.hasFlag(send, RecordFlag.CANCELLING)) this.recall(send);
    return true;
  }

  private transmitHeadOutgoing(peer: number, packet: RecordId): boolean {
    if (!this.transmitOutgoing(peer, packet)) return false;
    this.queues.removeHead(peer);
    this.giveOutgoing(packet);
    return true;
  }

  /** That peer will come back: it has told us nothing yet, and what we wanted to tell it is for its old life. */
  peerLost(peer: number): void {
    this.peers.setShut(peer, false);
    this.queues.drop(peer, (packet) => this.giveOutgoing(packet));
  }

  /** That peer is dead: what waits for room in its channel is given up. */
  peerFailed(peer: number): void {
    this.queues.drop(peer, (record) => {
      if (this.records.get(record, R_KIND) === RecordKind.SEND)
        this.completion.complete(record, ErrorClass.PROC_FAILED);
      else this.giveOutgoing(record);
    });
  }
}

lives({ Outbox });
