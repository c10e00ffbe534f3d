/**
 * Large messages between two ranks of a node are copied by both: the receiver makes a *work* (next chunk, bytes done) in
 * its own memory, asks the sender to help, and both claim chunks until none is left (node.wat, `copyJointly`). Half round
 * trips alone / together, chunks of 64 KiB (µs, two cores): 64 KiB 8 / 11, 128 KiB 11 / 8, 256 KiB 21 / 13, 1 MiB 93 / 42.
 *
 * Works are few and belong to the receiver; none free means a plain copy. A work is free again when all bytes are done, or
 * when its helper is dead: a helper killed inside a chunk never reports it, so the work never claims to be complete.
 */
import { Line, lineBytes, lineOf } from "./layout.ts";
import type { NodeMemory } from "./node-memory.ts";
import type { RankMemory } from "./rank-memory.ts";

const works = 8;

const FREE = 0;
const ACTIVE = 1;
/** Given up by the engine; free as soon as the helper is another life or dead. */
const FORGOTTEN = 2;

export class JointCopies {
  readonly #node: NodeMemory;
  readonly #memory: RankMemory;
  #first = 0;
  readonly #state = new Uint8Array(works);
  readonly #generation = new Int32Array(works);
  readonly #receive = new Int32Array(works);
  readonly #peer = new Int32Array(works);
  readonly #bytes = new Int32Array(works);
  /** The helper's line, and its status word at the start. */
  readonly #line = new Int32Array(works);
  readonly #status = new Int32Array(works);

  constructor(node: NodeMemory, memory: RankMemory) {
    this.#node = node;
    this.#memory = memory;
  }

  /** A work for that receive, or −1. `process` is the helper's index in the node, `peer` its rank. */
  start(receive: number, peer: number, process: number, bytes: number): number {
    if (this.#first === 0) this.#first = this.#memory.allocate(works * lineBytes);
    for (let work = 0; work < works; work++) {
      if (!this.#isFree(work)) continue;
      const line = lineOf(this.#node.layout, process);
      this.#state[work] = ACTIVE;
      this.#receive[work] = receive;
      this.#peer[work] = peer;
      this.#bytes[work] = bytes;
      this.#line[work] = line;
      this.#status[work] = this.#node.calls.load(line + Line.STATUS);
      this.#generation[work] = (this.#generation[work]! + 1) | 0;
      this.#node.calls.startJointly(this.addressOf(work), this.#generation[work]!);
      return work;
    }
    return -1;
  }

  addressOf(work: number): number {
    return this.#first + work * lineBytes;
  }
  generationOf(work: number): number {
    return this.#generation[work]!;
  }
  peerOf(work: number): number {
    return this.#peer[work]!;
  }

  /** The work of that receive, or −1. */
  find(receive: number): number {
    for (let work = 0; work < works; work++) {
      if (this.#state[work] === ACTIVE && this.#receive[work] === receive) return work;
    }
    return -1;
  }
  isDone(work: number): boolean {
    return this.#node.calls.load(this.addressOf(work) + 8) === this.#bytes[work];
  }
  /** All bytes are copied, or no process was asked to help. */
  end(work: number): void {
    this.#state[work] = FREE;
  }
  /** The helper may still be copying. */
  forget(work: number): void {
    this.#state[work] = FORGOTTEN;
  }

  /** That rank lives again: the help of its old life counts no more. */
  forgetPeer(peer: number): void {
    for (let work = 0; work < works; work++) {
      if (this.#state[work] === ACTIVE && this.#peer[work] === peer) this.forget(work);
    }
  }

  #isFree(work: number): boolean {
    if (this.#state[work] === FORGOTTEN) {
      return this.isDone(work) || this.#node.calls.load(this.#line[work]! + Line.STATUS) !== this.#status[work];
    }
    return this.#state[work] === FREE;
  }
}
