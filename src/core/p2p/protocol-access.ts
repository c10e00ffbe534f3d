/**
 * The engine as the fault-tolerance protocol of its process uses it: `ProtocolPorts` of core/ft has the contract of every method.
 *
 * A protocol is made while its engine is being put together, because the parts of the engine call it: until the engine is whole, a
 * protocol can use the plain fields here alone.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { Identity, ProcessName } from "../base/identity.ts";
import { lives } from "../base/saved-classes.ts";
import type { KeptMessage, Pin, Told, Went } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import { R_REPLICA, type Records, recordWords } from "../request/records.ts";
import { BYTES, PAYLOAD, PacketKind } from "../wire/packet.ts";
import type { Engine } from "./engine.ts";
import { Gone } from "./gone.ts";
import type { Pass } from "./pass.ts";

const noBytes = new Uint8Array(0);

export class ProtocolAccess {
  static readonly unsaved = { pass: null };
  private readonly engine: Engine;
  readonly rank: number;
  readonly ranks: number;
  readonly records: Records;
  readonly memory: Memory;
  readonly pass: Pass;

  constructor(engine: Engine) {
    this.engine = engine;
    this.rank = engine.rank;
    this.ranks = engine.ranks;
    this.records = engine.records;
    this.memory = engine.memory;
    this.pass = engine.pass;
  }

  transmit(message: KeptMessage, keeper: number): Went {
    return this.engine.outbox.transmit(message, keeper);
  }

  transmitNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): boolean {
    return this.engine.outbox.transmitNow(pointer, bytes, dest, tag, context, sequence);
  }

  isEager(message: KeptMessage): boolean {
    return this.engine.outbox.isEager(message);
  }

  shares(dest: number): boolean {
    const { transport, peers } = this.engine;
    return transport.shares(peers.processOf(peers.ofRank(dest)));
  }

  tell(to: ProcessName, told: Told): void {
    this.engine.outbox.packets.tell(this.peerOf(to), told);
  }

  toldBytesMax(to: ProcessName): number {
    const { transport, peers } = this.engine;
    return transport.eagerBytesMax(peers.processOf(this.peerOf(to)));
  }

  toldBytes(packet: number): Uint8Array {
    const { words } = this.engine.transport;
    const bytes = words[packet + BYTES]!;
    if (bytes === 0) return noBytes;
    // A copy in memory that is not shared.
    return new Uint8Array(new Uint8Array(words.buffer, words.byteOffset + words[packet + PAYLOAD]!, bytes));
  }

  place(name: ProcessName, process: number): void {
    this.engine.peers.place(this.peerOf(name), process);
  }

  route({ rank, replica }: ProcessName): void {
    this.engine.peers.route(rank, replica);
  }

  becomes({ rank, replica, incarnation }: Identity): void {
    const { peers, records } = this.engine;
    const before = peers.ofRank(rank);
    peers.becomes(rank, replica);
    peers.know(peers.ofRank(rank), incarnation);
    // Messages of the process to itself name it on both sides.
    const { words } = records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (peers.ofRecord(words, at) === before) words[at + R_REPLICA] = replica;
    }
  }

  complete(send: RecordId): void {
    this.engine.completion.complete(send, 0);
  }

  peerLost(name: ProcessName, incarnation: number): void {
    const { peers, outbox, envelopes, transfers, store } = this.engine;
    const peer = this.peerOf(name);
    peers.know(peer, incarnation);
    peers.setGone(peer, Gone.LOST);
    outbox.peerLost(peer);
    envelopes.peerLost(peer);
    transfers.peerLost(peer, envelopes.broken);
    store.peerLost(peer);
  }

  peerBack(name: ProcessName): void {
    this.engine.peers.setGone(this.peerOf(name), Gone.NO);
  }

  pinPosted(pinOf: (receive: RecordId) => Pin): void {
    this.engine.matching.pinPosted(pinOf);
  }

  pinWaiting(pinOf: (receive: RecordId) => Pin): void {
    this.engine.matching.pinWaiting(pinOf);
  }

  letIn(envelope: RecordId): void {
    this.engine.matching.letIn(envelope);
  }

  spoil(envelope: RecordId): void {
    this.engine.envelopes.spoil(envelope);
  }

  revoked(rank: number, context: number, bits: number): void {
    this.engine.arrivals.hear({ kind: PacketKind.REVOKE, source: rank, words: [context, bits] });
  }

  isBroken(source: number, sequence: number): boolean {
    return this.engine.envelopes.broken.has(source, sequence);
  }

  brokenFrom(source: number): number[] {
    return this.engine.envelopes.broken.from(source);
  }

  forEachOpen(visit: (source: number, sequence: number) => void): void {
    this.engine.matching.forEachOpen(visit);
  }

  incompleteFrom(source: number): number[] {
    return this.engine.matching.incompleteFrom(source);
  }

  private peerOf({ rank, replica }: ProcessName): number {
    return this.engine.peers.numberOf(rank, replica);
  }
}

lives({ ProtocolAccess });
