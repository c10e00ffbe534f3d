/**
 * How a node's main thread hands connections to its ranks: shared words, because a rank that waits runs no event loop. (The
 * other way round a rank posts a message: the main thread has an event loop.) One array for each node, given to all
 * its threads; a part for each process of the node:
 *
 *   word 0   counts changes: the rank looks at nothing else until it moves
 *   word 1   descriptor of the rank's eventfd, −1 before it has one: a thread that finds the rank asleep in `poll` writes there
 *   words 4…  for each rank of the job: descriptor, its generation (0: none yet) and the life of the peer that it leads to;
 *            the main thread's knowledge of the peer, its present life and state; life and generation of the connection on
 *            which this rank has said that it has finished
 *
 * A peer that dies may come back: connections to its new life are numbered from 1 again, so a connection's name is the life
 * and the generation together, and one name is before another if its life is, or its generation in the same life. Names
 * only grow here. A rank takes connections to the life it has heard of and leaves those to a later one where they are.
 *
 * The descriptor belongs to the main thread. It closes a connection only after the rank has said that it uses it no more.
 */
import { writeWake } from "../sockets/wake.ts";

const headWords = 4;
const peerWords = 6;
const VERSION = 0;
const WAKE = 1;
const FD = 0;
const GENERATION = 1;
const LIFE = 2;
/** `PeerState` in the low 8 bits, the peer's present life above. */
const STATE = 3;
const FAREWELL = 4;
const FAREWELL_LIFE = 5;

/** The main thread's knowledge of a peer. */
export const PeerState = { ALIVE: 0, FINISHED: 1, DEAD: 2 } as const;
export type PeerState = (typeof PeerState)[keyof typeof PeerState];

/** The name of a connection between two ranks, see above. */
export interface ConnectionName {
  /** Incarnation of the peer. */
  readonly life: number;
  readonly generation: number;
}

interface HandoverShape {
  /** Processes of this node; ranks of the job. */
  readonly processes: number;
  readonly ranks: number;
}

/** Goes into the workerData of every rank of the node as it is. */
export interface SharedHandover extends HandoverShape {
  readonly buffer: SharedArrayBuffer;
}

const partWords = (ranks: number): number => headWords + ranks * peerWords;

export function newHandover(shape: HandoverShape): SharedHandover {
  const buffer = new SharedArrayBuffer(shape.processes * partWords(shape.ranks) * 4);
  const words = new Int32Array(buffer);
  for (let process = 0; process < shape.processes; process++) words[process * partWords(shape.ranks) + WAKE] = -1;
  return { ...shape, buffer };
}

export class Handover {
  readonly #words: Int32Array;
  readonly #partWords: number;

  constructor(shared: SharedHandover) {
    this.#words = new Int32Array(shared.buffer);
    this.#partWords = partWords(shared.ranks);
  }

  #peer(process: number, peer: number): number {
    return process * this.#partWords + headWords + peer * peerWords;
  }

  // The main thread's side

  give(process: number, peer: number, fd: number, { life, generation }: ConnectionName): void {
    const at = this.#peer(process, peer);
    // Two connections may follow each other before the rank looks: it must not take one's descriptor for the other's.
    Atomics.store(this.#words, at + GENERATION, 0);
    Atomics.store(this.#words, at + FD, fd);
    Atomics.store(this.#words, at + LIFE, life);
    Atomics.store(this.#words, at + GENERATION, generation);
    this.#changed(process);
  }

  /** `life`: the present one. */
  say(process: number, peer: number, state: PeerState, life: number): void {
    Atomics.store(this.#words, this.#peer(process, peer) + STATE, state | (life << 8));
    this.#changed(process);
  }

  farewell(process: number, peer: number): ConnectionName {
    const at = this.#peer(process, peer);
    return {
      life: Atomics.load(this.#words, at + FAREWELL_LIFE),
      generation: Atomics.load(this.#words, at + FAREWELL),
    };
  }

  /** A new thread will have that process's part: connections handed to the old one are not for it. */
  clear(process: number, ranks: number): void {
    for (let peer = 0; peer < ranks; peer++) {
      const at = this.#peer(process, peer);
      for (const word of [GENERATION, FD, LIFE, FAREWELL, FAREWELL_LIFE]) Atomics.store(this.#words, at + word, 0);
    }
    this.wakeBy(process, -1);
  }

  #changed(process: number): void {
    Atomics.add(this.#words, process * this.#partWords + VERSION, 1);
  }

  // The rank's side

  version(process: number): number {
    return this.#words[process * this.#partWords + VERSION]!;
  }
  generation(process: number, peer: number): number {
    return Atomics.load(this.#words, this.#peer(process, peer) + GENERATION);
  }
  /** The life of the peer to which that connection leads. */
  life(process: number, peer: number): number {
    return Atomics.load(this.#words, this.#peer(process, peer) + LIFE);
  }
  /** The descriptor of that connection; −1 when another has just taken its place: there will be a new version then. */
  fd(process: number, peer: number, { life, generation }: ConnectionName): number {
    const fd = Atomics.load(this.#words, this.#peer(process, peer) + FD);
    // In this order: a thread that sees the generation of the next connection sees its life as well.
    return this.generation(process, peer) === generation && this.life(process, peer) === life ? fd : -1;
  }
  /** The peer's life as the main thread knows it. */
  presentLife(process: number, peer: number): number {
    return Atomics.load(this.#words, this.#peer(process, peer) + STATE) >> 8;
  }
  /** The state of that life of the peer. */
  state(process: number, peer: number, life: number): PeerState {
    const word = Atomics.load(this.#words, this.#peer(process, peer) + STATE);
    if (word >> 8 === life) return (word & 0xff) as PeerState;
    return word >> 8 > life ? PeerState.DEAD : PeerState.ALIVE;
  }
  sayFarewell(process: number, peer: number, { life, generation }: ConnectionName): void {
    const at = this.#peer(process, peer);
    Atomics.store(this.#words, at + FAREWELL_LIFE, life);
    Atomics.store(this.#words, at + FAREWELL, generation);
  }
  wakeBy(process: number, eventfd: number): void {
    Atomics.store(this.#words, process * this.#partWords + WAKE, eventfd);
  }

  // Everybody's side

  /** Ends that process's sleep in `poll`. */
  wake(process: number): void {
    const eventfd = Atomics.load(this.#words, process * this.#partWords + WAKE);
    if (eventfd >= 0) writeWake(eventfd);
  }
}

interface OfConnection extends ConnectionName {
  readonly from: number;
  readonly to: number;
}
/** The rank has something for that life of the peer, and no connection newer than this. */
interface TcpConnect extends OfConnection {
  readonly kind: "tcp-connect";
}
/** It uses this connection now, if there is one of that name, and none before it. */
interface TcpHolds extends OfConnection {
  readonly kind: "tcp-holds";
}
/** The connection is closed; it does not use it any more. */
interface TcpLost extends OfConnection {
  readonly kind: "tcp-lost";
}
/** Bytes of this connection cannot be from this job: that life of the peer gets nothing more and is heard no more. */
interface TcpBadFrame extends OfConnection {
  readonly kind: "tcp-bad-frame";
  readonly reason: string;
}
/** Requests of a rank's thread to its node's main thread: `TcpHost.handle` takes them. */
export type TcpRequest = TcpConnect | TcpHolds | TcpLost | TcpBadFrame;
