/**
 * The processes that this one has to do with, and what it knows of each: whether it is gone, whether it takes payloads, what waits
 * for room in its channel. State is made on first contact: a process that was never spoken with costs nothing, however
 * many there are in the job.
 *
 * A process is known here by its *peer number*. With one replica of each rank that is its rank. An image holds peer numbers, so they
 * say nothing about where a process is; what depends on that (how large an eager message to it may be) is outside the image, in a
 * table of its own, and is found again by whoever goes on from the image elsewhere.
 */
import { lives } from "../base/saved-classes.ts";
import type { Transport } from "../wire/transport.ts";
import { Gone } from "./gone.ts";
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
const newAddress: readonly number[] = [0];

export class Peers {
  static readonly unsaved = { addresses: null };
  /** Peer numbers are below this. */
  readonly limit: number;
  /** What an image holds of them. */
  readonly table = new SparseTable(newPeer);
  private readonly transport: Transport;
  private readonly addresses = new SparseTable(newAddress);
  /** Peers that are dead or lost, ever: as long as there is none nobody need look. */
  private goneEver = 0;
  private toldShut = 0;

  constructor(limit: number, transport: Transport) {
    this.limit = limit;
    this.transport = transport;
  }

  // Deaths

  gone(peer: number): number {
    if (this.goneEver === 0) return Gone.NO;
    const slot = this.table.find(peer);
    return slot < 0 ? Gone.NO : this.table.words[slot + P_GONE]!;
  }

  isDead(peer: number): boolean {
    return this.gone(peer) === Gone.DEAD;
  }

  setGone(peer: number, gone: Gone): void {
    if (gone !== Gone.NO) this.goneEver++;
    this.put(peer, P_GONE, gone);
  }

  // Eager messages

  /** Up to how many bytes a message to that peer may travel eagerly now. */
  eagerBytesMax(peer: number): number {
    const { addresses } = this;
    let slot = addresses.find(peer);
    if (slot < 0) slot = this.addAddress(peer);
    return addresses.words[slot + A_EAGER]!;
  }

  private addAddress(peer: number): number {
    this.addresses.put(peer, A_EAGER, this.eagerBytesNow(peer));
    return this.addresses.find(peer);
  }

  private eagerBytesNow(peer: number): number {
    const slot = this.table.find(peer);
    const { words } = this.table;
    if (slot >= 0 && words[slot + P_GONE] === Gone.DEAD) return -1; // nothing fits: the long way says why
    return slot >= 0 && words[slot + P_SHUT] !== 0 ? 0 : this.transport.eagerBytesMax(peer);
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

  private put(peer: number, field: number, value: number): void {
    this.table.put(peer, field, value);
    if (this.addresses.find(peer) >= 0) this.addAddress(peer);
  }
}

lives({ Peers });
