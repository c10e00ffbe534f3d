/**
 * The matching engine of one process: point-to-point messages from posting to completion.
 *
 * No method waits. `startSend` and `startReceive` leave a request (a record of core/request); `progress` moves all requests that
 * can move. Three ways a message travels:
 *
 *   eager       the payload goes with the envelope, up to the transport's limit; the send is complete at once
 *   one copy    the envelope (RTS) carries the address; the receiver copies from the sender's memory and answers RELEASE
 *   in pieces   the receiver answers the RTS with CTS; the sender writes straight into the receiver's memory where it may
 *               (FINISH follows), or pushes FRAGMENTs as the channel takes them
 *
 * This file is the face: posting, the short ways of blocking calls, progress, and what concerns all parts at once (a revoked
 * context, a death). Everything else is asked of the part that knows it:
 *
 *   outbox.ts            messages that leave: the way of each, queues of channels that are full
 *   channel-numbers.ts   the numbers of messages
 *   control-packets.ts   packets that are no messages, announcements of the layer above among them
 *   arrivals.ts          packets that have arrived, sorted by kind; announcements of other processes
 *   matching.ts          messages and receives meet
 *   envelopes.ts         messages that came before their receive
 *   unexpected-store.ts  their payloads, bounded in bytes
 *   transfers.ts         bytes that follow their envelope
 *   completion.ts        how requests end, and which have not
 *   peers.ts             the processes of the job: gone or not, eager limits, lives, places
 *   refusals.ts          contexts that are revoked, or take no receives from ANY_SOURCE
 *   protocol-access.ts   all that a fault-tolerance protocol may do
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import type { ProcessName } from "../base/identity.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { Arrival } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_KIND,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_REPLICA,
  R_SEQUENCE,
  R_STATE,
  R_TAG,
  RecordFlag,
  RecordKind,
  RecordState,
  Records,
  recordWords,
  type SendMode,
} from "../request/records.ts";
import { BYTES, CONTEXT, KIND, kindOf, PAYLOAD, PacketKind, SEQUENCE, SOURCE, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { Arrivals } from "./arrivals.ts";
import { BrokenMessages } from "./broken-messages.ts";
import { Completion } from "./completion.ts";
import type { EngineHooks, EnginePorts, EngineTracer } from "./engine-ports.ts";
import { Envelopes } from "./envelopes.ts";
import { Gone } from "./gone.ts";
import { Matching } from "./matching.ts";
import { Outbox } from "./outbox.ts";
import { Pass } from "./pass.ts";
import { Peers } from "./peers.ts";
import type { PostedQueue } from "./posted-queue.ts";
import { Refusals } from "./refusals.ts";
import { Transfers } from "./transfers.ts";
import type { UnexpectedQueue } from "./unexpected-queue.ts";
import { UnexpectedStore } from "./unexpected-store.ts";

export type { EngineHooks, EngineTracer } from "./engine-ports.ts";

interface EngineOptions {
  readonly rank: number;
  /** Ranks that there can be in the job. */
  readonly ranks: number;
  /** How many processes may play a rank, 1 unless given; and which of them this one is. */
  readonly replicas?: number;
  readonly replica?: number;
  readonly transport: Transport;
  readonly memory: Memory;
  /** Makes the protocol of the process; of the engine it can use the plain fields only until all of it is made. */
  readonly hooks?: ((engine: Engine) => EngineHooks) | null;
  /** Stored payloads of unexpected messages, in bytes; above it senders keep their payloads. */
  readonly unexpectedBytesMax?: number;
  /** Where there is a data plane. */
  readonly pass?: Pass | null;
}

const unexpectedBytesMaxDefault = 16 << 20;

/** The answers of `receiveNow`. */
export const Now = { NOTHING: 0, DONE: 1, MUST_POST: -1 } as const;

/** Packets handled in one call of `progress`, so that a flood of arrivals does not starve what waits to be sent. */
const packetsPerProgress = 64;

/** Eager sends after which a process that does not wait looks at its arrivals all the same: EAGER_CLOSE may be among them. */
const eagerSendsPerLook = 64;
/** Where more messages are waiting nobody asks where they are from. */
const waitingAskedMax = 8;

/** Stands for the next number of a channel. No number is so small before 2^31 messages. */
export const unnumbered = -(2 ** 31);

/** Times `packetsPerProgress` packets that are taken before a death counts. */
const looksBeforeDeath = 1024;

export class Engine {
  static readonly unsaved = { currentTracer: null, pass: null };
  readonly records: Records = new Records();
  readonly posted: PostedQueue;
  readonly unexpected: UnexpectedQueue;
  readonly transport: Transport;
  readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  readonly outbox: Outbox;
  readonly arrivals: Arrivals;
  readonly envelopes: Envelopes;
  readonly matching: Matching;
  readonly store: UnexpectedStore;
  readonly transfers: Transfers;
  readonly completion: Completion;
  readonly peers: Peers;
  readonly refusals: Refusals;
  readonly pass: Pass;
  readonly rank: number;
  readonly ranks: number;
  /** The short ways must ask before they take a message: there is a protocol, a process is dead, or a context is revoked. */
  private looksCloser: boolean;
  private hasFailures = false;
  /** Eager sends since the last look at what has arrived. A data plane counts on in the pass. */
  private eagerSends = 0;
  private currentTracer: EngineTracer | null = null;

  /** The outcome of the last `receiveNow` that was DONE. */
  lastSource = 0;
  lastTag = 0;
  lastBytes = 0;
  lastError = 0;

  constructor(options: EngineOptions) {
    const { rank, ranks, transport, memory, replicas = 1, replica = 0 } = options;
    this.rank = rank;
    this.ranks = ranks;
    this.transport = transport;
    this.memory = memory;
    const pass = options.pass ?? Pass.unused();
    this.pass = pass;
    const hooks = options.hooks?.(this) ?? null;
    const peers = new Peers({ ranks, replicas, replica, transport, pass });
    const ports: EnginePorts = { peers, records: this.records, transport, memory, hooks, pass };
    const broken = new BrokenMessages(this.records);
    const completion = new Completion(ports, broken);
    const refusals = new Refusals();
    const outbox = new Outbox(ports, completion, refusals);
    const store = new UnexpectedStore(ports, outbox.packets, options.unexpectedBytesMax ?? unexpectedBytesMaxDefault);
    const transfers = new Transfers(ports, outbox, completion);
    const envelopes = new Envelopes(ports, { packets: outbox.packets, store, transfers, broken });
    const matching = new Matching(ports, { completion, transfers, store, envelopes, refusals });
    this.hooks = hooks;
    this.peers = peers;
    this.refusals = refusals;
    this.completion = completion;
    this.outbox = outbox;
    this.store = store;
    this.transfers = transfers;
    this.envelopes = envelopes;
    this.matching = matching;
    this.arrivals = new Arrivals(ports, { transfers, matching, envelopes });
    this.posted = matching.posted;
    this.unexpected = envelopes.queue;
    this.looksCloser = hooks !== null;
  }

  get tracer(): EngineTracer | null {
    return this.currentTracer;
  }

  set tracer(tracer: EngineTracer | null) {
    this.currentTracer = tracer;
    this.matching.tracer = tracer;
    if (tracer !== null) this.pass.close();
  }

  /** Would a data plane send as `sendNow` does? What makes that untrue closes the pass. */
  get sendsArePlain(): boolean {
    if (this.currentTracer !== null || this.outbox.count !== 0 || !this.peers.areAlike) return false;
    return this.looksCloser ? this.mayLookAway : true;
  }

  /** Do the short ways look closer because there is a protocol, and for no other reason, and would it let all messages pass? */
  private get mayLookAway(): boolean {
    const { hooks, matching, refusals } = this;
    return hooks?.mayPass(this.rank) === true && !matching.hasPinned && !this.hasFailures && !refusals.areAny;
  }

  /** Would it receive as `receiveNow` does, as far as messages are concerned? */
  get receivesArePlain(): boolean {
    return this.posted.count === 0 && this.isNothingFromNear();
  }

  /** Could a message that is waiting be one that a data plane would receive? Few are asked about. */
  private isNothingFromNear(): boolean {
    const { count } = this.unexpected;
    if (count === 0) return true;
    if (count > waitingAskedMax) return false;
    let isNear = false;
    this.unexpected.forEach((envelope) => {
      isNear ||= this.pass.leadsTo(this.records.get(envelope, R_PEER));
    });
    return !isNear;
  }

  // Sending

  /** The short way of a standard send: true when the whole message has left and the buffer is free. No request is made. */
  sendNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    // A trace notes a send before its message leaves, or the match may come first: `startSend` does.
    const hasLeft = this.currentTracer === null && this.outbox.sendNow(pointer, bytes, dest, tag, context);
    if (!hasLeft && !this.keepNow(pointer, bytes, dest, tag, context)) return false;
    this.lookNowAndThen();
    return true;
  }

  /** True: the protocol has taken the message, and the buffer is free. */
  private keepNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number): boolean {
    const { hooks } = this;
    if (hooks === null || !hooks.keepsNow(dest) || this.isRefused(dest, context)) return false;
    const sequence = this.outbox.numbers.take(dest);
    if (this.currentTracer !== null) this.currentTracer.sent(dest, tag, bytes, sequence, context);
    hooks.keepNow(pointer, bytes, dest, tag, context, sequence);
    return true;
  }

  /** Is a send to that rank over with an error? */
  private isRefused(dest: number, context: number): boolean {
    return this.looksCloser && (this.peers.isDead(this.peers.ofRank(dest)) || this.refusals.isRevoked(context));
  }

  /** An eager message has left. */
  private lookNowAndThen(): void {
    const { pass } = this;
    if (pass.isUsed) {
      this.eagerSends = pass.eagerSends;
      pass.eagerSends++;
    }
    if (++this.eagerSends >= eagerSendsPerLook) this.takeArrivals();
  }

  startSend(pointer: Pointer, bytes: number, dest: number, tag: number, context: number, mode: SendMode): RecordId {
    return this.startNumbered(pointer, bytes, dest, tag, context, mode, unnumbered);
  }

  /** Must messages have the numbers that their place in the program gives them, whenever they are sent? `outbox` reserves them. */
  get isNumbered(): boolean {
    return this.hooks !== null;
  }

  /** A send whose number was reserved before. */
  startNumbered(
    pointer: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    context: number,
    mode: SendMode,
    number: number,
  ): RecordId {
    const send = this.records.takeMessage(RecordKind.SEND, pointer, bytes, dest, tag, context);
    const words = this.records.words;
    const at = send * recordWords;
    words[at + R_MODE] = mode;
    words[at + R_REPLICA] = this.peers.replicaOf(dest);
    if (this.isRefused(dest, context)) {
      this.completion.complete(send, this.refusals.isRevoked(context) ? ErrorClass.REVOKED : ErrorClass.PROC_FAILED);
      return send;
    }
    // A message that will never leave has no number: a channel's numbers have no gaps.
    const sequence = number === unnumbered ? this.outbox.numbers.take(dest) : number;
    words[at + R_SEQUENCE] = sequence;
    if (this.currentTracer !== null) this.currentTracer.sent(dest, tag, bytes, sequence, context);
    if (this.hooks?.sendPosted(send) === true) {
      this.records.addFlag(send, RecordFlag.TAKEN);
      return send;
    }
    if (this.outbox.post(send)) this.lookNowAndThen();
    return send;
  }

  // Receiving

  /**
   * The short way of a blocking receive: nothing posted, and the message is stored or at the head of what has arrived. DONE:
   * it is in the buffer, see `last…`. NOTHING: try again later. MUST_POST: only a posted receive can take it.
   */
  receiveNow(pointer: Pointer, room: number, source: number, tag: number, context: number): number {
    if ((this.looksCloser && this.mustPost(context)) || this.posted.count !== 0) return Now.MUST_POST;
    const transport = this.transport;
    for (;;) {
      if (this.unexpected.count !== 0) {
        const envelope = this.unexpected.find(context, source, tag);
        if (envelope >= 0) return this.receiveStored(envelope, pointer, room, source);
      }
      const packet = transport.peek();
      if (packet < 0) return Now.NOTHING;
      const words = transport.words;
      if (
        (words[packet + KIND] === this.peers.plainEager || this.isPresentEager(packet)) &&
        (tag === ANY_TAG ? words[packet + TAG]! >= 0 : words[packet + TAG] === tag) &&
        words[packet + CONTEXT] === context &&
        (source === ANY_SOURCE ? words[packet + SOURCE]! >>> 0 < this.ranks : words[packet + SOURCE] === source) &&
        words[packet + BYTES]! >>> 0 <= transport.payloadBytesMax
      ) {
        if (this.looksCloser && !this.mayTakeNow(packet)) {
          transport.release();
          continue;
        }
        let bytes = words[packet + BYTES]!;
        this.lastSource = words[packet + SOURCE]!;
        this.lastTag = words[packet + TAG]!;
        this.lastError = 0;
        if (bytes > room) {
          this.lastError = ErrorClass.TRUNCATE;
          bytes = room;
        }
        this.lastBytes = bytes;
        if (this.currentTracer !== null)
          this.currentTracer.matched(this.lastSource, this.lastTag, bytes, words[packet + SEQUENCE]!, context);
        if (bytes !== 0) this.memory.fromPayload(pointer, 0, words[packet + PAYLOAD]!, bytes);
        if (this.looksCloser) this.tellReceived(source, words[packet + SEQUENCE]!);
        transport.release();
        return Now.DONE;
      }
      this.arrivals.take(packet);
      transport.release();
    }
  }

  /** Is it an eager message of its sender's present life? */
  private isPresentEager(packet: number): boolean {
    const { words } = this.transport;
    const kind = words[packet + KIND]!;
    if (kindOf(kind) !== PacketKind.EAGER) return false;
    const peer = this.peers.ofPacket(words, packet, kind);
    return peer >= 0 && this.peers.compareLife(peer, kind) === 0;
  }

  /** The long way finds out what is wrong, and says so. */
  private mustPost(context: number): boolean {
    // A receive that waits for one message and no other stands in no queue: it must be found first.
    if (!this.mayPass(this.rank) || this.matching.hasPinned) return true;
    return this.hasFailures || this.refusals.isRevoked(context);
  }

  private mayPass(peer: number): boolean {
    return this.hooks === null || this.hooks.mayPass(peer);
  }

  private mayTakeNow(packet: number): boolean {
    const { hooks } = this;
    return hooks === null || hooks.mayPass(this.transport.words[packet + SOURCE]!) || this.isLetIn(hooks, packet);
  }

  /**
   * Asks the protocol of a message that a receive is about to take from its packet. False: the receive must not, and the message has
   * been dealt with.
   */
  private isLetIn(hooks: EngineHooks, packet: number): boolean {
    const { words } = this.transport;
    const isWhole = words[packet + BYTES] === 0 || words[packet + PAYLOAD] !== 0;
    if (!isWhole || this.peers.gone(this.peers.ofPacket(words, packet, words[packet + KIND]!)) !== Gone.NO) {
      this.arrivals.take(packet);
      return false;
    }
    const arrival = hooks.arrived(words, packet);
    if (arrival === Arrival.TAKE) hooks.held(words[packet + SOURCE]! as WorldRank, words[packet + SEQUENCE]!);
    else this.matching.takeOtherwise(arrival, packet, PacketKind.EAGER);
    return arrival === Arrival.TAKE;
  }

  private tellReceived(wanted: number, sequence: number): void {
    if (this.hooks !== null) this.hooks.received(wanted === ANY_SOURCE, this.lastSource as WorldRank, sequence);
  }

  private receiveStored(envelope: RecordId, pointer: Pointer, room: number, wanted: number): number {
    const words = this.records.words;
    const at = envelope * recordWords;
    if (words[at + R_MODE] !== PacketKind.EAGER) return Now.MUST_POST;
    this.unexpected.remove(envelope);
    const bytes = words[at + R_BYTES]!;
    this.lastSource = words[at + R_PEER]!;
    this.lastTag = words[at + R_TAG]!;
    this.lastError = bytes > room ? ErrorClass.TRUNCATE : 0;
    this.lastBytes = Math.min(bytes, room);
    if (this.currentTracer !== null) {
      this.currentTracer.matched(this.lastSource, this.lastTag, bytes, words[at + R_SEQUENCE]!, words[at + R_CONTEXT]!);
    }
    if (this.looksCloser) this.tellReceived(wanted, words[at + R_SEQUENCE]!);
    this.store.deliver(envelope, pointer, this.lastBytes);
    return Now.DONE;
  }

  startReceive(pointer: Pointer, room: number, source: number, tag: number, context: number): RecordId {
    const receive = this.records.takeMessage(RecordKind.RECEIVE, pointer, room, source, tag, context);
    if (this.looksCloser && this.refusals.isRevoked(context)) {
      this.completion.complete(receive, ErrorClass.REVOKED);
      return receive;
    }
    this.matching.post(receive);
    if (this.looksCloser && source === ANY_SOURCE && this.refusals.refusesWildcards(context)) {
      // One that is not pending has found its message.
      if (this.records.get(receive, R_STATE) === RecordState.PENDING) {
        this.matching.stall(receive);
      }
    }
    return receive;
  }

  /** A request of the layer above, which ends it by `completion.complete`. */
  startOperation(): RecordId {
    const { records } = this;
    const operation = records.take(RecordKind.OPERATION);
    records.put(operation, R_POINTER, 0);
    records.put(operation, R_STATE, RecordState.ACTIVE);
    return operation;
  }

  /** A request for a message that the program has still to let go. Its owner gives it back then; only a revocation ends it. */
  startHeld(context: number): RecordId {
    const { records } = this;
    const held = this.startOperation();
    records.put(held, R_CONTEXT, context);
    records.addFlag(held, RecordFlag.HELD);
    if (this.looksCloser && this.refusals.isRevoked(context)) this.completion.complete(held, ErrorClass.REVOKED);
    return held;
  }

  /** The oldest message a receive with this pattern would take; it stays where it is. −1: none has arrived. */
  probe(source: number, tag: number, context: number): RecordId {
    return this.matching.probe(source, tag, context);
  }

  /** Takes the message that a matched probe has found out of the queue: only `startMatchedReceive` can receive it now. */
  setAside(envelope: RecordId): void {
    this.unexpected.remove(envelope);
  }

  startMatchedReceive(pointer: Pointer, room: number, envelope: RecordId): RecordId {
    const { records } = this;
    const source = records.get(envelope, R_PEER);
    const tag = records.get(envelope, R_TAG);
    const context = records.get(envelope, R_CONTEXT);
    const receive = this.records.takeMessage(RecordKind.RECEIVE, pointer, room, source, tag, context);
    if (this.refusals.isRevoked(context)) {
      this.envelopes.drop(envelope);
      this.completion.complete(receive, ErrorClass.REVOKED);
    } else this.matching.deliver(receive, envelope);
    return receive;
  }

  // Completion

  isComplete(request: RecordId): boolean {
    return this.records.words[request * recordWords + R_STATE] === RecordState.COMPLETE;
  }

  /** The program does not want to hear of this request any more: complete or not, it is given back when it is done. */
  abandon(request: RecordId): void {
    if (this.isComplete(request)) this.giveBack(request);
    else this.records.addFlag(request, RecordFlag.ORPHAN);
  }

  /** Ends a complete request, and the loan of its buffer. */
  giveBack(request: RecordId): void {
    this.completion.giveBack(request);
  }

  /** A data plane has begun that receive, and taken its message: the protocol hears of it as of one that is posted. */
  receivedElsewhere(receive: RecordId, context: number): void {
    this.records.put(receive, R_CONTEXT, context);
    this.hooks?.receivePosted(receive);
  }

  /** Asks that a message be cancelled; it completes in any case, and its flag says whether it was (MPI 5.0 §3.8.4). */
  cancel(request: RecordId): void {
    const state = this.records.get(request, R_STATE);
    switch (this.records.get(request, R_KIND)) {
      case RecordKind.RECEIVE:
        if (state === RecordState.PENDING) this.matching.cancel(request);
        else if (this.matching.isStalled(request)) this.completion.completeCancelled(request);
        else if (!this.records.hasFlag(request, RecordFlag.CANCELLED)) this.hooks?.cancelling(request, true);
        return;
      case RecordKind.SEND:
        if (state === RecordState.COMPLETE) return;
        if (state === RecordState.PENDING) this.outbox.cancel(request);
        else this.transfers.cancel(request);
    }
  }

  // Progress

  /** Moves whatever can move; true when anything did. */
  progress(): boolean {
    let moved = this.takeArrivals();
    if (this.outbox.count !== 0 && this.outbox.flush()) moved = true;
    if (this.transfers.isBusy && this.transfers.progress()) moved = true;
    if (this.completion.isHeldBack && this.completion.confirmSends()) moved = true;
    if (this.hooks?.progress() === true) moved = true;
    return moved;
  }

  private takeArrivals(): boolean {
    this.eagerSends = 0;
    this.pass.eagerSends = 0;
    return this.arrivals.takeAll(packetsPerProgress);
  }

  /** True while packets wait for room, pieces wait to be pushed, or the protocol waits for others: the process must not end yet. */
  get unsent(): boolean {
    if (this.outbox.count !== 0 || this.transfers.isPushing) return true;
    return this.hooks !== null && (this.hooks.isBusy || this.hooks.awaitsOthers);
  }

  /** True while `progress` has something to move even if nothing arrives. */
  get isBusy(): boolean {
    if (this.hooks?.isBusy === true) return true;
    return this.outbox.count !== 0 || this.transfers.isBusy || this.completion.isHeldBack;
  }

  // Revocation and deaths

  /**
   * Ends the requests of that context that wait for a message, and refuses later ones, with REVOKED. A message that has met its
   * receive is finished, because the two sides may be copying in each other's memory; a send whose envelope has left ends when the
   * receiver, which hears of the revocation as well, has answered that it is finished or refused.
   */
  revoke(context: number): void {
    this.refusals.revoke(context);
    this.pass.close();
    this.looksCloser = true;
    this.outbox.looksCloser = true;
    this.matching.revoke(context);
  }

  /**
   * A process of the job is dead: everything that only it could complete completes now, with PROC_FAILED. Messages of it that
   * are wholly here can still be received. Receives from ANY_SOURCE are left to the layer above, which knows groups.
   */
  peerFailed({ rank, replica }: ProcessName): void {
    const peer = this.peers.numberOf(rank, replica);
    // What has arrived was sent in life, and counts. A flood from the living must not keep us here.
    for (let looks = 0; looks < looksBeforeDeath && this.takeArrivals(); looks++);
    this.peers.setGone(peer, Gone.DEAD);
    this.hasFailures = true;
    this.pass.close();
    this.looksCloser = true;
    this.outbox.peerFailed(peer);
    this.matching.peerFailed(peer);
    this.transfers.peerFailed(peer);
    this.completion.peerFailed(peer);
  }

  /** For the protocol: whose messages are posted and taken. See there. */
  collectiveBegins(collective: RecordId): void {
    if (this.hooks !== null) this.hooks.collectiveBegins(collective);
  }

  actFor(collective: RecordId): void {
    if (this.hooks !== null) this.hooks.actsFor(collective);
  }

  actForProgram(): void {
    if (this.hooks !== null) this.hooks.actsForProgram();
  }

  /** For collectives that go past the messages: a member is about to arrive. */
  meeting(): void {
    if (this.hooks !== null) this.hooks.meeting();
  }
}

lives({ Engine });
