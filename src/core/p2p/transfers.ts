/**
 * Messages whose envelope travels without them (RTS), once a receive has matched: the bytes, and the packets about them.
 *
 *   one copy    the receiver copies from the sender's memory (`Transport.fetch`, large ones with the sender's HELP) and
 *               answers RELEASE
 *   in pieces   the receiver answers CTS; the sender writes straight into the receiver's memory where it may (FINISH
 *               follows), or pushes FRAGMENTs as the channel takes them
 *
 * These packets name requests by number, and they come from outside: a peer may be wrong, or speak of a request of an
 * earlier life. Every `take…` looks first whether the request is there, under way with that very peer and waiting for
 * just this; a packet that does not fit changes nothing, and the answer is false.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_FLAGS,
  R_KIND,
  R_OFFSET,
  R_PEER_POINTER,
  R_PEER_REQUEST,
  R_POINTER,
  R_SENDER,
  R_STATE,
  R_STATUS_BYTES,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PAYLOAD, PacketKind, SEQUENCE, TAG } from "../wire/packet.ts";
import type { Landing, Transport } from "../wire/transport.ts";
import type { BrokenMessages } from "./broken-messages.ts";
import type { Completion } from "./completion.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import type { Outbox } from "./outbox.ts";
import type { Pass } from "./pass.ts";
import type { Peers } from "./peers.ts";
import { RecordList } from "./record-list.ts";

const none = -1 as RecordId;

export class Transfers implements Landing {
  static readonly unsaved = { pass: null };
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly memory: Memory;
  private readonly outbox: Outbox;
  private readonly completion: Completion;
  private readonly hooks: EngineHooks | null;
  private readonly peers: Peers;
  private readonly pass: Pass;
  /** Sends that push pieces, or wait for their bytes; receives whose copy a peer helps with. */
  private readonly streams: RecordList;
  private readonly fetches: RecordList;

  constructor(ports: EnginePorts, outbox: Outbox, completion: Completion) {
    const { records, transport, memory, hooks, peers, pass } = ports;
    this.pass = pass;
    this.records = records;
    this.transport = transport;
    this.memory = memory;
    this.outbox = outbox;
    this.completion = completion;
    this.hooks = hooks;
    this.peers = peers;
    this.streams = new RecordList(records);
    this.fetches = new RecordList(records);
  }

  // The receiving side

  /** A matched envelope whose payload is still with the sender: copy it, or say where and how it shall come. */
  answer(receive: RecordId, send: number, peerPointer: number): void {
    const words = this.records.words;
    const at = receive * recordWords;
    const peer = this.peers.ofRecord(words, at);
    const process = this.peers.processOf(peer);
    const wanted = words[at + R_STATUS_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    words[at + R_PEER_REQUEST] = send;
    if (wanted === 0) this.finishOneCopy(receive);
    else if (peerPointer >= 0) {
      if (pointer < 0) this.memory.fromPayload(pointer, 0, peerPointer, wanted);
      else if (!this.transport.fetch(process, receive, send, pointer, peerPointer, wanted)) {
        this.fetches.append(receive);
        this.pass.closeReceives();
        return;
      }
      this.finishOneCopy(receive);
    } else {
      const target = pointer >= 0 && this.transport.shares(process) ? pointer : -1;
      this.records.addFlag(receive, target >= 0 ? RecordFlag.AWAITS_FINISH : RecordFlag.AWAITS_PIECES);
      this.outbox.packets.control(peer, PacketKind.CTS, send, receive, target, wanted);
    }
  }

  private finishOneCopy(receive: RecordId): void {
    const records = this.records;
    const send = records.get(receive, R_PEER_REQUEST);
    this.outbox.packets.control(this.peerOf(receive), PacketKind.RELEASE, send);
    this.completion.finishReceive(receive);
  }

  /** The message of an RTS has come before: its sender need not wait. */
  answerHere(packet: number): void {
    const words = this.transport.words;
    const peer = this.peers.ofPacket(words, packet, words[packet + KIND]!);
    this.outbox.packets.control(peer, PacketKind.RELEASE, words[packet + EXTRA]!);
  }

  /** Where the sender of an RTS says its bytes are; −1 when we cannot read its memory, whatever it says. */
  peerPointerOf(packet: number): number {
    const words = this.transport.words;
    const pointer = words[packet + EXTRA + 1]!;
    if (pointer < 0) return -1;
    return this.transport.shares(this.peers.processOf(this.peers.ofPacket(words, packet, words[packet + KIND]!)))
      ? pointer
      : -1;
  }

  takeFragment(packet: number): boolean {
    const packets = this.transport.words;
    const receive = packets[packet + CONTEXT]! as RecordId;
    const offset = packets[packet + TAG]!;
    const bytes = packets[packet + BYTES]!;
    if (!this.awaitsPiece(receive, offset, bytes)) return false;
    const words = this.records.words;
    const at = receive * recordWords;
    if (!this.isFrom(packet, receive)) return false;
    const payload = packets[packet + PAYLOAD]!;
    // Without a payload the transport has written the bytes into the buffer itself.
    if (payload !== 0) this.memory.fromPayload(words[at + R_POINTER]! as Pointer, offset, payload, bytes);
    words[at + R_OFFSET] = offset + bytes;
    if (words[at + R_OFFSET] === words[at + R_STATUS_BYTES]) this.completion.finishReceive(receive);
    return true;
  }

  /** Channels are FIFO, so a piece starts where the last one ended: a piece that comes twice or too early fits no receive. */
  private awaitsPiece(receive: number, offset: number, bytes: number): boolean {
    if (!this.awaits(receive, RecordKind.RECEIVE, RecordFlag.AWAITS_PIECES)) return false;
    const words = this.records.words;
    const at = receive * recordWords;
    return bytes > 0 && offset === words[at + R_OFFSET] && offset + bytes <= words[at + R_STATUS_BYTES]!;
  }

  /** The transport does not say whose piece it has: one of the wrong sender is noticed only when its packet comes. */
  landingOf(receive: number, offset: number, bytes: number): number {
    return this.awaitsPiece(receive, offset, bytes) ? this.records.get(receive as RecordId, R_POINTER) : Number.NaN;
  }

  takeFinish(packet: number): boolean {
    const receive = this.requestOf(packet, RecordKind.RECEIVE, RecordFlag.AWAITS_FINISH);
    if (receive < 0) return false;
    this.completion.finishReceive(receive);
    return true;
  }

  // The sending side

  takeClearToSend(packet: number): boolean {
    const send = this.requestOf(packet, RecordKind.SEND, RecordFlag.AWAITS_ANSWER);
    if (send < 0) return false;
    const packets = this.transport.words;
    const receive = packets[packet + TAG]!;
    const target = packets[packet + BYTES]!;
    const wanted = packets[packet + SEQUENCE]!;
    const words = this.records.words;
    const at = send * recordWords;
    const peer = this.peers.ofRecord(words, at);
    if (wanted <= 0 || wanted > words[at + R_BYTES]!) return false;
    if (target >= 0 && !this.isShared(peer, target, wanted)) return false;
    this.records.removeFlag(send, RecordFlag.AWAITS_ANSWER);
    words[at + R_PEER_REQUEST] = receive;
    words[at + R_BYTES] = wanted;
    if (target >= 0) {
      words[at + R_PEER_POINTER] = target;
      if (this.borrow(send, false)) {
        this.putWhole(send);
        return true;
      }
      this.records.addFlag(send, RecordFlag.AWAITS_FINISH);
    }
    this.streams.append(send);
    this.pass.closeReceives();
    this.move(send);
    return true;
  }

  /** Moves what can be moved now of one send, all at once or in pieces. */
  private move(send: RecordId): boolean {
    if (!this.records.hasFlag(send, RecordFlag.AWAITS_FINISH)) return this.pushPieces(send);
    if (!this.borrow(send, false)) return false;
    this.streams.remove(send);
    this.putWhole(send);
    return true;
  }

  /** Writes one send, whose bytes are there, into the memory of its receiver. */
  private putWhole(send: RecordId): void {
    const words = this.records.words;
    const at = send * recordWords;
    const peer = this.peers.ofRecord(words, at);
    const process = this.peers.processOf(peer);
    this.transport.put(process, words[at + R_PEER_POINTER]!, words[at + R_POINTER]!, words[at + R_BYTES]!);
    const receive = words[at + R_PEER_REQUEST]!;
    this.outbox.packets.control(peer, PacketKind.FINISH, receive, 0, 0, 0, words[at + R_SENDER]!);
    this.completion.finishSend(send);
  }

  takeHelp(packet: number): boolean {
    const send = this.requestOf(packet, RecordKind.SEND, RecordFlag.AWAITS_ANSWER);
    if (send < 0) return false;
    const words = this.transport.words;
    const target = words[packet + TAG]!;
    const bytes = words[packet + BYTES]!;
    const pointer = this.records.get(send, R_POINTER);
    if (pointer < 0 || this.outbox.isAbsent(send) || bytes > this.records.get(send, R_BYTES)) return false;
    const peer = this.peerOf(send);
    if (!this.isShared(peer, target, bytes)) return false;
    this.transport.help(this.peers.processOf(peer), packet, pointer);
    return true;
  }

  takeRelease(packet: number): boolean {
    const send = this.requestOf(packet, RecordKind.SEND, RecordFlag.AWAITS_ANSWER);
    if (send < 0) return false;
    this.records.removeFlag(send, RecordFlag.AWAITS_ANSWER);
    this.completion.finishSend(send);
    return true;
  }

  /** Cancels a send whose envelope has left, if its receiver agrees. It is asked once, and not when it has answered already. */
  cancel(send: RecordId): void {
    const isAsked = this.records.hasFlag(send, RecordFlag.CANCELLING);
    if (!isAsked && this.records.hasFlag(send, RecordFlag.AWAITS_ANSWER)) this.outbox.recall(send);
  }

  takeCancelAnswer(packet: number): boolean {
    const isForgotten = this.transport.words[packet + TAG]!;
    // Matched before it could be forgotten: the send may be long over, and nothing is to be done.
    if (isForgotten === 0) return true;
    const send = this.requestOf(packet, RecordKind.SEND, RecordFlag.AWAITS_ANSWER);
    if (isForgotten !== 1 || send < 0 || !this.records.hasFlag(send, RecordFlag.CANCELLING)) return false;
    this.records.removeFlag(send, RecordFlag.AWAITS_ANSWER);
    this.completion.completeCancelled(send);
    return true;
  }

  /**
   * The communicator is revoked, and the receiver has forgotten the envelope or never took it. Answers the context of the message;
   * −1: the packet is about no message that waits for an answer.
   */
  takeRefusal(packet: number): number {
    const send = this.requestOf(packet, RecordKind.SEND, RecordFlag.AWAITS_ANSWER);
    if (send < 0) return -1;
    const context = this.records.get(send, R_CONTEXT);
    this.records.removeFlag(send, RecordFlag.AWAITS_ANSWER);
    this.completion.complete(send, ErrorClass.REVOKED);
    return context;
  }

  // What packets may name

  /** The request a packet is about, if it is of that kind, under way with the packet's sender and waits for that; else −1. */
  private requestOf(packet: number, kind: RecordKind, awaited: number): RecordId {
    const packets = this.transport.words;
    const request = packets[packet + CONTEXT]! as RecordId;
    return this.awaits(request, kind, awaited) && this.isFrom(packet, request) ? request : none;
  }

  /** Was the packet sent on behalf of the process that the request is under way with? */
  private isFrom(packet: number, request: RecordId): boolean {
    const packets = this.transport.words;
    return this.peers.ofPacket(packets, packet, packets[packet + KIND]!) === this.peerOf(request);
  }

  private peerOf(request: RecordId): number {
    return this.peers.ofRecord(this.records.words, request * recordWords);
  }

  private awaits(request: number, kind: RecordKind, awaited: number): request is RecordId {
    if (!this.records.has(request)) return false;
    const words = this.records.words;
    const at = request * recordWords;
    const isActive = words[at + R_KIND] === kind && words[at + R_STATE] === RecordState.ACTIVE;
    return isActive && (words[at + R_FLAGS]! & awaited) !== 0;
  }

  /** Do those bytes lie in memory that we share with that peer? */
  isShared(peer: number, pointer: number, bytes: number): boolean {
    const isInside = pointer >= 0 && bytes >= 0 && pointer + bytes <= this.memory.bytes.length;
    return isInside && this.transport.shares(this.peers.processOf(peer));
  }

  // Progress

  get isPushing(): boolean {
    return this.streams.count !== 0;
  }

  get isBusy(): boolean {
    return this.streams.count !== 0 || this.fetches.count !== 0;
  }

  /** True when anything moved. */
  progress(): boolean {
    const pushed = this.pushStreams();
    return this.finishFetches() || pushed;
  }

  private pushStreams(): boolean {
    let moved = false;
    for (let send = this.streams.first; send >= 0; ) {
      const next = this.streams.after(send);
      if (this.move(send)) moved = true;
      send = next;
    }
    return moved;
  }

  /** Pushes pieces of one send until its channel is full or it is done. */
  private pushPieces(send: RecordId): boolean {
    if (!this.borrow(send, true)) return false;
    const words = this.records.words;
    const at = send * recordWords;
    const total = words[at + R_BYTES]!;
    const process = this.peers.processOf(this.peers.ofRecord(words, at));
    const sender = this.outbox.senderOf(send);
    let moved = false;
    while (words[at + R_OFFSET]! < total) {
      const offset = words[at + R_OFFSET]!;
      const took = this.transport.push(
        process,
        words[at + R_PEER_REQUEST]!,
        words[at + R_POINTER]!,
        offset,
        total - offset,
        sender,
      );
      if (took === 0) return moved;
      words[at + R_OFFSET] = offset + took;
      moved = true;
    }
    this.streams.remove(send);
    this.completion.finishSend(send);
    return true;
  }

  /** Are the bytes of this send where its record says? Those of a message that the protocol keeps may have to be fetched first. */
  private borrow(send: RecordId, isForLong: boolean): boolean {
    if (!this.outbox.isAbsent(send)) return true;
    if (this.hooks?.lend(send, isForLong) !== true) return false;
    this.records.addFlag(send, RecordFlag.LENT);
    return true;
  }

  private finishFetches(): boolean {
    let moved = false;
    for (let receive = this.fetches.first; receive >= 0; ) {
      const next = this.fetches.after(receive);
      if (this.transport.fetched(receive)) {
        this.fetches.remove(receive);
        this.finishOneCopy(receive);
        moved = true;
      }
      receive = next;
    }
    return moved;
  }

  /** That peer is lost: kept sends to it are forgotten, receives from it wait for their bytes from its next life. */
  peerLost(peer: number, broken: BrokenMessages): void {
    this.peerFailed(peer);
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (words[at + R_STATE] !== RecordState.ACTIVE || this.peers.ofRecord(words, at) !== peer) continue;
      const record = (at / recordWords) as RecordId;
      if (words[at + R_KIND] === RecordKind.SEND && this.records.hasFlag(record, RecordFlag.KEPT)) {
        this.records.give(record);
      } else if (words[at + R_KIND] === RecordKind.RECEIVE) {
        broken.add(record);
      }
    }
  }

  /** That peer is dead: nothing is moved to or from it any more. Its requests stay active; the caller ends them. */
  peerFailed(peer: number): void {
    const isOfDead = (record: RecordId): boolean => this.peerOf(record) === peer;
    this.streams.removeIf(isOfDead);
    this.fetches.removeIf((receive) => {
      if (!isOfDead(receive)) return false;
      this.transport.unfetch(receive);
      return true;
    });
  }
}

lives({ Transfers });
