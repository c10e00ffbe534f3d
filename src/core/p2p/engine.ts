/**
 * The matching engine of one process: point-to-point messages from posting to completion.
 *
 * It waits for nothing. `startSend` and `startReceive` leave a request (a record of core/request); `progress` moves whatever
 * can move. Three ways a message travels:
 *
 *   eager       the payload goes with the envelope, up to the transport's limit; the send is complete at once
 *   one copy    the envelope (RTS) carries the address; the receiver copies from the sender's memory and answers RELEASE
 *   in pieces   the receiver answers the RTS with CTS; the sender writes straight into the receiver's memory where it may
 *               (FINISH follows), or pushes FRAGMENTs as the channel takes them
 *
 * Eager payloads that no receive wants yet are stored, up to `unexpectedBytesMax`. Above it the sender is told to send
 * envelopes only (EAGER_CLOSE), and when half of the memory is free again, EAGER_OPEN: memory is bounded in bytes whatever
 * senders do, and what is on its way when the door closes is bounded by the channels.
 *
 * A full channel never blocks: the packet waits in the destination's queue, in order.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_MODE,
  R_OFFSET,
  R_PEER,
  R_PEER_POINTER,
  R_PEER_REQUEST,
  R_POINTER,
  R_SEQUENCE,
  R_STATE,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  R_TAG,
  RecordFlag,
  RecordKind,
  RecordState,
  Records,
  recordWords,
  SendMode,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, kindOf, PAYLOAD, PacketKind, SEQUENCE, SOURCE, TAG } from "../wire/packet.ts";
import type { Landing, Transport } from "../wire/transport.ts";
import { OutgoingQueues } from "./outgoing-queues.ts";
import { PostedQueue } from "./posted-queue.ts";
import { RecordList } from "./record-list.ts";
import { UnexpectedQueue } from "./unexpected-queue.ts";

/** What a protocol may decide, seen from here; `core/ft` has the contract. `null` instead: none, and no call is made. */
export interface EngineHooks {
  sendPosted(send: RecordId): void;
  sendMayLeave(send: RecordId): boolean;
  sendMayComplete(send: RecordId): boolean;
  receivePosted(receive: RecordId): void;
  arrived(words: Int32Array, packet: number): boolean;
  held(source: WorldRank, sequence: number): void;
  matched(receive: RecordId, source: WorldRank, sequence: number): void;
  control(words: Int32Array, packet: number): void;
}

/** Told of matches while a trace is written; `null` otherwise. */
export interface EngineTracer {
  sent(dest: number, tag: number, bytes: number, sequence: number, context: number): void;
  matched(source: number, tag: number, bytes: number, sequence: number, context: number): void;
}

export interface EngineOptions {
  readonly rank: number;
  readonly ranks: number;
  readonly transport: Transport;
  readonly memory: Memory;
  readonly hooks?: EngineHooks | null;
  /** Stored payloads of unexpected messages, in bytes; above it senders keep their payloads. */
  readonly unexpectedBytesMax?: number;
}

export const unexpectedBytesMaxDefault = 16 << 20;

/** What `receiveNow` found. */
export const Now = { NOTHING: 0, DONE: 1, MUST_POST: -1 } as const;

/** How much of a send has left. */
const Went = { NOWHERE: 0, ENVELOPE: 1, WHOLE: 2 } as const;

/** Packets handled in one call of `progress`, so that a flood of arrivals does not starve what waits to be sent. */
const packetsPerProgress = 64;

/** Eager sends after which a process that does not wait looks at its arrivals all the same: EAGER_CLOSE may be among them. */
const eagerSendsPerLook = 64;

/** Times `packetsPerProgress` packets that are taken before a death counts. */
const looksBeforeDeath = 1024;

const none = -1 as RecordId;

export class Engine implements Landing {
  readonly records: Records = new Records();
  readonly posted: PostedQueue;
  readonly unexpected: UnexpectedQueue;
  readonly #transport: Transport;
  readonly #memory: Memory;
  readonly #hooks: EngineHooks | null;
  readonly #ranks: number;
  readonly #outgoing: OutgoingQueues;
  /** Sends that push pieces; receives whose copy a peer helps with; sends that only the protocol keeps from completing. */
  readonly #streams: RecordList;
  readonly #fetches: RecordList;
  readonly #unconfirmed: RecordList;
  /** Next sequence number of each channel from here. */
  readonly #sequences: Int32Array;
  /** Up to how many bytes a message to each rank may travel eagerly now; the transport's limit, or 0 while it is closed. */
  readonly #eagerLimits: Int32Array;
  /** Senders we have told EAGER_CLOSE. */
  readonly #closedSenders: Uint8Array;
  #closedCount = 0;
  readonly #failed: Uint8Array;
  /** Receives must look closer than the short way does: a protocol wants to see them, or somebody is dead. */
  #looksCloser: boolean;
  /** Eager sends since the last look at what has arrived. */
  #eagerSends = 0;
  readonly #unexpectedBytesMax: number;
  unexpectedBytes = 0;
  tracer: EngineTracer | null = null;

  /** The outcome of the last `receiveNow` that was DONE. */
  lastSource = 0;
  lastTag = 0;
  lastBytes = 0;
  lastError = 0;

  constructor(options: EngineOptions) {
    const { ranks, transport } = options;
    this.#transport = transport;
    this.#memory = options.memory;
    this.#hooks = options.hooks ?? null;
    this.#ranks = ranks;
    this.#unexpectedBytesMax = options.unexpectedBytesMax ?? unexpectedBytesMaxDefault;
    this.posted = new PostedQueue(this.records);
    this.unexpected = new UnexpectedQueue(this.records);
    this.#outgoing = new OutgoingQueues(this.records, ranks);
    this.#streams = new RecordList(this.records);
    this.#fetches = new RecordList(this.records);
    this.#unconfirmed = new RecordList(this.records);
    this.#sequences = new Int32Array(ranks);
    this.#eagerLimits = new Int32Array(ranks);
    this.#closedSenders = new Uint8Array(ranks);
    this.#failed = new Uint8Array(ranks);
    this.#looksCloser = this.#hooks !== null;
    for (let rank = 0; rank < ranks; rank++) this.#eagerLimits[rank] = transport.eagerBytesMax(rank);
  }

  // Sending

  /** The short way of a standard send: true when the whole message has left and the buffer is free. No request is made. */
  sendNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    if (this.#hooks !== null || bytes > this.#eagerLimits[dest]! || this.#outgoing.waiting(dest)) return false;
    const sequence = this.#sequences[dest]!;
    if (!this.#transmitEager(pointer, bytes, dest, tag, context, sequence)) return false;
    this.#sequences[dest] = (sequence + 1) | 0;
    if (this.tracer !== null) this.tracer.sent(dest, tag, bytes, sequence, context);
    if (++this.#eagerSends >= eagerSendsPerLook) this.#takeArrivals();
    return true;
  }

  startSend(pointer: Pointer, bytes: number, dest: number, tag: number, context: number, mode: SendMode): RecordId {
    const send = this.records.take(RecordKind.SEND);
    const words = this.records.words;
    const at = send * recordWords;
    const sequence = this.#sequences[dest]!;
    this.#sequences[dest] = (sequence + 1) | 0;
    words[at + R_CONTEXT] = context;
    words[at + R_PEER] = dest;
    words[at + R_TAG] = tag;
    words[at + R_BYTES] = bytes;
    words[at + R_POINTER] = pointer;
    words[at + R_SEQUENCE] = sequence;
    words[at + R_MODE] = mode;
    if (this.#failed[dest] !== 0) {
      this.#complete(send, ErrorClass.PROC_FAILED);
      return send;
    }
    if (this.tracer !== null) this.tracer.sent(dest, tag, bytes, sequence, context);
    if (this.#hooks !== null) this.#hooks.sendPosted(send);
    if (this.#outgoing.waiting(dest)) this.#outgoing.append(dest, send);
    else {
      const went = this.#transmitSend(send);
      if (went === Went.NOWHERE) this.#outgoing.append(dest, send);
      else if (went === Went.WHOLE) {
        this.#finishSend(send);
        if (++this.#eagerSends >= eagerSendsPerLook) this.#takeArrivals();
      }
    }
    return send;
  }

  /** Puts the first packet of a send on its channel, unless there is no room or the protocol says not yet. */
  #transmitSend(send: RecordId): number {
    if (this.#hooks !== null && !this.#isLetGo(send)) return Went.NOWHERE;
    const words = this.records.words;
    const at = send * recordWords;
    const dest = words[at + R_PEER]!;
    const bytes = words[at + R_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    const tag = words[at + R_TAG]!;
    const context = words[at + R_CONTEXT]!;
    const sequence = words[at + R_SEQUENCE]!;
    if (bytes <= this.#eagerLimits[dest]! && words[at + R_MODE] !== SendMode.SYNCHRONOUS) {
      return this.#transmitEager(pointer, bytes, dest, tag, context, sequence) ? Went.WHOLE : Went.NOWHERE;
    }
    const transport = this.#transport;
    const packet = transport.reserve(dest, 0);
    if (packet < 0) return Went.NOWHERE;
    const out = transport.words;
    out[packet + KIND] = PacketKind.RTS;
    out[packet + CONTEXT] = context;
    out[packet + TAG] = tag;
    out[packet + BYTES] = bytes;
    out[packet + SEQUENCE] = sequence;
    out[packet + EXTRA] = send;
    out[packet + EXTRA + 1] = pointer >= 0 && transport.shares(dest) ? pointer : -1;
    transport.commit(dest);
    this.records.put(send, R_STATE, RecordState.ACTIVE);
    return Went.ENVELOPE;
  }

  /** Asks the protocol until it says yes, then never again: a full channel does not make it change its mind. */
  #isLetGo(send: RecordId): boolean {
    const flags = this.records.get(send, R_FLAGS);
    if ((flags & RecordFlag.LET_GO) !== 0) return true;
    if (!this.#hooks!.sendMayLeave(send)) return false;
    this.records.put(send, R_FLAGS, flags | RecordFlag.LET_GO);
    return true;
  }

  #transmitEager(
    pointer: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    context: number,
    sequence: number,
  ): boolean {
    const transport = this.#transport;
    const packet = transport.reserve(dest, bytes);
    if (packet < 0) return false;
    if (bytes !== 0) this.#memory.toPayload(transport.payload, pointer, 0, bytes);
    const words = transport.words;
    words[packet + KIND] = PacketKind.EAGER;
    words[packet + CONTEXT] = context;
    words[packet + TAG] = tag;
    words[packet + BYTES] = bytes;
    words[packet + SEQUENCE] = sequence;
    transport.commit(dest);
    return true;
  }

  /** The engine is done with a send; the protocol may still keep it from completing. */
  #finishSend(send: RecordId): void {
    if (this.#hooks !== null && !this.#hooks.sendMayComplete(send)) {
      this.records.put(send, R_STATE, RecordState.ACTIVE);
      this.#unconfirmed.append(send);
    } else this.#complete(send, 0);
  }

  /**
   * A packet without payload; waits in its queue when the channel is full. It never waits for a send that the protocol holds
   * back: what it answers has nothing to do with that send, and may be what the protocol waits for.
   */
  #control(dest: number, kind: PacketKind, a: number, b: number, c: number, d: number): void {
    const overtakes = this.#hooks !== null && this.#outgoing.onlySends(dest);
    if ((overtakes || !this.#outgoing.waiting(dest)) && this.#transmitControl(dest, kind, a, b, c, d)) return;
    const packet = this.records.take(RecordKind.OUTGOING);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_PEER] = dest;
    words[at + R_MODE] = kind;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = c;
    words[at + R_SEQUENCE] = d;
    if (this.#hooks === null) this.#outgoing.append(dest, packet);
    else this.#outgoing.appendBeforeSends(dest, packet);
  }

  #transmitControl(dest: number, kind: number, a: number, b: number, c: number, d: number): boolean {
    const transport = this.#transport;
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

  // Receiving

  /**
   * The short way of a blocking receive: nothing posted, and the message is stored or at the head of what has arrived. DONE:
   * it is in the buffer, see `last…`. NOTHING: try again later. MUST_POST: only a posted receive can take it.
   */
  receiveNow(pointer: Pointer, room: number, source: number, tag: number, context: number): number {
    if (this.#looksCloser || this.posted.count !== 0) return Now.MUST_POST;
    const transport = this.#transport;
    for (;;) {
      if (this.unexpected.count !== 0) {
        const envelope = this.unexpected.find(context, source, tag);
        if (envelope >= 0) return this.#receiveStored(envelope, pointer, room);
      }
      const packet = transport.peek();
      if (packet < 0) return Now.NOTHING;
      const words = transport.words;
      if (
        words[packet + KIND] === PacketKind.EAGER &&
        (words[packet + TAG] === tag || (tag === ANY_TAG && words[packet + TAG]! >= 0)) &&
        words[packet + CONTEXT] === context &&
        (words[packet + SOURCE] === source || source === ANY_SOURCE)
      ) {
        let bytes = words[packet + BYTES]!;
        this.lastSource = words[packet + SOURCE]!;
        this.lastTag = words[packet + TAG]!;
        this.lastError = 0;
        if (bytes > room) {
          this.lastError = ErrorClass.TRUNCATE;
          bytes = room;
        }
        this.lastBytes = bytes;
        if (this.tracer !== null)
          this.tracer.matched(this.lastSource, this.lastTag, bytes, words[packet + SEQUENCE]!, context);
        if (bytes !== 0) this.#memory.fromPayload(pointer, 0, words[packet + PAYLOAD]!, bytes);
        transport.release();
        return Now.DONE;
      }
      this.#take(packet);
      transport.release();
    }
  }

  #receiveStored(envelope: RecordId, pointer: Pointer, room: number): number {
    const words = this.records.words;
    const at = envelope * recordWords;
    if (words[at + R_MODE] !== PacketKind.EAGER) return Now.MUST_POST;
    this.unexpected.remove(envelope);
    const bytes = words[at + R_BYTES]!;
    this.lastSource = words[at + R_PEER]!;
    this.lastTag = words[at + R_TAG]!;
    this.lastError = bytes > room ? ErrorClass.TRUNCATE : 0;
    this.lastBytes = Math.min(bytes, room);
    this.#unstore(envelope, pointer, this.lastBytes);
    return Now.DONE;
  }

  startReceive(pointer: Pointer, room: number, source: number, tag: number, context: number): RecordId {
    const receive = this.#newReceive(pointer, room, source, tag, context);
    if (this.#hooks !== null) this.#hooks.receivePosted(receive);
    const envelope = this.unexpected.find(context, source, tag);
    if (envelope >= 0) {
      this.unexpected.remove(envelope);
      this.#deliverEnvelope(receive, envelope);
    } else if (source >= 0 && this.#failed[source] !== 0) this.#complete(receive, ErrorClass.PROC_FAILED);
    else this.posted.append(receive);
    return receive;
  }

  #newReceive(pointer: Pointer, room: number, source: number, tag: number, context: number): RecordId {
    const receive = this.records.take(RecordKind.RECEIVE);
    const words = this.records.words;
    const at = receive * recordWords;
    words[at + R_CONTEXT] = context;
    words[at + R_PEER] = source;
    words[at + R_TAG] = tag;
    words[at + R_BYTES] = room;
    words[at + R_POINTER] = pointer;
    return receive;
  }

  /** The oldest message a receive with this pattern would take; it stays where it is. −1: none has arrived. */
  probe(source: number, tag: number, context: number): RecordId {
    return this.unexpected.find(context, source, tag);
  }

  /** As `probe`, but the message is set aside: only `startMatchedReceive` can take it. */
  matchedProbe(source: number, tag: number, context: number): RecordId {
    const envelope = this.unexpected.find(context, source, tag);
    if (envelope >= 0) this.unexpected.remove(envelope);
    return envelope;
  }

  startMatchedReceive(pointer: Pointer, room: number, envelope: RecordId): RecordId {
    const { records } = this;
    const receive = this.#newReceive(
      pointer,
      room,
      records.get(envelope, R_PEER),
      records.get(envelope, R_TAG),
      records.get(envelope, R_CONTEXT),
    );
    if (this.#hooks !== null) this.#hooks.receivePosted(receive);
    this.#deliverEnvelope(receive, envelope);
    return receive;
  }

  // Completion

  isComplete(request: RecordId): boolean {
    return this.records.words[request * recordWords + R_STATE] === RecordState.COMPLETE;
  }

  /** The program does not want to hear of this request any more: complete or not, it is given back when it is done. */
  abandon(request: RecordId): void {
    if (this.isComplete(request)) this.giveBack(request);
    else this.records.put(request, R_FLAGS, this.records.get(request, R_FLAGS) | RecordFlag.ORPHAN);
  }

  /** Ends a complete request, and the loan of its buffer. */
  giveBack(request: RecordId): void {
    const pointer = this.records.get(request, R_POINTER) as Pointer;
    if (pointer < 0) this.#memory.giveBack(pointer);
    this.records.give(request);
  }

  /** Asks that a request be cancelled; it completes in any case, and its flag says whether it was (MPI 5.0 §3.8.4). */
  cancel(request: RecordId): void {
    const words = this.records.words;
    const at = request * recordWords;
    if (words[at + R_STATE] === RecordState.COMPLETE) return;
    if (words[at + R_KIND] === RecordKind.RECEIVE) {
      if (words[at + R_STATE] !== RecordState.PENDING) return;
      this.posted.remove(request);
      this.#completeCancelled(request);
    } else if (words[at + R_STATE] === RecordState.PENDING) {
      if (this.#outgoing.remove(words[at + R_PEER]!, request)) this.#completeCancelled(request);
    } else if ((words[at + R_FLAGS]! & RecordFlag.STREAMING) === 0) {
      this.#control(words[at + R_PEER]!, PacketKind.CANCEL, request, 0, 0, 0);
    }
  }

  #completeCancelled(request: RecordId): void {
    this.records.put(request, R_FLAGS, this.records.get(request, R_FLAGS) | RecordFlag.CANCELLED);
    this.#complete(request, 0);
  }

  /** The layer above has ended an operation of its own (a record of kind OPERATION). */
  completeOperation(request: RecordId, error: number): void {
    this.#complete(request, error);
  }

  #complete(request: RecordId, error: number): void {
    const words = this.records.words;
    const at = request * recordWords;
    words[at + R_STATE] = RecordState.COMPLETE;
    words[at + R_ERROR] = error;
    if ((words[at + R_FLAGS]! & RecordFlag.ORPHAN) !== 0) this.giveBack(request);
  }

  // Progress

  /** Moves whatever can move; true when anything did. */
  progress(): boolean {
    let moved = this.#takeArrivals();
    if (this.#outgoing.count !== 0 && this.#flushOutgoing()) moved = true;
    if (this.#streams.count !== 0 && this.#pushStreams()) moved = true;
    if (this.#fetches.count !== 0 && this.#finishFetches()) moved = true;
    if (this.#unconfirmed.count !== 0 && this.#confirmSends()) moved = true;
    return moved;
  }

  #takeArrivals(): boolean {
    const transport = this.#transport;
    this.#eagerSends = 0;
    for (let taken = 0; taken < packetsPerProgress; taken++) {
      const packet = transport.peek();
      if (packet < 0) return taken !== 0;
      this.#take(packet);
      transport.release();
    }
    return true;
  }

  /** True while packets wait for room or pieces wait to be pushed: the process must not end yet. */
  get unsent(): boolean {
    return this.#outgoing.count !== 0 || this.#streams.count !== 0;
  }

  /** Requests that are not complete and that somebody still wants the outcome of. */
  get unfinished(): number {
    const { words } = this.records;
    let count = 0;
    for (let at = 0; at < words.length; at += recordWords) {
      const kind = words[at + R_KIND];
      if (kind !== RecordKind.SEND && kind !== RecordKind.RECEIVE && kind !== RecordKind.OPERATION) continue;
      const isWanted = (words[at + R_FLAGS]! & (RecordFlag.ORPHAN | RecordFlag.UNWANTED)) === 0;
      if (words[at + R_STATE] !== RecordState.COMPLETE && isWanted) count++;
    }
    return count;
  }

  /** Is a message of that context still to be sent or received here? */
  isUsing(context: number): boolean {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      const kind = words[at + R_KIND];
      if (kind !== RecordKind.SEND && kind !== RecordKind.RECEIVE) continue;
      if (words[at + R_STATE] !== RecordState.COMPLETE && words[at + R_CONTEXT] === context) return true;
    }
    return false;
  }

  /** True while `progress` has something to move even if nothing arrives. */
  get isBusy(): boolean {
    return this.unsent || this.#fetches.count !== 0 || this.#unconfirmed.count !== 0;
  }

  #flushOutgoing(): boolean {
    let moved = false;
    for (let dest = this.#outgoing.firstDestination(); dest >= 0; ) {
      const next = this.#outgoing.destinationAfter(dest);
      while (this.#outgoing.waiting(dest) && this.#transmitHead(dest)) moved = true;
      dest = next;
    }
    return moved;
  }

  #transmitHead(dest: number): boolean {
    const record = this.#outgoing.head(dest);
    const words = this.records.words;
    const at = record * recordWords;
    if (words[at + R_KIND] === RecordKind.SEND) {
      const went = this.#transmitSend(record);
      if (went === Went.NOWHERE) return false;
      this.#outgoing.removeHead(dest);
      // Only now: a finished send may be given back, and its links with it.
      if (went === Went.WHOLE) this.#finishSend(record);
      return true;
    }
    const kind = words[at + R_MODE]!;
    if (
      !this.#transmitControl(
        dest,
        kind,
        words[at + R_CONTEXT]!,
        words[at + R_TAG]!,
        words[at + R_BYTES]!,
        words[at + R_SEQUENCE]!,
      )
    ) {
      return false;
    }
    this.#outgoing.removeHead(dest);
    this.records.give(record);
    return true;
  }

  #pushStreams(): boolean {
    let moved = false;
    for (let send = this.#streams.first; send >= 0; ) {
      const next = this.#streams.after(send);
      if (this.#pushPieces(send)) moved = true;
      send = next;
    }
    return moved;
  }

  /** Pushes pieces of one send until its channel is full or it is done. */
  #pushPieces(send: RecordId): boolean {
    const words = this.records.words;
    const at = send * recordWords;
    const total = words[at + R_BYTES]!;
    let moved = false;
    while (words[at + R_OFFSET]! < total) {
      const offset = words[at + R_OFFSET]!;
      const took = this.#transport.push(
        words[at + R_PEER]!,
        words[at + R_PEER_REQUEST]!,
        words[at + R_POINTER]!,
        offset,
        total - offset,
      );
      if (took === 0) return moved;
      words[at + R_OFFSET] = offset + took;
      moved = true;
    }
    this.#streams.remove(send);
    this.#finishSend(send);
    return true;
  }

  #finishFetches(): boolean {
    let moved = false;
    for (let receive = this.#fetches.first; receive >= 0; ) {
      const next = this.#fetches.after(receive);
      if (this.#transport.fetched(receive)) {
        this.#fetches.remove(receive);
        this.#finishOneCopy(receive);
        moved = true;
      }
      receive = next;
    }
    return moved;
  }

  #confirmSends(): boolean {
    let moved = false;
    for (let send = this.#unconfirmed.first; send >= 0; ) {
      const next = this.#unconfirmed.after(send);
      if (this.#hooks!.sendMayComplete(send)) {
        this.#unconfirmed.remove(send);
        this.#complete(send, 0);
        moved = true;
      }
      send = next;
    }
    return moved;
  }

  // Arrivals

  /** Handles one arrived packet; the caller releases it afterwards. */
  #take(packet: number): void {
    const words = this.#transport.words;
    const kind = kindOf(words[packet + KIND]!);
    // What the dead still say comes too late: the requests it is about have failed, and their records may serve others.
    if (this.#failed[words[packet + SOURCE]!] !== 0) return;
    switch (kind) {
      case PacketKind.EAGER:
      case PacketKind.RTS:
        this.#takeMessage(packet, kind);
        return;
      case PacketKind.CTS:
        this.#takeClearToSend(packet);
        return;
      case PacketKind.FRAGMENT:
        this.#takeFragment(packet);
        return;
      case PacketKind.RELEASE:
        this.#finishSend(words[packet + CONTEXT]! as RecordId);
        return;
      case PacketKind.FINISH: {
        const receive = words[packet + CONTEXT]! as RecordId;
        this.#finishReceive(receive);
        return;
      }
      case PacketKind.HELP:
        this.#transport.help(packet, this.records.get(words[packet + CONTEXT]! as RecordId, R_POINTER));
        return;
      case PacketKind.EAGER_CLOSE:
        this.#eagerLimits[words[packet + SOURCE]!] = 0;
        return;
      case PacketKind.EAGER_OPEN: {
        const source = words[packet + SOURCE]!;
        this.#eagerLimits[source] = this.#transport.eagerBytesMax(source);
        return;
      }
      case PacketKind.CANCEL:
        this.#takeCancel(words[packet + SOURCE]!, words[packet + CONTEXT]!);
        return;
      case PacketKind.CANCEL_ANSWER:
        if (words[packet + TAG] === 1) this.#completeCancelled(words[packet + CONTEXT]! as RecordId);
        return;
      case PacketKind.PROTOCOL:
        if (this.#hooks !== null) this.#hooks.control(words, packet);
        return;
      case PacketKind.VOID:
        return;
      default:
        assert(false, `packet of unknown kind ${kind as number}`);
    }
  }

  #takeMessage(packet: number, kind: number): void {
    if (this.#hooks !== null && !this.#hooks.arrived(this.#transport.words, packet)) return;
    const words = this.#transport.words;
    const source = words[packet + SOURCE]!;
    const context = words[packet + CONTEXT]!;
    const tag = words[packet + TAG]!;
    const bytes = words[packet + BYTES]!;
    const sequence = words[packet + SEQUENCE]!;
    const receive = this.posted.find(context, source, tag);
    if (receive < 0) {
      this.#storeUnexpected(packet, kind, source, context, tag, bytes, sequence);
      return;
    }
    this.posted.remove(receive);
    this.#match(receive, source, tag, bytes, sequence, context);
    if (kind === PacketKind.EAGER) {
      const wanted = this.records.get(receive, R_STATUS_BYTES);
      if (wanted !== 0)
        this.#memory.fromPayload(this.records.get(receive, R_POINTER) as Pointer, 0, words[packet + PAYLOAD]!, wanted);
      this.#finishReceive(receive);
    } else this.#answerEnvelope(receive, words[packet + EXTRA]!, words[packet + EXTRA + 1]!);
  }

  /** The receive has its message: the outcome but for the bytes themselves. */
  #match(receive: RecordId, source: number, tag: number, bytes: number, sequence: number, context: number): void {
    const words = this.records.words;
    const at = receive * recordWords;
    const room = words[at + R_BYTES]!;
    words[at + R_STATE] = RecordState.ACTIVE;
    words[at + R_STATUS_SOURCE] = source;
    words[at + R_STATUS_TAG] = tag;
    words[at + R_STATUS_BYTES] = Math.min(bytes, room);
    words[at + R_PEER] = source;
    words[at + R_SEQUENCE] = sequence;
    if (bytes > room) words[at + R_FLAGS] = words[at + R_FLAGS]! | RecordFlag.TRUNCATED;
    if (this.tracer !== null) this.tracer.matched(source, tag, bytes, sequence, context);
    if (this.#hooks !== null) this.#hooks.matched(receive, source as WorldRank, sequence);
  }

  #finishReceive(receive: RecordId): void {
    const words = this.records.words;
    const at = receive * recordWords;
    if (this.#hooks !== null) this.#hooks.held(words[at + R_STATUS_SOURCE]! as WorldRank, words[at + R_SEQUENCE]!);
    this.#complete(receive, (words[at + R_FLAGS]! & RecordFlag.TRUNCATED) !== 0 ? ErrorClass.TRUNCATE : 0);
  }

  /** A matched envelope whose payload is still with the sender: copy it, or say where and how it shall come. */
  #answerEnvelope(receive: RecordId, send: number, peerPointer: number): void {
    const words = this.records.words;
    const at = receive * recordWords;
    const source = words[at + R_PEER]!;
    const wanted = words[at + R_STATUS_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    words[at + R_PEER_REQUEST] = send;
    if (wanted === 0 || this.#failed[source] !== 0) {
      if (wanted !== 0) this.#complete(receive, ErrorClass.PROC_FAILED);
      else this.#finishOneCopy(receive);
    } else if (peerPointer >= 0) {
      if (pointer < 0) this.#memory.fromPayload(pointer, 0, peerPointer, wanted);
      else if (!this.#transport.fetch(source, receive, send, pointer, peerPointer, wanted)) {
        this.#fetches.append(receive);
        return;
      }
      this.#finishOneCopy(receive);
    } else {
      const target = pointer >= 0 && this.#transport.shares(source) ? pointer : -1;
      this.#control(source, PacketKind.CTS, send, receive, target, wanted);
    }
  }

  #finishOneCopy(receive: RecordId): void {
    const { records } = this;
    this.#control(records.get(receive, R_PEER), PacketKind.RELEASE, records.get(receive, R_PEER_REQUEST), 0, 0, 0);
    this.#finishReceive(receive);
  }

  #takeClearToSend(packet: number): void {
    const packets = this.#transport.words;
    const send = packets[packet + CONTEXT]! as RecordId;
    const receive = packets[packet + TAG]!;
    const target = packets[packet + BYTES]!;
    const wanted = packets[packet + SEQUENCE]!;
    const words = this.records.words;
    const at = send * recordWords;
    words[at + R_PEER_REQUEST] = receive;
    words[at + R_BYTES] = wanted;
    if (target >= 0) {
      this.#transport.put(words[at + R_PEER]!, target, words[at + R_POINTER]!, wanted);
      this.#control(words[at + R_PEER]!, PacketKind.FINISH, receive, 0, 0, 0);
      this.#finishSend(send);
    } else {
      words[at + R_FLAGS] = words[at + R_FLAGS]! | RecordFlag.STREAMING;
      this.#streams.append(send);
      this.#pushPieces(send);
    }
  }

  #takeFragment(packet: number): void {
    const packets = this.#transport.words;
    const receive = packets[packet + CONTEXT]! as RecordId;
    const offset = packets[packet + TAG]!;
    const bytes = packets[packet + BYTES]!;
    const words = this.records.words;
    const at = receive * recordWords;
    const payload = packets[packet + PAYLOAD]!;
    // Without a payload the transport has written the bytes into the buffer itself.
    if (payload !== 0) this.#memory.fromPayload(words[at + R_POINTER]! as Pointer, offset, payload, bytes);
    words[at + R_OFFSET] = words[at + R_OFFSET]! + bytes;
    if (words[at + R_OFFSET] === words[at + R_STATUS_BYTES]) this.#finishReceive(receive);
  }

  landingOf(receive: number, offset: number, bytes: number): number {
    const words = this.records.words;
    const at = receive * recordWords;
    if (words[at + R_KIND] !== RecordKind.RECEIVE || words[at + R_STATE] !== RecordState.ACTIVE) return Number.NaN;
    if (offset < 0 || bytes < 0 || offset + bytes > words[at + R_STATUS_BYTES]!) return Number.NaN;
    return words[at + R_POINTER]!;
  }

  // Unexpected messages

  #storeUnexpected(
    packet: number,
    kind: number,
    source: number,
    context: number,
    tag: number,
    bytes: number,
    sequence: number,
  ): void {
    const envelope = this.records.take(RecordKind.ENVELOPE);
    const packets = this.#transport.words;
    const words = this.records.words;
    const at = envelope * recordWords;
    words[at + R_CONTEXT] = context;
    words[at + R_PEER] = source;
    words[at + R_TAG] = tag;
    words[at + R_BYTES] = bytes;
    words[at + R_SEQUENCE] = sequence;
    words[at + R_MODE] = kind;
    words[at + R_POINTER] = 0;
    if (kind === PacketKind.RTS) {
      words[at + R_PEER_REQUEST] = packets[packet + EXTRA]!;
      words[at + R_PEER_POINTER] = packets[packet + EXTRA + 1]!;
    } else if (bytes !== 0) {
      const stored = this.#memory.allocate(bytes);
      this.#memory.fromPayload(stored, 0, packets[packet + PAYLOAD]!, bytes);
      words[at + R_POINTER] = stored;
      this.unexpectedBytes += bytes;
      if (this.unexpectedBytes > this.#unexpectedBytesMax && this.#closedSenders[source] === 0) {
        this.#closedSenders[source] = 1;
        this.#closedCount++;
        this.#control(source, PacketKind.EAGER_CLOSE, 0, 0, 0, 0);
      }
    }
    this.unexpected.append(envelope);
    if (kind === PacketKind.EAGER && this.#hooks !== null) this.#hooks.held(source as WorldRank, sequence);
  }

  /** Gives a stored payload to a buffer and ends the envelope. */
  #unstore(envelope: RecordId, pointer: Pointer, wanted: number): void {
    const { records } = this;
    const bytes = records.get(envelope, R_BYTES);
    if (bytes !== 0) {
      const stored = records.get(envelope, R_POINTER) as Pointer;
      if (wanted !== 0) this.#memory.copy(pointer, 0, stored, 0, wanted);
      this.#memory.free(stored);
      this.unexpectedBytes -= bytes;
      if (this.#closedCount !== 0 && this.unexpectedBytes <= this.#unexpectedBytesMax / 2) this.#openSenders();
    }
    if (this.tracer !== null) {
      this.tracer.matched(
        records.get(envelope, R_PEER),
        records.get(envelope, R_TAG),
        bytes,
        records.get(envelope, R_SEQUENCE),
        records.get(envelope, R_CONTEXT),
      );
    }
    records.give(envelope);
  }

  #openSenders(): void {
    for (let rank = 0; rank < this.#ranks; rank++) {
      if (this.#closedSenders[rank] === 0) continue;
      this.#closedSenders[rank] = 0;
      this.#control(rank, PacketKind.EAGER_OPEN, 0, 0, 0, 0);
    }
    this.#closedCount = 0;
  }

  #deliverEnvelope(receive: RecordId, envelope: RecordId): void {
    const words = this.records.words;
    const at = envelope * recordWords;
    const kind = words[at + R_MODE]!;
    const tracer = this.tracer;
    if (kind === PacketKind.EAGER) this.tracer = null; // `#unstore` tells it
    this.#match(
      receive,
      words[at + R_PEER]!,
      words[at + R_TAG]!,
      words[at + R_BYTES]!,
      words[at + R_SEQUENCE]!,
      words[at + R_CONTEXT]!,
    );
    this.tracer = tracer;
    if (kind === PacketKind.EAGER) {
      this.#unstore(
        envelope,
        words[receive * recordWords + R_POINTER]! as Pointer,
        words[receive * recordWords + R_STATUS_BYTES]!,
      );
      // `held` was said when it arrived.
      this.#complete(
        receive,
        (this.records.get(receive, R_FLAGS) & RecordFlag.TRUNCATED) !== 0 ? ErrorClass.TRUNCATE : 0,
      );
    } else {
      const send = words[at + R_PEER_REQUEST]!;
      const peerPointer = words[at + R_PEER_POINTER]!;
      this.records.give(envelope);
      this.#answerEnvelope(receive, send, peerPointer);
    }
  }

  #takeCancel(source: number, send: number): void {
    let found = none;
    this.unexpected.forEach((envelope) => {
      const { records } = this;
      if (
        records.get(envelope, R_MODE) === PacketKind.RTS &&
        records.get(envelope, R_PEER) === source &&
        records.get(envelope, R_PEER_REQUEST) === send
      ) {
        found = envelope;
      }
    });
    if (found >= 0) {
      this.unexpected.remove(found);
      this.records.give(found);
    }
    this.#control(source, PacketKind.CANCEL_ANSWER, send, found >= 0 ? 1 : 0, 0, 0);
  }

  // Deaths

  /**
   * A process of the job is dead: everything that only it could complete completes now, with PROC_FAILED. Messages of it that
   * are wholly here can still be received. Receives from ANY_SOURCE are left to the layer above, which knows groups.
   */
  peerFailed(rank: number): void {
    // What has arrived was sent in life, and counts. A flood from the living must not keep us here.
    for (let looks = 0; looks < looksBeforeDeath && this.#takeArrivals(); looks++);
    this.#failed[rank] = 1;
    this.#looksCloser = true;
    this.#eagerLimits[rank] = -1; // nothing fits: `sendNow` leaves it to `startSend`, which says why
    this.#outgoing.drop(rank, (record) => {
      if (this.records.get(record, R_KIND) === RecordKind.SEND) this.#complete(record, ErrorClass.PROC_FAILED);
      else this.records.give(record);
    });
    this.posted.forEach((receive) => {
      if (this.records.get(receive, R_PEER) !== rank) return;
      this.posted.remove(receive);
      this.#complete(receive, ErrorClass.PROC_FAILED);
    });
    for (const list of [this.#streams, this.#fetches, this.#unconfirmed]) {
      for (let record = list.first; record >= 0; ) {
        const next = list.after(record);
        if (this.records.get(record, R_PEER) === rank) {
          if (list === this.#fetches) this.#transport.unfetch(record);
          list.remove(record);
        }
        record = next;
      }
    }
    const capacity = this.records.words.length / recordWords;
    for (let record = 0 as RecordId; record < capacity; record++) {
      const words = this.records.words;
      const at = record * recordWords;
      const kind = words[at + R_KIND];
      if (kind !== RecordKind.SEND && kind !== RecordKind.RECEIVE) continue;
      if (words[at + R_PEER] === rank && words[at + R_STATE] === RecordState.ACTIVE)
        this.#complete(record, ErrorClass.PROC_FAILED);
    }
  }

  hasFailed(rank: number): boolean {
    return this.#failed[rank] !== 0;
  }

  /** Posted receives from ANY_SOURCE of one context, oldest first: after a death the layer above decides about them. */
  wildcardReceives(context: number): RecordId[] {
    const found: RecordId[] = [];
    this.posted.forEach((receive) => {
      if (this.records.get(receive, R_PEER) === ANY_SOURCE && this.records.get(receive, R_CONTEXT) === context)
        found.push(receive);
    });
    return found;
  }

  /** Ends a posted receive with an error. */
  failReceive(receive: RecordId, error: number): void {
    this.posted.remove(receive);
    this.#complete(receive, error);
  }
}
