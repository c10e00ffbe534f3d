/**
 * How a node's main thread hands connections to its ranks: shared words, because a rank that waits runs no event loop. (The
 * other way round a rank posts a message: the main thread has an event loop.) One array for each node, given to all
 * its threads; a part for each process of the node:
 *
 *   word 0   counts changes: the rank looks at nothing else until it moves
 *   word 1   descriptor of the rank's eventfd, −1 before it has one: whoever finds it asleep in `poll` writes there
 *   words 4…  for each rank of the job: descriptor, its generation (0: none yet), state of the peer, and the generation on
 *            which this rank has said that it has finished
 *
 * The descriptor belongs to the main thread. It closes a generation only after the rank has said that it uses it no more.
 */
import { writeSync } from "node:fs";

const headWords = 4;
const peerWords = 4;
const VERSION = 0;
const WAKE = 1;
const FD = 0;
const GENERATION = 1;
const STATE = 2;
const FAREWELL = 3;

/** What the main thread knows about a peer. */
export const PeerState = { ALIVE: 0, FINISHED: 1, DEAD: 2 } as const;
export type PeerState = (typeof PeerState)[keyof typeof PeerState];

export interface HandoverShape {
  /** Processes of this node; ranks of the job. */
  readonly processes: number;
  readonly ranks: number;
}

/** Goes into the workerData of every rank of the node as it is. */
export interface SharedHandover extends HandoverShape {
  readonly buffer: SharedArrayBuffer;
}

const one = new Uint8Array(new BigUint64Array([1n]).buffer);
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

  give(process: number, peer: number, fd: number, generation: number): void {
    const at = this.#peer(process, peer);
    // Two connections may follow each other before the rank looks: it must not take one's descriptor for the other's.
    Atomics.store(this.#words, at + GENERATION, 0);
    Atomics.store(this.#words, at + FD, fd);
    Atomics.store(this.#words, at + GENERATION, generation);
    this.#changed(process);
  }

  say(process: number, peer: number, state: PeerState): void {
    Atomics.store(this.#words, this.#peer(process, peer) + STATE, state);
    this.#changed(process);
  }

  farewell(process: number, peer: number): number {
    return Atomics.load(this.#words, this.#peer(process, peer) + FAREWELL);
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
  /** The descriptor of that generation; −1 when another has just taken its place: there will be a new version then. */
  fd(process: number, peer: number, generation: number): number {
    const fd = Atomics.load(this.#words, this.#peer(process, peer) + FD);
    return this.generation(process, peer) === generation ? fd : -1;
  }
  state(process: number, peer: number): PeerState {
    return Atomics.load(this.#words, this.#peer(process, peer) + STATE) as PeerState;
  }
  sayFarewell(process: number, peer: number, generation: number): void {
    Atomics.store(this.#words, this.#peer(process, peer) + FAREWELL, generation);
  }
  wakeBy(process: number, eventfd: number): void {
    Atomics.store(this.#words, process * this.#partWords + WAKE, eventfd);
  }

  // Everybody's side

  /** Ends that process's sleep in `poll`. A plain write: works in threads that never loaded a foreign-function library. */
  wake(process: number): void {
    const eventfd = Atomics.load(this.#words, process * this.#partWords + WAKE);
    if (eventfd < 0) return;
    try {
      writeSync(eventfd, one);
    } catch {
      // Its thread has just ended and closed it, or 2⁶⁴ − 2 wakes are pending: nobody sleeps there.
    }
  }
}

/** What a rank's thread posts to its node's main thread: `TcpHost.handle` takes it. */
export type TcpRequest =
  /** It has something for that peer and no connection. */
  /** … newer than this generation. */
  | { readonly kind: "tcp-connect"; readonly from: number; readonly to: number; readonly generation: number }
  /** It uses this generation now and none before it. */
  | { readonly kind: "tcp-holds"; readonly from: number; readonly to: number; readonly generation: number }
  /** The connection is closed; it does not use it any more. */
  | { readonly kind: "tcp-lost"; readonly from: number; readonly to: number; readonly generation: number }
  /** What came over this connection cannot be from us: the peer gets nothing more and is heard no more. */
  | { readonly kind: "tcp-bad-frame"; readonly from: number; readonly to: number; readonly reason: string };
