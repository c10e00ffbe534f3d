/**
 * Messages that are here and have no receive yet. Each has a record, its envelope, in the queue of unexpected messages; the payload of
 * an eager one is in the store, that of another still with its sender, who waits for an answer.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { TAG_UB } from "../base/constants.ts";
import { lives } from "../base/saved-classes.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_KIND,
  R_MODE,
  R_PEER,
  R_PEER_POINTER,
  R_PEER_REQUEST,
  R_POINTER,
  R_REPLICA,
  R_SEQUENCE,
  R_TAG,
  RecordFlag,
  RecordKind,
  type Records,
  recordWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PAYLOAD, PacketKind, replicaOf, SEQUENCE, SOURCE, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import type { BrokenMessages } from "./broken-messages.ts";
import type { ControlPackets } from "./control-packets.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import { Gone } from "./gone.ts";
import type { Pass } from "./pass.ts";
import type { Peers } from "./peers.ts";
import type { Transfers } from "./transfers.ts";
import { UnexpectedQueue } from "./unexpected-queue.ts";
import type { UnexpectedStore } from "./unexpected-store.ts";

interface EnvelopesParts {
  readonly packets: ControlPackets;
  readonly store: UnexpectedStore;
  readonly transfers: Transfers;
  readonly broken: BrokenMessages;
}

const none = -1 as RecordId;

export class Envelopes {
  static readonly unsaved = { pass: null };
  readonly queue: UnexpectedQueue;
  /** Messages of lost processes that are here without all their bytes. */
  readonly broken: BrokenMessages;
  private readonly records: Records;
  private readonly transport: Transport;
  private readonly hooks: EngineHooks | null;
  private readonly peers: Peers;
  private readonly pass: Pass;
  private readonly packets: ControlPackets;
  private readonly store: UnexpectedStore;
  private readonly transfers: Transfers;
  /** See `disregard`; no context is −1. */
  private disregardedContext = -1;
  private disregardedBelow = 0;

  constructor({ records, transport, hooks, peers, pass }: EnginePorts, parts: EnvelopesParts) {
    this.queue = new UnexpectedQueue(records);
    this.broken = parts.broken;
    this.records = records;
    this.transport = transport;
    this.hooks = hooks;
    this.peers = peers;
    this.pass = pass;
    this.packets = parts.packets;
    this.store = parts.store;
    this.transfers = parts.transfers;
  }

  /** A message has arrived that no posted receive takes. */
  add(packet: number, kind: number): void {
    if (kind === PacketKind.EAGER) {
      const words = this.transport.words;
      if (this.isDisregarded(words[packet + CONTEXT]!, words[packet + TAG]!)) return;
    }
    const envelope = this.newEnvelope(packet, kind);
    if (kind === PacketKind.EAGER && this.hooks !== null && !this.hooks.mayCount(envelope)) {
      this.records.addFlag(envelope, RecordFlag.ASIDE);
      this.spoil(envelope);
      this.hooks.putAside(envelope);
      return;
    }
    this.append(envelope);
    if (kind === PacketKind.EAGER && this.hooks !== null) this.tellHeld(this.hooks, envelope);
  }

  /** A message has arrived that the protocol does not let in yet. */
  putAside(packet: number, kind: number): void {
    const envelope = this.newEnvelope(packet, kind);
    this.records.addFlag(envelope, RecordFlag.ASIDE);
    this.hooks?.putAside(envelope);
  }

  private newEnvelope(packet: number, kind: number): RecordId {
    const envelope = this.records.take(RecordKind.ENVELOPE);
    const packets = this.transport.words;
    const words = this.records.words;
    const at = envelope * recordWords;
    words[at + R_PEER] = packets[packet + SOURCE]!;
    words[at + R_REPLICA] = replicaOf(packets[packet + KIND]!);
    words[at + R_SEQUENCE] = packets[packet + SEQUENCE]!;
    this.address(envelope, packet);
    words[at + R_MODE] = kind;
    this.fill(envelope, packet, kind);
    return envelope;
  }

  /** Writes down what receives match by. */
  address(envelope: RecordId, packet: number): void {
    const packets = this.transport.words;
    const words = this.records.words;
    const at = envelope * recordWords;
    words[at + R_CONTEXT] = packets[packet + CONTEXT]!;
    words[at + R_TAG] = packets[packet + TAG]!;
    words[at + R_BYTES] = packets[packet + BYTES]!;
  }

  append(envelope: RecordId): void {
    this.queue.append(envelope);
    this.pass.closeReceives();
  }

  private tellHeld(hooks: EngineHooks, envelope: RecordId): void {
    hooks.held(this.records.get(envelope, R_PEER) as WorldRank, this.records.get(envelope, R_SEQUENCE));
  }

  /** The bytes of a message that was put aside are not to be trusted: it is one without bytes, which come again. */
  spoil(envelope: RecordId): void {
    const { records } = this;
    if (records.get(envelope, R_MODE) === PacketKind.EAGER) this.store.forget(envelope);
    records.put(envelope, R_MODE, PacketKind.RTS);
    this.broken.add(envelope);
  }

  /** Writes down where the bytes of an envelope are. */
  fill(envelope: RecordId, packet: number, kind: number): void {
    const packets = this.transport.words;
    const words = this.records.words;
    const at = envelope * recordWords;
    words[at + R_POINTER] = 0;
    if (kind === PacketKind.RTS) {
      words[at + R_PEER_REQUEST] = packets[packet + EXTRA]!;
      words[at + R_PEER_POINTER] = this.transfers.peerPointerOf(packet);
    } else if (words[at + R_BYTES] !== 0) this.store.keep(envelope, packets[packet + PAYLOAD]!);
  }

  /** The envelope of that message, if it waits for a receive; −1: it does not. */
  of(source: number, sequence: number): RecordId {
    let found = none;
    this.queue.forEach((envelope) => {
      if (this.records.get(envelope, R_PEER) !== source || this.records.get(envelope, R_SEQUENCE) !== sequence) return;
      found = envelope;
    });
    return found;
  }

  /**
   * Small messages of that context with tags below this one are of no use any more: those that are here are dropped, and those that
   * arrive later without a receive are not kept. Tags count up and wrap, and no two that are compared are half of all apart.
   */
  disregard(context: number, tagsBelow: number): void {
    this.disregardedContext = context;
    this.disregardedBelow = tagsBelow;
    const gone: RecordId[] = [];
    this.queue.forEach((envelope) => {
      const { records } = this;
      const isEager = records.get(envelope, R_MODE) === PacketKind.EAGER;
      if (isEager && this.isDisregarded(records.get(envelope, R_CONTEXT), records.get(envelope, R_TAG)))
        gone.push(envelope);
    });
    for (const envelope of gone) {
      this.queue.remove(envelope);
      this.store.deliver(envelope, 0 as Pointer, 0);
    }
  }

  private isDisregarded(context: number, tag: number): boolean {
    return context === this.disregardedContext && ((tag - this.disregardedBelow) & TAG_UB) > TAG_UB >> 1;
  }

  /** A sender wants to take back a message: its envelope is forgotten if no receive has it yet, and the sender is told. */
  takeCancel(packet: number): boolean {
    const packets = this.transport.words;
    const peer = this.peers.ofPacket(packets, packet, packets[packet + KIND]!);
    const send = packets[packet + CONTEXT]!;
    if (send < 0) return false;
    let found = none;
    this.queue.forEach((envelope) => {
      const records = this.records;
      if (
        records.get(envelope, R_MODE) === PacketKind.RTS &&
        this.peers.ofRecord(records.words, envelope * recordWords) === peer &&
        records.get(envelope, R_PEER_REQUEST) === send
      ) {
        found = envelope;
      }
    });
    if (found >= 0) {
      this.queue.remove(found);
      this.records.give(found);
    }
    this.packets.control(peer, PacketKind.CANCEL_ANSWER, send, found >= 0 ? 1 : 0);
    return true;
  }

  /** That context is revoked: its messages are dropped. */
  revoke(context: number): void {
    const records = this.records;
    const isOf = (record: RecordId): boolean => records.get(record, R_CONTEXT) === context;
    this.queue.forEach((envelope) => {
      if (!isOf(envelope)) return;
      this.queue.remove(envelope);
      this.drop(envelope);
    });
    // Those that a matched probe has set aside stay until the program receives them; their senders need not wait for that.
    for (let record = 0; records.has(record); record++) {
      const envelope = record as RecordId;
      const isAside = records.get(envelope, R_KIND) === RecordKind.ENVELOPE && isOf(envelope);
      if (!isAside || records.get(envelope, R_MODE) !== PacketKind.RTS) continue;
      this.refuseSend(this.peers.ofRecord(records.words, record * recordWords), records.get(envelope, R_PEER_REQUEST));
      records.put(envelope, R_MODE, PacketKind.VOID);
    }
  }

  /** Ends an envelope that stands in no queue, without a receive for its message. */
  drop(envelope: RecordId): void {
    const records = this.records;
    const mode = records.get(envelope, R_MODE);
    if (mode === PacketKind.EAGER) {
      this.store.deliver(envelope, 0 as Pointer, 0);
      return;
    }
    if (records.hasFlag(envelope, RecordFlag.BROKEN)) {
      this.broken.take(records.get(envelope, R_PEER), records.get(envelope, R_SEQUENCE));
    } else if (mode === PacketKind.RTS) {
      const peer = this.peers.ofRecord(records.words, envelope * recordWords);
      this.refuseSend(peer, records.get(envelope, R_PEER_REQUEST));
    }
    records.give(envelope);
  }

  /** A message has come for a context that is revoked. */
  refuse(packet: number, kind: number): void {
    const words = this.transport.words;
    if (kind === PacketKind.RTS)
      this.refuseSend(this.peers.ofPacket(words, packet, words[packet + KIND]!), words[packet + EXTRA]!);
    if (this.hooks !== null) this.hooks.held(words[packet + SOURCE]! as WorldRank, words[packet + SEQUENCE]!);
  }

  /** The sender keeps its buffer until it hears from us, so that no receiver reads from it what the program has overwritten. */
  private refuseSend(peer: number, send: number): void {
    if (this.peers.gone(peer) === Gone.NO) this.packets.control(peer, PacketKind.REFUSAL, send);
  }

  /** That peer will come back: envelopes of its messages wait for their bytes from its next life. */
  peerLost(peer: number): void {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (words[at + R_KIND] !== RecordKind.ENVELOPE || this.peers.ofRecord(words, at) !== peer) continue;
      if (words[at + R_MODE] === PacketKind.RTS) this.broken.add((at / recordWords) as RecordId);
    }
  }
}

lives({ Envelopes });
