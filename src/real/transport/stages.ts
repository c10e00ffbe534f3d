/**
 * Stages: buffers of a sending process through which large messages from ordinary arrays are pipelined, larger than a
 * slot's eager buffer because every piece costs about 0.3 µs on either side. Four of 64 KiB were best (1 MiB in 83 µs;
 * eight of 32 KiB 104, sixteen of 16 KiB 111, eight of 64 KiB 92: more memory is more lines to fetch from the other core).
 * They are blocks of the process's own heap, made at the first use, so a new life never writes into stages that somebody
 * still reads.
 *
 * A stage begins with a line whose first word is 2 × use + 1 while the piece is under way; the receiver, done with the
 * packet, exchanges it for 2 × use. The number of the use travels in the packet: when a receiver died, its stages are
 * taken back, and a later release of the old use changes nothing.
 */

import { Line, lineBytes, lineOf, RankStatus, ringOf } from "./layout.ts";
import type { NodeCalls, NodeMemory } from "./node-memory.ts";
import type { RankMemory } from "./rank-memory.ts";

const pieceBytesMin = 32 * 1024;

interface StagesOptions {
  readonly stages: number;
  readonly stageBytes: number;
}

/** The receiver's side: the packet with this payload and use has been read. */
export function releaseStage(calls: NodeCalls, payload: number, use: number): void {
  calls.exchange(payload - lineBytes, 2 * use + 1, 2 * use);
}

export class Stages {
  readonly stageBytes: number;
  readonly #count: number;
  readonly #node: NodeMemory;
  readonly #memory: RankMemory;
  #first = 0;
  #next = 0;
  readonly #use: Int32Array;
  /** Where each stage's piece went, and the receiver's status word when the piece left. */
  readonly #process: Int32Array;
  readonly #status: Int32Array;

  constructor(node: NodeMemory, memory: RankMemory, { stages, stageBytes }: StagesOptions) {
    this.stageBytes = stageBytes;
    this.#count = stages;
    this.#node = node;
    this.#memory = memory;
    this.#use = new Int32Array(stages);
    this.#process = new Int32Array(stages);
    this.#status = new Int32Array(stages);
  }

  /** A stage for a piece to that process, or −1 when all are under way. It stays free until `leaves`. */
  find(): number {
    if (this.#first === 0) this.#make();
    for (let tried = 0; tried < this.#count; tried++) {
      const stage = this.#next;
      this.#next = stage + 1 === this.#count ? 0 : stage + 1;
      if (this.#isFree(stage)) return stage;
    }
    return -1;
  }

  /** All are under way: every process that holds one is asked to wake us when it is done. */
  awaitAny(): void {
    const { calls, layout, process } = this.#node;
    for (let stage = 0; stage < this.#count; stage++) calls.awaitRoom(ringOf(layout, this.#process[stage]!), process);
  }

  /** How much of `bytes` bytes goes next: at most a stage, and not the whole message at once, or nothing overlaps. */
  pieceOf(bytes: number): number {
    return Math.min(bytes, this.stageBytes, Math.max(pieceBytesMin, bytes >> 1));
  }

  payloadOf(stage: number): number {
    return this.#first + stage * (this.stageBytes + lineBytes) + lineBytes;
  }

  /** The stage's piece is about to be committed to that process. Returns the number of the use. */
  leaves(stage: number, process: number): number {
    const use = (this.#use[stage]! + 1) & 0x3fffffff;
    const line = lineOf(this.#node.layout, process);
    this.#use[stage] = use;
    this.#process[stage] = process;
    this.#status[stage] = this.#node.words[(line + Line.STATUS) >> 2]!;
    this.#node.words[(this.payloadOf(stage) - lineBytes) >> 2] = 2 * use + 1;
    return use;
  }

  #isFree(stage: number): boolean {
    if ((this.#node.calls.load(this.payloadOf(stage) - lineBytes) & 1) === 0) return true;
    const line = lineOf(this.#node.layout, this.#process[stage]!);
    const status = this.#node.calls.load(line + Line.STATUS);
    return (
      (status & 0xff) === RankStatus.DEAD || (status & 0xff) === RankStatus.FINISHED || status !== this.#status[stage]
    );
  }

  #make(): void {
    this.#first = this.#memory.allocate(this.#count * (this.stageBytes + lineBytes));
    for (let stage = 0; stage < this.#count; stage++) {
      this.#node.words[(this.payloadOf(stage) - lineBytes) >> 2] = 0;
    }
  }
}
