/**
 * The processes that this one has to do with, and what it knows of each: whether it is gone, whether it takes payloads, what waits
 * for room in its channel. State is made on first contact: a process that was never spoken with costs nothing, however
 * many there are in the job.
 *
 * A rank is what programs know; one or more processes play it, its replicas. (rank, replica) names a process, and its *peer number*
 * is that name as one number: the rank itself where a rank has one process. Records and images hold names, so they say nothing
 * about where a process is. Which process of the transport has a name now, and which life of it, stands in a table of its own outside
 * the image; so do the limits of eager messages, which depend on it.
 */
import { lives } from "../base/saved-classes.ts";
import { R_PEER, R_REPLICA } from "../request/records.ts";
import { incarnationOf, PacketKind, replicaOf, SOURCE } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { Gone } from "./gone.ts";
import type { Pass } from "./pass.ts";
import { SparseTable } from "./sparse-table.ts";

/** Words of a peer: of `Peers.table`, behind its number. */
/** One of `Gone`. */
const P_GONE = 1;
/** 1: it has no room for payloads, and has told us to keep them (EAGER_CLOSE). */
const P_SHUT = 2;
/** 1: we have told it so. */
const P_TOLD_SHUT = 3;
/** First and last record that wait for room in its channel (outgoing-queues.ts). */
export const P_HEAD = 4;
export const P_TAIL = 5;
/** The peers with such a queue, chained. */
export const P_NEXT = 6;
export const P_PREVIOUS = 7;
const newPeer: readonly number[] = [Gone.NO, 0, 0, -1, -1, -1, -1];

/** Words of an address, behind the peer's number. */
/** Up to how many bytes a message to it may travel eagerly now: the transport's limit; 0: it is shut; −1: it is dead. */
const A_EAGER = 1;
/** The process that the transport knows it by. */
const A_PROCESS = 2;
/** Its present life, as packets have it: 16 bits. */
const A_LIFE = 3;
const newAddress: readonly number[] = [0, 0, 0];

/** No KIND word has this value. */
const noWord = -1;
const noRank = -1;

/** Ways that are known at once, a power of two: by the last bits of the rank, so that neighbours do not push each other out. */
const waysKnown = 8;

const newWay = (): Way => ({ rank: noRank, channel: 0, eagerBytesMax: 0, process: 0 });

interface PeersOptions {
  /** Ranks that there can be in the job. */
  readonly ranks: number;
  /** How many processes may play a rank. */
  readonly replicas: number;
  /** Which of them this process is. */
  readonly replica: number;
  readonly transport: Transport;
  readonly pass: Pass;
}

/** How a short message travels to a rank. All ways are forgotten with every change of the peers. */
export interface Way {
  /** −1: none. */
  rank: number;
  /** The slot of the rank in the table of channels. */
  channel: number;
  eagerBytesMax: number;
  process: number;
}

export class Peers {
  static readonly unsaved = {
    addresses: null,
    pass: null,
    hasLives: false,
    plainEager: noWord,
    ways: null,
    lastPeer: -1,
    lastAddress: -1,
  };
  readonly ranks: number;
  readonly replicas: number;
  private replica: number;
  private readonly transport: Transport;
  private readonly pass: Pass;
  /** By peer: the state that an image holds. */
  readonly table = new SparseTable(newPeer);
  /** By peer: the state that an image does not hold. */
  private readonly addresses = new SparseTable(newAddress);
  /** The last peer that was looked up, and its slot in `addresses`, where slots stay: a message asks several times in a row. */
  private lastPeer = -1;
  private lastAddress = -1;
  /** By rank, where it is not our own replica: which one gets our messages. */
  private readonly routes = new Map<number, number>();
  /** How often a peer was said to be gone; 0: there is no need to look. */
  private timesGone = 0;
  private toldShut = 0;
  private readonly ways: readonly Way[] = Array.from({ length: waysKnown }, newWay);
  /** Is a life known that is not the first? */
  private hasLives = false;
  /** The KIND word of an eager message that needs no closer look, as long as all peers are alike: replica 0 in its first life. */
  plainEager: number;

  constructor({ ranks, replicas, replica, transport, pass }: PeersOptions) {
    this.ranks = ranks;
    this.replicas = replicas;
    this.replica = replica;
    this.transport = transport;
    this.pass = pass;
    this.plainEager = replicas === 1 ? PacketKind.EAGER : noWord;
  }

  // Names

  numberOf(rank: number, replica: number): number {
    return replica * this.ranks + rank;
  }

  /** The peer of the record that begins at word `at`: the receiver of a send, the sender of an envelope or of a received message. */
  ofRecord(words: Int32Array, at: number): number {
    return words[at + R_REPLICA]! * this.ranks + words[at + R_PEER]!;
  }

  /** The peer on whose behalf a packet was sent; −1: no process can have that name. */
  ofPacket(words: Int32Array, packet: number, kind: number): number {
    const rank = words[packet + SOURCE]!;
    const replica = replicaOf(kind);
    return rank >= 0 && rank < this.ranks && replica < this.replicas ? replica * this.ranks + rank : -1;
  }

  /** The replica of that rank that gets our messages, and whose end ends what waits for the rank. */
  replicaOf(rank: number): number {
    return this.routes.size === 0 ? this.replica : (this.routes.get(rank) ?? this.replica);
  }

  /** The peer that plays that rank for us. */
  ofRank(rank: number): number {
    return this.replicaOf(rank) * this.ranks + rank;
  }

  rankOf(peer: number): number {
    return peer % this.ranks;
  }

  replicaOfPeer(peer: number): number {
    return Math.floor(peer / this.ranks);
  }

  route(rank: number, replica: number): void {
    this.routes.set(rank, replica);
    this.change();
  }

  /** This process, which has the image of another replica of its rank, is that one now. */
  becomes(rank: number, replica: number): void {
    const [before, now] = [this.ofRank(rank), this.numberOf(rank, replica)];
    this.replica = replica;
    this.change();
    if (before === now) return;
    // The one whose image it is has known it as dead.
    this.setGone(now, Gone.NO);
    const slot = this.table.find(before);
    const isShut = slot >= 0 && this.table.words[slot + P_SHUT] !== 0;
    const isTold = this.isToldShut(before);
    this.setShut(before, false);
    this.setToldShut(before, false);
    this.setShut(now, isShut);
    this.setToldShut(now, isTold);
  }

  // Addresses

  /** The slot of a peer in `addresses`. */
  private addressOf(peer: number): number {
    if (peer === this.lastPeer) return this.lastAddress;
    const slot = this.addresses.find(peer);
    this.lastAddress = slot >= 0 ? slot : this.addAddress(peer);
    this.lastPeer = peer;
    return this.lastAddress;
  }

  /** The process that the transport knows that peer by. */
  processOf(peer: number): number {
    const slot = this.addressOf(peer);
    return this.addresses.words[slot + A_PROCESS]!;
  }

  private addAddress(peer: number): number {
    this.addresses.put(peer, A_PROCESS, peer);
    this.refresh(peer);
    return this.addresses.find(peer);
  }

  /** From now on that process has the name. */
  place(peer: number, process: number): void {
    this.addressOf(peer);
    this.addresses.put(peer, A_PROCESS, process);
    this.refresh(peer);
    this.change();
  }

  /** The table outside the image is made to fit the restored one. */
  restored(): void {
    this.change();
    const { words } = this.addresses;
    this.addresses.forEach((slot) => {
      this.refresh(words[slot]!);
    });
  }

  private refresh(peer: number): void {
    this.addresses.put(peer, A_EAGER, this.eagerBytesNow(peer));
  }

  // Lives

  /** No earlier life of that peer is heard from now on. */
  know(peer: number, incarnation: number): void {
    if (((incarnation - this.lifeOf(peer)) << 16) >> 16 <= 0) return;
    this.addressOf(peer);
    this.addresses.put(peer, A_LIFE, incarnation & 0xffff);
    this.hasLives = true;
    this.plainEager = noWord;
    this.pass.close();
  }

  /** Are all peers that are heard from in their first lives, and the only ones that play their ranks? */
  get areAlike(): boolean {
    return this.plainEager !== noWord;
  }

  /**
   * Less than 0: a packet with that KIND word is of a life that is over. More: of one that this process has not been told of yet.
   * Lives that are compared are neighbours, so 16 bits that wrap are enough.
   */
  compareLife(peer: number, kind: number): number {
    return ((incarnationOf(kind) - this.lifeOf(peer)) << 16) >> 16;
  }

  private lifeOf(peer: number): number {
    if (!this.hasLives) return 0;
    const slot = this.addresses.find(peer);
    return slot < 0 ? 0 : this.addresses.words[slot + A_LIFE]!;
  }

  // Deaths

  gone(peer: number): number {
    if (this.timesGone === 0) return Gone.NO;
    const slot = this.table.find(peer);
    return slot < 0 ? Gone.NO : this.table.words[slot + P_GONE]!;
  }

  isDead(peer: number): boolean {
    return this.gone(peer) === Gone.DEAD;
  }

  /** Is the process dead that plays that rank for us? */
  hasFailed(rank: number): boolean {
    return this.isDead(this.ofRank(rank));
  }

  setGone(peer: number, gone: Gone): void {
    if (gone !== Gone.NO) this.timesGone++;
    this.put(peer, P_GONE, gone);
  }

  // Eager messages

  /** Up to how many bytes a message to that peer may travel eagerly now. */
  eagerBytesMax(peer: number): number {
    const slot = this.addressOf(peer);
    return this.addresses.words[slot + A_EAGER]!;
  }

  private eagerBytesNow(peer: number): number {
    const slot = this.table.find(peer);
    const { words } = this.table;
    if (slot >= 0 && words[slot + P_GONE] === Gone.DEAD) return -1; // nothing fits: the long way says why
    if (slot >= 0 && words[slot + P_SHUT] !== 0) return 0;
    return this.transport.eagerBytesMax(this.addresses.get(peer, A_PROCESS));
  }

  /** That peer keeps no more payloads of ours for now, or it does again. */
  setShut(peer: number, isShut: boolean): void {
    this.put(peer, P_SHUT, isShut ? 1 : 0);
  }

  /** Have we told that peer to keep its payloads? */
  isToldShut(peer: number): boolean {
    const slot = this.table.find(peer);
    return slot >= 0 && this.table.words[slot + P_TOLD_SHUT] !== 0;
  }

  setToldShut(peer: number, isTold: boolean): void {
    if (this.isToldShut(peer) === isTold) return;
    this.toldShut += isTold ? 1 : -1;
    this.put(peer, P_TOLD_SHUT, isTold ? 1 : 0);
  }

  get anyToldShut(): boolean {
    return this.toldShut !== 0;
  }

  /** All that we have told to keep their payloads. */
  allToldShut(): number[] {
    const told: number[] = [];
    const { words } = this.table;
    this.table.forEach((slot) => {
      if (words[slot + P_TOLD_SHUT] !== 0) told.push(words[slot]!);
    });
    return told;
  }

  /** The way to that rank, or one of another rank in its place. */
  wayTo(rank: number): Way {
    return this.ways[rank & (waysKnown - 1)]!;
  }

  private change(): void {
    for (const way of this.ways) way.rank = noRank;
    this.pass.closeWays();
  }

  private put(peer: number, field: number, value: number): void {
    this.table.put(peer, field, value);
    this.change();
    if (this.addresses.find(peer) >= 0) this.refresh(peer);
  }
}

lives({ Peers });
