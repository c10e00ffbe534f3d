/**
 * Where messages and receives meet: an arriving envelope takes the oldest posted receive that wants it, or waits among the
 * unexpected; a receive that is posted takes the oldest envelope that fits, or waits among the posted (MPI 5.0 §3.5).
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { Arrival, Pin } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_MODE,
  R_PEER,
  R_PEER_POINTER,
  R_PEER_REQUEST,
  R_POINTER,
  R_REPLICA,
  R_SEQUENCE,
  R_STATE,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  R_TAG,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PAYLOAD, PacketKind, replicaOf, SEQUENCE, SOURCE, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import type { Completion } from "./completion.ts";
import type { EngineHooks, EnginePorts, EngineTracer } from "./engine-ports.ts";
import type { Envelopes } from "./envelopes.ts";
import type { Pass } from "./pass.ts";
import type { Peers } from "./peers.ts";
import { PinnedReceives } from "./pinned-receives.ts";
import { PostedQueue } from "./posted-queue.ts";
import type { Refusals } from "./refusals.ts";
import type { Transfers } from "./transfers.ts";
import type { UnexpectedQueue } from "./unexpected-queue.ts";
import type { UnexpectedStore } from "./unexpected-store.ts";
import { WaitingReceives } from "./waiting-receives.ts";

interface MatchingParts {
  readonly envelopes: Envelopes;
  readonly completion: Completion;
  readonly transfers: Transfers;
  readonly store: UnexpectedStore;
  readonly refusals: Refusals;
}

export class Matching {
  static readonly unsaved = { tracer: null, pass: null };
  readonly posted: PostedQueue;
  private readonly unexpected: UnexpectedQueue;
  private readonly envelopes: Envelopes;
  private readonly pinned: PinnedReceives;
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly completion: Completion;
  private readonly transfers: Transfers;
  private readonly store: UnexpectedStore;
  private readonly peers: Peers;
  private readonly pass: Pass;
  private readonly refusals: Refusals;
  tracer: EngineTracer | null = null;

  /** Receives that stand still until the protocol knows their messages, oldest first. */
  private readonly waiting: WaitingReceives;
  /** See `stall`. */
  private readonly stalled: RecordId[] = [];

  constructor({ records, transport, memory, hooks, peers, pass }: EnginePorts, parts: MatchingParts) {
    this.posted = new PostedQueue(records);
    this.unexpected = parts.envelopes.queue;
    this.envelopes = parts.envelopes;
    this.pinned = new PinnedReceives(records);
    this.waiting = new WaitingReceives(records);
    this.records = records;
    this.transport = transport;
    this.memory = memory;
    this.hooks = hooks;
    this.completion = parts.completion;
    this.transfers = parts.transfers;
    this.store = parts.store;
    this.peers = peers;
    this.pass = pass;
    this.refusals = parts.refusals;
  }

  // Receives

  /** Gives a receive the message it wants, or lets it wait for it. */
  post(receive: RecordId): void {
    const pin = this.hooks === null ? Pin.FREE : this.hooks.receivePosted(receive);
    if (pin !== Pin.FREE) {
      if (pin === Pin.LATER) this.wait(receive);
      else this.postPinned(receive, pin);
      return;
    }
    const words = this.records.words;
    const at = receive * recordWords;
    const source = words[at + R_PEER]!;
    const envelope = this.find(words[at + R_CONTEXT]!, source, words[at + R_TAG]!, -1 as RecordId);
    if (envelope >= 0) {
      this.unexpected.remove(envelope);
      this.deliver(receive, envelope);
    } else if (source >= 0 && this.peers.isDead(this.peers.ofRank(source))) {
      this.completion.complete(receive, ErrorClass.PROC_FAILED);
    } else this.addPosted(receive);
  }

  private wait(receive: RecordId): void {
    this.posted.stamp(receive);
    this.waiting.add(receive);
  }

  private addPosted(receive: RecordId): void {
    this.posted.append(receive);
    this.pass.closeReceives();
  }

  /** Does a receive wait for one message and no other? */
  get hasPinned(): boolean {
    return this.pinned.count !== 0;
  }

  /** Posted receives may be pinned after all. */
  pinPosted(pinOf: (receive: RecordId) => Pin): void {
    const all: RecordId[] = [];
    this.posted.forEach((receive) => {
      all.push(receive);
    });
    for (const receive of all) {
      // Pinning writes what the queue finds the receive by. Those that are free come back in their order.
      this.posted.remove(receive);
      const pin = pinOf(receive);
      if (pin === Pin.FREE) this.addPosted(receive);
      else this.postPinned(receive, pin);
    }
  }

  /** Receives that stand still may go on, and so may messages that they could have taken. */
  pinWaiting(pinOf: (receive: RecordId) => Pin): void {
    const freed: RecordId[] = [];
    for (const receive of this.waiting.takeAll()) {
      const pin = pinOf(receive);
      if (pin === Pin.LATER) this.waiting.add(receive);
      else if (pin === Pin.FREE) freed.push(receive);
      else this.postPinned(receive, pin);
    }
    if (freed.length > 0) this.insertPosted(freed);
    if (this.unexpected.count === 0) return;
    this.posted.forEach((receive) => {
      const envelope = this.envelopeFor(receive);
      if (envelope < 0) return;
      this.posted.remove(receive);
      this.unexpected.remove(envelope);
      this.deliver(receive, envelope);
    });
  }

  /** Puts receives into the queue, at their places in the order of posting. */
  private insertPosted(receives: readonly RecordId[]): void {
    const all = [...receives];
    this.posted.forEach((receive) => {
      all.push(receive);
    });
    for (const receive of all.slice(receives.length)) this.posted.remove(receive);
    all.sort((one, other) => (this.waiting.isBefore(one, other) ? -1 : 1));
    for (const receive of all) this.addPosted(receive);
  }

  /** The oldest message that a receive takes; −1: there is none. */
  private envelopeFor(receive: RecordId): RecordId {
    const { words } = this.records;
    const at = receive * recordWords;
    return this.find(words[at + R_CONTEXT]!, words[at + R_PEER]!, words[at + R_TAG]!, receive);
  }

  /** As `envelopeFor`; `receive` −1: for a receive that would be posted now. */
  private find(context: number, source: number, tag: number, receive: RecordId): RecordId {
    const envelope = this.unexpected.find(context, source, tag);
    if (envelope < 0 || this.waiting.count === 0) return envelope;
    const { records, waiting } = this;
    let found = -1 as RecordId;
    this.unexpected.forEach((each) => {
      if (found >= 0 || records.get(each, R_CONTEXT) !== context) return;
      const from = records.get(each, R_PEER);
      const sentTag = records.get(each, R_TAG);
      const isWanted = (source === ANY_SOURCE || source === from) && (tag === ANY_TAG ? sentTag >= 0 : tag === sentTag);
      if (isWanted && !waiting.mayTake(context, from, sentTag, receive)) found = each;
    });
    return found;
  }

  /** The oldest message that a receive with this pattern would take; it stays where it is. −1: none has arrived. */
  probe(source: number, tag: number, context: number): RecordId {
    const envelope = this.find(context, source, tag, -1 as RecordId);
    if (envelope >= 0 && this.hooks !== null) {
      this.hooks.seen(this.records.get(envelope, R_PEER) as WorldRank, this.records.get(envelope, R_SEQUENCE), false);
    }
    return envelope;
  }

  private postPinned(receive: RecordId, pin: Pin): void {
    this.records.addFlag(receive, RecordFlag.PINNED);
    if (pin === Pin.NOTHING) return;
    const source = this.records.get(receive, R_PEER);
    const sequence = this.records.get(receive, R_SEQUENCE);
    const envelope = this.envelopes.of(source, sequence);
    if (envelope >= 0) {
      this.unexpected.remove(envelope);
      this.deliver(receive, envelope);
    } else this.pinned.add(receive);
  }

  /** Gives a receive the message of an envelope that stands in no queue any more. */
  deliver(receive: RecordId, envelope: RecordId): void {
    const words = this.records.words;
    const at = envelope * recordWords;
    const peer = this.peers.ofRecord(words, at);
    this.records.put(receive, R_REPLICA, words[at + R_REPLICA]!);
    this.match(
      receive,
      words[at + R_PEER]!,
      words[at + R_TAG]!,
      words[at + R_BYTES]!,
      words[at + R_SEQUENCE]!,
      words[at + R_CONTEXT]!,
    );
    const wanted = this.records.get(receive, R_STATUS_BYTES);
    if (words[at + R_MODE] === PacketKind.EAGER) {
      this.store.deliver(envelope, this.records.get(receive, R_POINTER) as Pointer, wanted);
      this.completion.completeReceive(receive);
      return;
    }
    const send = words[at + R_PEER_REQUEST]!;
    // An image may hold the envelope of a sender whose memory was ours to read, and is elsewhere now.
    const peerPointer = this.transport.shares(this.peers.processOf(peer)) ? words[at + R_PEER_POINTER]! : -1;
    if (this.records.hasFlag(envelope, RecordFlag.BROKEN)) {
      this.envelopes.broken.handOver(envelope, receive);
      return;
    }
    this.records.give(envelope);
    // The bytes have died with the sender.
    if (wanted !== 0 && this.peers.isDead(peer)) this.completion.complete(receive, ErrorClass.PROC_FAILED);
    else this.transfers.answer(receive, send, peerPointer);
  }

  /** The receive has its message: the outcome but for the bytes themselves. */
  private match(
    receive: RecordId,
    source: number,
    tag: number,
    bytes: number,
    sequence: number,
    context: number,
  ): void {
    const words = this.records.words;
    const at = receive * recordWords;
    const room = words[at + R_BYTES]!;
    words[at + R_STATE] = RecordState.ACTIVE;
    words[at + R_STATUS_SOURCE] = source;
    words[at + R_STATUS_TAG] = tag;
    words[at + R_STATUS_BYTES] = Math.min(bytes, room);
    words[at + R_PEER] = source;
    words[at + R_SEQUENCE] = sequence;
    if (bytes > room) this.records.addFlag(receive, RecordFlag.TRUNCATED);
    if (this.tracer !== null) this.tracer.matched(source, tag, bytes, sequence, context);
    if (this.hooks !== null) this.hooks.matched(receive, source as WorldRank, sequence);
  }

  /** Cancels a posted receive. One that waits for a message which the protocol knows to come gets that message. */
  cancel(receive: RecordId): void {
    const isPinned = this.records.hasFlag(receive, RecordFlag.PINNED);
    if (isPinned && this.pinned.has(receive)) return;
    if (this.hooks !== null && !this.hooks.cancelling(receive, false)) return;
    if (!this.waiting.remove(receive) && !isPinned) this.posted.remove(receive);
    this.completion.completeCancelled(receive);
  }

  // Arrivals

  /** An EAGER or an RTS has arrived. False when it cannot be true. */
  takeMessage(packet: number, kind: number): boolean {
    if (!this.isPossible(packet, kind)) return false;
    if (this.hooks !== null) {
      const arrival = this.hooks.arrived(this.transport.words, packet);
      if (arrival !== Arrival.TAKE) return this.takeOtherwise(arrival, packet, kind);
    }
    const words = this.transport.words;
    const source = words[packet + SOURCE]!;
    const context = words[packet + CONTEXT]!;
    const tag = words[packet + TAG]!;
    const receive = this.takePosted(context, source, tag, words[packet + SEQUENCE]!);
    if (receive < 0) {
      if (this.refusals.isRevoked(context)) this.envelopes.refuse(packet, kind);
      else this.envelopes.add(packet, kind);
      return true;
    }
    this.records.put(receive, R_REPLICA, replicaOf(words[packet + KIND]!));
    this.match(receive, source, tag, words[packet + BYTES]!, words[packet + SEQUENCE]!, context);
    this.takeBytes(receive, packet, kind);
    return true;
  }

  /** The receive that takes this message, in no queue any more; −1: none yet. */
  private takePosted(context: number, source: number, tag: number, sequence: number): RecordId {
    if (this.pinned.count !== 0) {
      const pinned = this.pinned.take(source, sequence);
      if (pinned >= 0) return pinned;
    }
    const receive = this.posted.find(context, source, tag);
    if (this.waiting.count !== 0 && this.waiting.mayTake(context, source, tag, receive)) return -1 as RecordId;
    if (receive >= 0) this.posted.remove(receive);
    return receive;
  }

  /** The bytes of a matched receive, or the way to them. */
  private takeBytes(receive: RecordId, packet: number, kind: number): void {
    const words = this.transport.words;
    if (kind !== PacketKind.EAGER) {
      this.transfers.answer(receive, words[packet + EXTRA]!, this.transfers.peerPointerOf(packet));
      return;
    }
    const wanted = this.records.get(receive, R_STATUS_BYTES);
    const to = this.records.get(receive, R_POINTER) as Pointer;
    if (wanted !== 0) this.memory.fromPayload(to, 0, words[packet + PAYLOAD]!, wanted);
    this.completion.finishReceive(receive);
  }

  /** The protocol says that a message is none that a receive may take now. */
  takeOtherwise(arrival: Arrival, packet: number, kind: number): boolean {
    if (arrival === Arrival.HERE && kind === PacketKind.RTS) this.transfers.answerHere(packet);
    if (arrival === Arrival.LATER) this.envelopes.putAside(packet, kind);
    return arrival !== Arrival.AGAIN || this.takeAgain(packet, kind);
  }

  /** The next life of a lost sender sends a message again whose envelope is here. */
  private takeAgain(packet: number, kind: number): boolean {
    const words = this.transport.words;
    const source = words[packet + SOURCE]!;
    const sequence = words[packet + SEQUENCE]!;
    const record = this.envelopes.broken.take(source, sequence);
    if (record < 0) return false;
    // The answers go to the process that sends it now.
    this.records.put(record, R_REPLICA, replicaOf(words[packet + KIND]!));
    if (this.records.get(record, R_KIND) === RecordKind.RECEIVE) {
      this.takeBytes(record, packet, kind);
      return true;
    }
    this.records.put(record, R_MODE, kind);
    if (this.records.hasFlag(record, RecordFlag.ASIDE)) {
      // What was wrong with it may have been its tag. The protocol judges it when it knows enough.
      this.envelopes.address(record, packet);
      this.envelopes.fill(record, packet, kind);
      return true;
    }
    this.envelopes.fill(record, packet, kind);
    if (kind !== PacketKind.EAGER || this.hooks === null) return true;
    if (this.hooks.mayCount(record)) this.hooks.held(source as WorldRank, sequence);
    else this.envelopes.spoil(record);
    return true;
  }

  /** A message that was put aside arrives now. */
  letIn(envelope: RecordId): void {
    const { records } = this;
    records.removeFlag(envelope, RecordFlag.ASIDE);
    const context = records.get(envelope, R_CONTEXT);
    if (this.refusals.isRevoked(context)) {
      this.envelopes.drop(envelope);
      return;
    }
    const { words } = records;
    const at = envelope * recordWords;
    const receive = this.takePosted(context, words[at + R_PEER]!, words[at + R_TAG]!, words[at + R_SEQUENCE]!);
    if (receive >= 0) this.deliver(receive, envelope);
    else this.envelopes.append(envelope);
  }

  private isPossible(packet: number, kind: number): boolean {
    const words = this.transport.words;
    const bytes = words[packet + BYTES]!;
    // A tag that is the wildcard would find receives that are posted with it.
    if (bytes < 0 || words[packet + TAG] === ANY_TAG) return false;
    if (kind === PacketKind.EAGER)
      return bytes <= this.transport.payloadBytesMax && (bytes === 0 || words[packet + PAYLOAD] !== 0);
    const pointer = this.transfers.peerPointerOf(packet);
    return pointer < 0 || this.transfers.isShared(this.peerOf(packet), pointer, bytes);
  }

  /** The peer on whose behalf a packet was sent, which `Arrivals` has checked. */
  private peerOf(packet: number): number {
    const words = this.transport.words;
    return this.peers.ofPacket(words, packet, words[packet + KIND]!);
  }

  // Revocation

  /** That context is revoked: its receives end, and its messages are dropped. */
  revoke(context: number): void {
    const records = this.records;
    const isOf = (record: RecordId): boolean => records.get(record, R_CONTEXT) === context;
    this.posted.forEach((receive) => {
      if (isOf(receive)) this.fail(receive, ErrorClass.REVOKED);
    });
    for (const receive of this.takeStalled(context)) this.completion.complete(receive, ErrorClass.REVOKED);
    this.envelopes.revoke(context);
    for (let record = 0; records.has(record); record++) {
      const held = record as RecordId;
      const isHeld = records.get(held, R_KIND) === RecordKind.OPERATION && records.hasFlag(held, RecordFlag.HELD);
      if (isHeld && isOf(held)) this.completion.complete(held, ErrorClass.REVOKED);
    }
  }

  /** Messages whose receive is not over: envelopes, and receives that have met theirs. */
  forEachOpen(visit: (source: number, sequence: number) => void): void {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      const kind = words[at + R_KIND];
      const isReceive = kind === RecordKind.RECEIVE && words[at + R_STATUS_SOURCE]! >= 0;
      if (isReceive || kind === RecordKind.ENVELOPE) visit(words[at + R_PEER]!, words[at + R_SEQUENCE]!);
    }
  }

  /** Numbers of messages of a rank whose bytes are not all here: envelopes alone, and receives that have only matched. */
  incompleteFrom(rank: number): number[] {
    const { words } = this.records;
    const numbers: number[] = [];
    for (let at = 0; at < words.length; at += recordWords) {
      if (words[at + R_PEER] !== rank) continue;
      const kind = words[at + R_KIND];
      const isAside = (words[at + R_FLAGS]! & RecordFlag.ASIDE) !== 0;
      const isEnvelope = kind === RecordKind.ENVELOPE && (isAside || words[at + R_MODE] === PacketKind.RTS);
      const isReceive = kind === RecordKind.RECEIVE && words[at + R_STATE] === RecordState.ACTIVE;
      if (isEnvelope || isReceive) numbers.push(words[at + R_SEQUENCE]!);
    }
    return numbers;
  }

  // Deaths

  /** That peer is dead: receives that wait for it end. Messages of it that are wholly here can still be received. */
  peerFailed(peer: number): void {
    const rank = this.peers.rankOf(peer);
    if (this.peers.ofRank(rank) !== peer) return;
    this.posted.forEach((receive) => {
      if (this.records.get(receive, R_PEER) === rank) this.fail(receive, ErrorClass.PROC_FAILED);
    });
  }

  // Receives from ANY_SOURCE that stand still, because a peer is dead that the program has not acknowledged: complete with
  // PROC_FAILED_PENDING, unless their owner gives them back they go on when it has

  /** Those of one context that are posted. */
  stallWildcards(context: number): void {
    for (const receive of this.wildcardsOf(context)) this.stall(receive);
  }

  /** Are any posted? */
  hasWildcards(context: number): boolean {
    return this.posted.count > 0 && this.wildcardsOf(context).length > 0;
  }

  private wildcardsOf(context: number): RecordId[] {
    const { records } = this;
    const found: RecordId[] = [];
    this.posted.forEach((receive) => {
      const isMeant = records.get(receive, R_PEER) === ANY_SOURCE && records.get(receive, R_CONTEXT) === context;
      if (isMeant) found.push(receive);
    });
    return found;
  }

  stall(receive: RecordId): void {
    this.fail(receive, ErrorClass.PROC_FAILED_PENDING);
    if (this.isStalled(receive)) this.stalled.push(receive);
  }

  isStalled(receive: RecordId): boolean {
    const { records } = this;
    return (
      records.get(receive, R_ERROR) === ErrorClass.PROC_FAILED_PENDING &&
      records.get(receive, R_KIND) === RecordKind.RECEIVE &&
      records.get(receive, R_STATE) === RecordState.COMPLETE
    );
  }

  /** Those of one context are posted again, in the order in which they were. */
  resumeWildcards(context: number): void {
    for (const receive of this.takeStalled(context)) {
      this.records.put(receive, R_STATE, RecordState.PENDING);
      this.records.put(receive, R_ERROR, 0);
      this.post(receive);
    }
  }

  /** Those of one context; records that were given back since, and perhaps used again, are forgotten. */
  private takeStalled(context: number): RecordId[] {
    const all = [...new Set(this.stalled)].filter((receive) => this.isStalled(receive));
    const isOf = (receive: RecordId): boolean => this.records.get(receive, R_CONTEXT) === context;
    this.stalled.splice(0, Number.POSITIVE_INFINITY, ...all.filter((receive) => !isOf(receive)));
    return all.filter(isOf);
  }

  /** Ends a posted receive with an error. */
  fail(receive: RecordId, error: number): void {
    this.posted.remove(receive);
    this.completion.complete(receive, error);
  }
}

lives({ Matching });
