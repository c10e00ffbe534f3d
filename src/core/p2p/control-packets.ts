/**
 * Packets that are no messages: what parts of engines say to each other, what protocols do, and the announcements of the layer above.
 * One that finds its channel full waits in the queue of its destination, as a record, and leaves when the outbox flushes that queue.
 */
import { assert } from "../base/assert.ts";
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import type { Told } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import {
  protocolWords,
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_REPLICA,
  R_SENDER,
  R_SEQUENCE,
  R_TAG,
  R_USER,
  RecordKind,
  type Records,
  recordWords,
  userWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, EXTRA, KIND, PacketKind, SEQUENCE, TAG } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { headerWordsOwn } from "./announcements.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import { Gone } from "./gone.ts";
import type { OutgoingQueues } from "./outgoing-queues.ts";
import type { Peers } from "./peers.ts";
import type { Senders } from "./senders.ts";

/** Words of an announcement: as many as a record has for the layers above and protocols, which use none of them in a packet that waits. */
const announcementWords = userWords + protocolWords;

const noBytes = new Uint8Array(0);

export class ControlPackets {
  private readonly records: Records;
  private readonly transport: Transport;
  /** Images of this layout have it here. */
  protected readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly peers: Peers;
  private readonly queues: OutgoingQueues;
  private readonly senders: Senders;
  /** Payloads of packets that wait for room, by record. */
  private readonly payloads = new Map<number, Uint8Array>();

  constructor({ records, transport, memory, hooks, peers }: EnginePorts, queues: OutgoingQueues, senders: Senders) {
    this.records = records;
    this.transport = transport;
    this.memory = memory;
    this.hooks = hooks;
    this.peers = peers;
    this.queues = queues;
    this.senders = senders;
  }

  /**
   * A packet without payload; waits in its queue when the channel is full. It never waits for a send that the protocol holds
   * back: what it answers has nothing to do with that send, and may be what the protocol waits for. `sender`: `R_SENDER` of the
   * send that it is about.
   */
  control(peer: number, kind: PacketKind, a = 0, b = 0, c = 0, d = 0, sender = 0): void {
    const packet = this.newPacket(peer, kind, sender);
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = c;
    words[at + R_SEQUENCE] = d;
    this.post(peer, packet);
  }

  /** A packet of the protocol: five words, or three and a payload no longer than that of an eager message to that peer. */
  tell(peer: number, told: Told): void {
    const isPlain = told.payload === undefined && (told.from === undefined || told.from === null);
    if (!isPlain || this.queues.waiting(peer) || !this.transmitTold(peer, told)) this.postTold(peer, told);
  }

  /** A packet of our own without a payload goes straight to its channel: most do. False: there is no room. */
  private transmitTold(peer: number, { a, b, c, d, e }: Told): boolean {
    const { transport } = this;
    const process = this.peers.processOf(peer);
    const packet = transport.reserve(process, 0);
    if (packet < 0) return false;
    const { words } = transport;
    words[packet + KIND] = PacketKind.PROTOCOL;
    words[packet + CONTEXT] = a;
    words[packet + TAG] = b ?? 0;
    words[packet + BYTES] = 0;
    words[packet + SEQUENCE] = c ?? 0;
    words[packet + EXTRA] = d ?? 0;
    words[packet + EXTRA + 1] = e ?? 0;
    transport.commit(process);
    return true;
  }

  private postTold(peer: number, { a, b = 0, c = 0, d = 0, e = 0, payload = noBytes, from = null }: Told): void {
    const packet = this.newPacket(peer, PacketKind.PROTOCOL, this.senders.numberOf(from));
    const words = this.records.words;
    const at = packet * recordWords;
    words[at + R_CONTEXT] = a;
    words[at + R_TAG] = b;
    words[at + R_BYTES] = payload.length;
    words[at + R_SEQUENCE] = c;
    words[at + R_USER] = d;
    words[at + R_USER + 1] = e;
    if (payload.length !== 0) {
      assert(d === 0 && e === 0, "a packet of a protocol with a payload has three words");
      const bytesMax = this.transport.eagerBytesMax(this.peers.processOf(peer));
      assert(payload.length <= bytesMax, `a packet of a protocol has at most ${bytesMax} bytes`);
      // It may have to wait, and an image may be taken meanwhile.
      this.payloads.set(packet, payload.slice());
    }
    this.post(peer, packet);
  }

  /** A packet to the layer above of another process, unless that is gone: REVOKE, AGREEMENT or INQUIRY, with its words. */
  announce(rank: number, kind: PacketKind, said: readonly number[]): void {
    const peer = this.peers.ofRank(rank);
    if (this.peers.gone(peer) !== Gone.NO) return;
    const packet = this.newPacket(peer, kind, 0);
    const words = this.records.words;
    for (let i = 0; i < announcementWords; i++) words[packet * recordWords + R_USER + i] = said[i] ?? 0;
    this.post(peer, packet);
  }

  private newPacket(peer: number, kind: PacketKind, sender: number): RecordId {
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
  private post(peer: number, packet: RecordId): void {
    const mayGo = !this.queues.waiting(peer) || (this.hooks !== null && this.queues.onlySends(peer));
    if (mayGo && this.transmit(peer, packet)) this.give(packet);
    else if (this.hooks === null) this.queues.append(peer, packet);
    else this.queues.appendBeforeSends(peer, packet);
  }

  /** Puts a packet on its channel; false: there is no room. */
  transmit(peer: number, record: RecordId): boolean {
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
      // A payload begins where these words would be.
      if (kind === PacketKind.PROTOCOL && payload === undefined) {
        words[packet + EXTRA] = said[at + R_USER]!;
        words[packet + EXTRA + 1] = said[at + R_USER + 1]!;
      }
    }
    transport.commit(process, this.senders.of(said[at + R_SENDER]!));
    return true;
  }

  private writePayload(payload: Uint8Array): void {
    // Bytes of no program: the memory of one in C lends none.
    const { words, payload: at } = this.transport;
    new Uint8Array(words.buffer, words.byteOffset + at, payload.length).set(payload);
  }

  /** A packet has left, or never will. */
  give(packet: RecordId): void {
    if (this.payloads.size !== 0) this.payloads.delete(packet);
    this.records.give(packet);
  }
}

lives({ ControlPackets });
