/**
 * The transport port of a simulated process. Where `sharesInside` is set, processes of one node read and write each other's
 * memory, so the engine's one-copy paths run here as they do in the real world, helped copies among them.
 */
import { assert } from "../core/base/assert.ts";
import type { Pointer } from "../core/base/brand.ts";
import type { Identity } from "../core/base/identity.ts";
import {
  BYTES,
  CONTEXT,
  EXTRA,
  headerWords,
  KIND,
  PacketKind,
  type Sender,
  senderOf,
  TAG,
} from "../core/wire/packet.ts";
import type { Transport } from "../core/wire/transport.ts";
import type { CostModel } from "./cost-model.ts";
import type { ProcessMemory } from "./memory.ts";
import type { Network, Packet } from "./network.ts";

interface SimTransportOptions {
  /** Number of this process: its rank, where ranks have one process each; another one when it becomes a suspect. */
  readonly rank: number;
  /** The sender named in its packets: the first life of the only replica of its rank, unless given. */
  readonly identity?: Identity;
  readonly network: Network;
  readonly memory: ProcessMemory;
  readonly cost: CostModel;
  readonly sharesInside: boolean;
  /** Eager limit of messages to a process, at most `cost.eagerBytesMax`, which is the limit unless given. */
  readonly eagerBytesMax?: ((to: number) => number) | undefined;
  /** The transport of another process of this node, for the halves of a helped copy. */
  readonly neighbour: (rank: number) => SimTransport;
  /** That process has a reason to look. */
  readonly wake: (rank: number) => void;
}

export class SimTransport implements Transport {
  readonly words: Int32Array;
  readonly payloadBytesMax: number;
  payload = 0;
  readonly #options: SimTransportOptions;
  #rank: number;
  readonly #sender: Sender;
  readonly #network: Network;
  /** Arrived packets, oldest first, from `#head` on. */
  readonly #inbox: Packet[] = [];
  #head = 0;
  #peeked = false;
  /** Copies a peer helps with, by receive request: the number of the copy, or −1 when the peer's share is done. */
  readonly #helped = new Map<number, number>();
  #copies = 0;
  /** How often each way of moving a message was taken; tests that claim to exercise one look here. */
  readonly marks = { fetch: 0, help: 0, put: 0, push: 0 };

  constructor(options: SimTransportOptions) {
    this.#options = options;
    this.#rank = options.rank;
    this.#sender = senderOf(options.identity ?? { rank: options.rank, replica: 0, incarnation: 0 });
    this.#network = options.network;
    this.words = options.memory.arena.words;
    this.payloadBytesMax = options.cost.eagerBytesMax;
  }

  /** What the network calls this process. */
  get number(): number {
    return this.#rank;
  }

  /** The process is taken for dead, and lives on with that number. */
  disowned(number: number): void {
    this.#rank = number;
  }

  get arrivedCount(): number {
    return this.#inbox.length - this.#head;
  }

  /** The network hands over a packet. */
  take(packet: Packet): void {
    this.#inbox.push(packet);
  }

  /** The process is dead: its arrived packets will not be read. */
  close(): void {
    while (this.#head < this.#inbox.length) this.#network.release(this.#inbox[this.#head++]!);
  }

  eagerBytesMax(to: number): number {
    return this.#options.eagerBytesMax?.(to) ?? this.payloadBytesMax;
  }

  reserve(to: number, payloadBytes: number): number {
    const packet = this.#network.reserve(this.#rank, to, payloadBytes);
    this.payload = (packet + headerWords) << 2;
    return packet;
  }

  commit(to: number, as = this.#sender): void {
    this.#network.commit(this.#rank, to, as);
  }

  peek(): number {
    const packet = this.#inbox[this.#head];
    if (packet === undefined) return -1;
    this.#peeked = true;
    return packet.at >> 2;
  }

  release(): void {
    assert(this.#peeked, "release without peek");
    this.#peeked = false;
    this.#network.release(this.#inbox[this.#head++]!);
    if (this.#head === this.#inbox.length) {
      this.#inbox.length = 0;
      this.#head = 0;
    } else if (this.#head === 1024) {
      this.#inbox.splice(0, this.#head);
      this.#head = 0;
    }
  }

  shares(peer: number): boolean {
    return this.#options.sharesInside && this.#network.sameNode(this.#rank, peer);
  }

  push(to: number, receive: number, from: number, offset: number, bytes: number, as = this.#sender): number {
    const piece = Math.min(bytes, this.#options.cost.pieceBytesMax);
    const packet = this.reserve(to, piece);
    if (packet < 0) return 0;
    const { words } = this;
    words[packet + KIND] = PacketKind.FRAGMENT;
    words[packet + CONTEXT] = receive;
    words[packet + TAG] = offset;
    words[packet + BYTES] = piece;
    this.#options.memory.toPayload(this.payload, from as Pointer, offset, piece);
    this.commit(to, as);
    this.marks.push++;
    return piece;
  }

  /** Copies all of it, or the first half and asks the sender for the second, when that is worth it and its channel has room. */
  fetch(peer: number, receive: number, send: number, to: number, peerPointer: number, bytes: number): boolean {
    assert(this.shares(peer), `rank ${this.#rank} copies from rank ${peer}, whose memory it does not share`);
    this.marks.fetch++;
    const { memory, cost } = this.#options;
    if (this.#network.isGone(this.#rank, peer)) {
      // The copy would not count; the news of the death ends the receive.
      this.#helped.set(receive, this.#copies++);
      return false;
    }
    const packet = bytes >= cost.helpBytesMin ? this.reserve(peer, 0) : -1;
    if (packet < 0) {
      memory.bytes.set(this.#bytesOf(peer).subarray(peerPointer, peerPointer + bytes), to);
      return true;
    }
    const half = bytes >> 1;
    memory.bytes.set(this.#bytesOf(peer).subarray(peerPointer, peerPointer + half), to);
    const copy = this.#copies++;
    const { words } = this;
    words[packet + KIND] = PacketKind.HELP;
    words[packet + CONTEXT] = send;
    words[packet + TAG] = to + half;
    words[packet + BYTES] = bytes - half;
    words[packet + EXTRA] = half;
    words[packet + EXTRA + 1] = receive;
    words[packet + EXTRA + 2] = copy;
    this.commit(peer);
    this.#helped.set(receive, copy);
    return false;
  }

  fetched(receive: number): boolean {
    if (this.#helped.get(receive) !== -1) return false;
    this.#helped.delete(receive);
    return true;
  }

  unfetch(receive: number): void {
    this.#helped.delete(receive);
  }

  help(receiver: number, packet: number, from: number): void {
    const { memory, neighbour, wake } = this.#options;
    const { words } = this;
    const source = from + words[packet + EXTRA]!;
    // Its memory is another's now.
    if (this.#network.isGone(this.#rank, receiver)) return;
    const share = memory.bytes.subarray(source, source + words[packet + BYTES]!);
    this.#bytesOf(receiver).set(share, words[packet + TAG]!);
    neighbour(receiver).#helpDone(words[packet + EXTRA + 1]!, words[packet + EXTRA + 2]!);
    this.marks.help++;
    wake(receiver);
  }

  #helpDone(receive: number, copy: number): void {
    if (this.#helped.get(receive) === copy) this.#helped.set(receive, -1);
  }

  put(peer: number, peerPointer: number, from: number, bytes: number): void {
    assert(this.shares(peer), `rank ${this.#rank} writes to rank ${peer}, whose memory it does not share`);
    this.marks.put++;
    const { memory } = this.#options;
    if (this.#network.isGone(this.#rank, peer)) return;
    this.#bytesOf(peer).set(memory.view(from as Pointer, bytes), peerPointer);
  }

  /** The memory of a process of this node, which may be ours as well. */
  #bytesOf(peer: number): Uint8Array {
    return this.#options.neighbour(peer).#options.memory.bytes;
  }
}
