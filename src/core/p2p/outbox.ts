/**
 * The sending side of all channels from this process: decides which messages are eager, and puts them on their way, or in their
 * destination's queue when the channel is full, among the packets that are no messages. A full channel never blocks; order is kept.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { type KeptMessage, Went } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import {
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
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
  SendMode,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PacketKind, SEQUENCE, type Sender, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { ChannelNumbers } from "./channel-numbers.ts";
import type { Completion } from "./completion.ts";
import { ControlPackets } from "./control-packets.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import { OutgoingQueues } from "./outgoing-queues.ts";
import type { Pass } from "./pass.ts";
import type { Peers, Way } from "./peers.ts";
import type { Refusals } from "./refusals.ts";
import { Senders } from "./senders.ts";

export class Outbox {
  static readonly unsaved = { pass: null };
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly completion: Completion;
  private readonly queues: OutgoingQueues;
  private readonly senders = new Senders();
  readonly packets: ControlPackets;
  readonly numbers: ChannelNumbers;
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
    this.packets = new ControlPackets(ports, this.queues, this.senders);
    this.numbers = new ChannelNumbers(pass, peers.ranks);
    this.pass = pass;
    this.peers = peers;
  }

  // Messages

  /** The short way of a standard send: true when the whole message has left. */
  sendNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    if (this.looksCloser && !this.maySendNow(dest, context)) return false;
    const way = this.wayTo(dest);
    if (bytes > way.eagerBytesMax || this.isBehindOthers(dest)) return false;
    if (this.transmitEager(pointer, bytes, way.process, tag, context, this.numbers.takeOf(way))) return true;
    this.numbers.giveBack(dest);
    return false;
  }

  private wayTo(dest: number): Way {
    const way = this.peers.wayTo(dest);
    if (dest !== way.rank) this.learn(way, dest);
    return way;
  }

  private isBehindOthers(dest: number): boolean {
    return this.queues.count !== 0 && this.queues.waiting(this.peers.ofRank(dest));
  }

  /** From now on this is the way of messages for that rank. */
  private learn(way: Way, dest: number): void {
    const { peers } = this;
    const peer = peers.ofRank(dest);
    const eagerBytesMax = peers.eagerBytesMax(peer);
    way.channel = this.numbers.channelTo(dest);
    way.eagerBytesMax = eagerBytesMax;
    way.process = peers.processOf(peer);
    way.rank = dest;
    this.pass.openWay(dest, eagerBytesMax);
  }

  private maySendNow(dest: number, context: number): boolean {
    return (this.hooks === null || this.hooks.mayPass(dest)) && !this.refusals.isRevoked(context);
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

  /** The short way of a message that the protocol keeps, and that has its number: true when all of it has left. */
  transmitNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): boolean {
    const way = this.wayTo(dest);
    if (bytes > way.eagerBytesMax || this.isBehindOthers(dest)) return false;
    return this.transmitEager(pointer, bytes, way.process, tag, context, sequence);
  }

  /** A message that the protocol keeps: an eager one needs no request, another gets one that ends by itself. */
  transmit(message: KeptMessage, keeper: number): Went {
    const { dest, replica, from, bytes, pointer, tag, context, sequence, isSynchronous, isLent } = message;
    const peer = this.peers.numberOf(dest, replica);
    // What the protocol wants to tell first is told first.
    if (this.queues.waiting(peer)) return Went.NOWHERE;
    const sender = this.senders.numberOf(from);
    if (this.isEager(message)) {
      const process = this.peers.processOf(peer);
      const as = this.senders.of(sender);
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
    transport.commit(process, this.senders.of(words[at + R_SENDER]!));
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
    this.numbers.giveBack(dest);
    this.queues.remove(this.peerOf(send), send);
    this.completion.completeCancelled(send);
  }

  /** Asks the receiver of an envelope to forget it. */
  recall(send: RecordId): void {
    this.records.addFlag(send, RecordFlag.CANCELLING);
    this.packets.control(this.peerOf(send), PacketKind.CANCEL, send, 0, 0, 0, this.records.get(send, R_SENDER));
  }

  /** The sender that the packets of a send name; undefined: this process. */
  senderOf(send: RecordId): Sender | undefined {
    return this.senders.of(this.records.get(send, R_SENDER));
  }

  /** A packet to the layer above of another process. */
  announce(rank: number, kind: PacketKind, said: readonly number[]): void {
    const isShared = kind === PacketKind.REVOKE && this.hooks?.sharesRevocations === true;
    if (isShared) this.hooks.revoking(rank, said[0] ?? 0, said[1] ?? 0);
    else this.packets.announce(rank, kind, said);
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
      : this.transmitHeadPacket(peer, record);
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

  private transmitHeadPacket(peer: number, packet: RecordId): boolean {
    if (!this.packets.transmit(peer, packet)) return false;
    this.queues.removeHead(peer);
    this.packets.give(packet);
    return true;
  }

  /** That peer will come back: it has told us nothing yet, and what we wanted to tell it is for its old life. */
  peerLost(peer: number): void {
    this.peers.setShut(peer, false);
    this.queues.drop(peer, (packet) => this.packets.give(packet));
  }

  /** That peer is dead: what waits for room in its channel is given up. */
  peerFailed(peer: number): void {
    this.queues.drop(peer, (record) => {
      if (this.records.get(record, R_KIND) === RecordKind.SEND)
        this.completion.complete(record, ErrorClass.PROC_FAILED);
      else this.packets.give(record);
    });
  }
}

lives({ Outbox });
