/** One collective of a script as one rank calls it: its buffers, what it contributes, what it gets. */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { R_ERROR } from "../core/request/records.ts";
import { contribution } from "./contents.ts";
import { exactReductions } from "./reductions.ts";
import type { CollectivePlan, ReducingKind } from "./script.ts";
import type { SimProcess } from "./sim-process.ts";

/** Words of an element: what reductions combine, or just one. */
export const wordsOf = (plan: CollectivePlan): number =>
  isReducing(plan.kind) ? exactReductions[plan.reduction].words : 1;

/** How many elements a rank gives to and gets from a collective. */
export function elementsOf(plan: CollectivePlan, rank: number, size: number): { gives: number; gets: number } {
  const { kind, count, root } = plan;
  const isRoot = rank === root;
  switch (kind) {
    case "barrier":
      return { gives: 0, gets: 0 };
    case "bcast":
      return { gives: isRoot ? count : 0, gets: count };
    case "gather":
      return { gives: count, gets: isRoot ? size * count : 0 };
    case "scatter":
      return { gives: isRoot ? size * count : 0, gets: count };
    case "allgather":
      return { gives: count, gets: size * count };
    case "alltoall":
      return { gives: size * count, gets: size * count };
    case "reduce":
      return { gives: count, gets: isRoot ? count : 0 };
    case "reduce_scatter_block":
      return { gives: size * count, gets: count };
    case "exscan":
      return { gives: count, gets: rank === 0 ? 0 : count };
    case "allreduce":
    case "scan":
      return { gives: count, gets: count };
  }
}

export function isReducing(kind: CollectivePlan["kind"]): kind is ReducingKind {
  return ["reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"].includes(kind);
}

export class CollectiveCall {
  readonly record: RecordId;
  readonly #process: SimProcess;
  readonly #send: Pointer;
  readonly #receive: Pointer;
  readonly #lent: readonly Uint8Array[] | null;
  readonly #getsWords: number;

  constructor(plan: CollectivePlan, comm: Communicator, process: SimProcess) {
    this.#process = process;
    const { memory } = process;
    const { collectives } = process.core;
    const { gives, gets } = elementsOf(plan, comm.rank, comm.size);
    const words = wordsOf(plan);
    this.#getsWords = gets * words;
    // Buffers of ranks that give or get nothing are there all the same, and must not be touched.
    const bytesOf = (elements: number): number => 4 * words * Math.max(elements, plan.count);
    const sizes = [bytesOf(gives), bytesOf(gets)];
    this.#lent = plan.lent && !isReducing(plan.kind) ? sizes.map((bytes) => new Uint8Array(bytes)) : null;
    const [send, receive] =
      this.#lent?.map((view) => memory.lend(view)) ?? sizes.map((bytes) => memory.allocate(bytes));
    this.#send = send!;
    this.#receive = receive!;
    const from = plan.kind === "bcast" ? this.#receive : this.#send;
    const given = this.#words(from, gives * words);
    for (let index = 0; index < given.length; index++) given[index] = contribution(plan, comm.rank, index);
    this.#putBack(from, given);
    const { kind, root, count } = plan;
    const call = { bytes: 4 * words * count, root };
    this.record = isReducing(kind)
      ? collectives.startReduction(comm, kind, this.#send, this.#receive, call, exactReductions[plan.reduction])
      : collectives.startEqual(comm, kind, this.#send, this.#receive, call);
  }

  /** When the request is complete: how it ended, and what the rank got. */
  end(): { error: number; words: Int32Array } {
    const { engine, memory } = this.#process;
    const error = engine.records.get(this.record, R_ERROR);
    const words = this.#words(this.#receive, this.#getsWords);
    engine.giveBack(this.record);
    for (const pointer of [this.#send, this.#receive]) {
      if (this.#lent === null) memory.free(pointer);
      else memory.giveBack(pointer);
    }
    return { error, words };
  }

  /** A copy: views of lent arrays need not be aligned. */
  #words(pointer: Pointer, count: number): Int32Array {
    return new Int32Array(this.#process.memory.view(pointer, 4 * count).slice().buffer);
  }

  #putBack(pointer: Pointer, words: Int32Array): void {
    this.#process.memory.view(pointer, 4 * words.length).set(new Uint8Array(words.buffer));
  }
}
