/**
 * `Transport` of a rank in a job of several nodes: the rings of its own node and TCP to the others, side by side in the same
 * memory. (In a job of one node the engine has the `RingTransport` itself.)
 *
 * A look at a ring costs nanoseconds, a look at the sockets a system call. So the ring is asked first, and the sockets
 * every time while packets come from there, every second time while they do not; neither can starve the other.
 */
import type { Sender } from "../../core/wire/packet.ts";
import type { Landing, Transport } from "../../core/wire/transport.ts";
import type { RingTransport } from "./ring-transport.ts";
import type { TcpTransport } from "./tcp/tcp-transport.ts";

/** Packets from the ring in a row before the sockets are asked. */
const ringRunMax = 64;
/** Looks at the ring in a row while spinning; the first while packets come from the sockets, the second from the ring. */
const ringLooksFew = 20;
const ringLooksMany = 200;
/** The cost of a look at the sockets, in looks at the ring: `spin` shall take as long as the ring's. */
const socketLookCost = 200;

const Holds = { NOTHING: 0, RING: 1, TCP: 2 } as const;

export class RankTransport implements Transport {
  readonly words: Int32Array;
  readonly payloadBytesMax: number;
  payload = 0;
  readonly #ring: RingTransport;
  readonly #tcp: TcpTransport;
  /** Index in our node of each rank, −1 for those elsewhere. */
  readonly #places: Int32Array;
  /** Whose packet `peek` has shown. */
  #holds: number = Holds.NOTHING;
  #packet = -1;
  #ringRun = 0;
  #skipsTcp = false;
  /** Where the last packet came from. */
  #tcpIsLively = false;

  constructor(ring: RingTransport, tcp: TcpTransport, places: Int32Array) {
    this.words = ring.words;
    this.payloadBytesMax = Math.max(ring.payloadBytesMax, tcp.payloadBytesMax);
    this.#ring = ring;
    this.#tcp = tcp;
    this.#places = places;
  }

  setLanding(landing: Landing): void {
    this.#tcp.setLanding(landing);
  }

  #to(rank: number): Transport {
    return this.#places[rank]! >= 0 ? this.#ring : this.#tcp;
  }

  eagerBytesMax(to: number): number {
    return this.#to(to).eagerBytesMax(to);
  }

  reserve(to: number, payloadBytes: number): number {
    let packet: number;
    if (this.#places[to]! >= 0) {
      packet = this.#ring.reserve(to, payloadBytes);
      this.payload = this.#ring.payload;
    } else {
      packet = this.#tcp.reserve(to, payloadBytes);
      this.payload = this.#tcp.payload;
    }
    return packet;
  }

  commit(to: number, as?: Sender): void {
    if (this.#places[to]! >= 0) this.#ring.commit(to, as);
    else this.#tcp.commit(to, as);
  }

  peek(): number {
    if (this.#holds === Holds.TCP) return this.#packet;
    // Another reader of the ring may have taken what it has shown.
    if (this.#holds === Holds.RING) this.#holds = Holds.NOTHING;
    if (this.#ringRun >= ringRunMax) {
      this.#ringRun = 0;
      const packet = this.#peekTcp();
      return packet >= 0 ? packet : this.#peekRing();
    }
    const packet = this.#peekRing();
    if (packet >= 0) return packet;
    this.#skipsTcp = !this.#skipsTcp && !this.#tcpIsLively;
    return this.#skipsTcp ? -1 : this.#peekTcp();
  }

  #peekRing(): number {
    const packet = this.#ring.peek();
    if (packet < 0) return -1;
    this.#packet = packet;
    this.#holds = Holds.RING;
    this.#ringRun++;
    this.#tcpIsLively = false;
    return packet;
  }

  #peekTcp(): number {
    const packet = this.#tcp.peek();
    if (packet < 0) return -1;
    this.#packet = packet;
    this.#holds = Holds.TCP;
    this.#ringRun = 0;
    this.#tcpIsLively = true;
    return packet;
  }

  /** Sends what waits there to be sent, and reads. True: a packet is there. */
  lookAtSockets(): boolean {
    return this.#holds === Holds.TCP || this.#peekTcp() >= 0;
  }

  release(): void {
    if (this.#holds === Holds.RING) this.#ring.release();
    else this.#tcp.release();
    this.#holds = Holds.NOTHING;
  }

  push(to: number, receive: number, from: number, offset: number, bytes: number, as?: Sender): number {
    return this.#to(to).push(to, receive, from, offset, bytes, as);
  }

  shares(peer: number): boolean {
    return this.#ring.shares(peer);
  }

  // One copy: only inside the node.

  fetch(peer: number, receive: number, send: number, to: number, peerPointer: number, bytes: number): boolean {
    return this.#ring.fetch(peer, receive, send, to, peerPointer, bytes);
  }
  fetched(receive: number): boolean {
    return this.#ring.fetched(receive);
  }
  unfetch(receive: number): void {
    this.#ring.unfetch(receive);
  }
  help(peer: number, packet: number, from: number): void {
    this.#ring.help(peer, packet, from);
  }
  put(peer: number, peerPointer: number, from: number, bytes: number): void {
    this.#ring.put(peer, peerPointer, from, bytes);
  }

  // Beyond `Transport`: for the process's waiting and news of deaths.

  /** As `RingTransport.spin`, but the sockets are looked at as well. True also while a large message is on its way in. */
  spin(looks: number): boolean {
    if (!this.#tcp.hasSockets) return this.#ring.spin(looks);
    const ringLooks = this.#tcpIsLively ? ringLooksFew : ringLooksMany;
    const reads = this.#tcp.reads;
    for (let spent = 0; spent < looks; spent += ringLooks + socketLookCost) {
      if (this.#holds !== Holds.NOTHING || this.#ring.spin(ringLooks) || this.#peekTcp() >= 0) return true;
    }
    return this.#tcp.reads !== reads;
  }

  /** The dispatcher has declared that life of a rank dead. */
  peerFailed(rank: number, incarnation?: number): void {
    if (this.#places[rank]! < 0) this.#tcp.peerFailed(rank, incarnation);
  }

  /** That rank lives again, as that incarnation; perhaps on another node than before. */
  peerReturned(rank: number, incarnation: number, place = this.#places[rank]!): void {
    const before = this.#places[rank]!;
    if (before < 0 && place >= 0) this.#tcp.peerFailed(rank);
    this.#places[rank] = place;
    if (before >= 0 || place >= 0) this.#ring.peerReturned(rank, incarnation);
    if (place < 0) this.#tcp.peerReturned(rank, incarnation);
    if (this.#holds === Holds.TCP && !this.#tcp.isShowing) this.#holds = Holds.NOTHING;
  }

  /** The process ends in order: true when it may. Until then progress is needed, and another call after it. */
  leave(): boolean {
    return this.#tcp.leave();
  }

  /** For `Waiting`: how to sleep when there are sockets. */
  get sleeper(): TcpTransport {
    return this.#tcp;
  }
}
