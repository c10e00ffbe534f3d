/**
 * Admission of processes to a running job (MPI_Comm_spawn). All processes of a wish start, or none of them does: when a
 * node cannot start its part, or falls before it has said so, the others are ended again. Pure: finding and compiling their programs,
 * and starting them, is the host's business; numbers and places are the dispatcher's.
 */
import { assert } from "../base/assert.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Placement } from "./placement.ts";

/** A rank wants processes, whose programs are there; it waits for the answer. */
interface SpawnWish<Programs> {
  readonly rank: number;
  readonly processes: number;
  /** What they run; only the host understands it. */
  readonly programs: Programs;
}

/** As `core/process/spawner.ts` tells it to the program. */
type AdmissionOutcome =
  | { readonly kind: "spawned"; readonly children: readonly number[] }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "later" };

/** Processes that are being started. */
export interface SpawnOrder<Programs> {
  readonly number: number;
  /** All of the wish, in its order. */
  readonly children: readonly number[];
  readonly programs: Programs;
}

interface SpawnAdmissionPorts<Programs> {
  readonly dispatcher: Pick<Dispatcher, "admit" | "withdraw" | "spares">;
  /** Is the job about to stand still, to go on another time? Processes that were spawned cannot. */
  isFreezing(): boolean;
  /** These have numbers from now on, and will be started. Told before the first of them is. */
  joined(children: readonly number[]): void;
  /** The node shall start these of the order. Answered by `ready`. */
  start(node: number, ranks: readonly number[], order: SpawnOrder<Programs>): void;
  /** Other processes of the same order cannot be started: the node ends the processes of the order that it has. */
  end(node: number, ranks: readonly number[]): void;
  answer(rank: number, outcome: AdmissionOutcome): void;
}

interface Start {
  readonly rank: number;
  readonly children: readonly number[];
  /** Nodes that have not said whether they could. */
  readonly nodes: Set<number>;
  /** Why the first of them could not; empty: all could so far. */
  problem: string;
}

export class SpawnAdmission<Programs> {
  readonly #placement: Placement;
  readonly #ports: SpawnAdmissionPorts<Programs>;
  readonly #starts = new Map<number, Start>();
  #orders = 0;

  /** `placement`: of each process that there can be. */
  constructor(placement: Placement, ports: SpawnAdmissionPorts<Programs>) {
    this.#placement = placement;
    this.#ports = ports;
  }

  /** Asked as late as possible, when nothing is left to do but to start them: a job that has admitted some cannot be frozen. */
  asked({ rank, processes, programs }: SpawnWish<Programs>): void {
    const { dispatcher } = this.#ports;
    if (this.#ports.isFreezing()) {
      this.#ports.answer(rank, { kind: "later" });
      return;
    }
    const children = dispatcher.admit(processes);
    if (children === undefined) {
      this.refuse(rank, `this job can start ${dispatcher.spares} more, not ${processes}`);
      return;
    }
    // A wish for nobody is granted at once: no node would answer.
    if (processes === 0) {
      this.#ports.answer(rank, { kind: "spawned", children });
      return;
    }
    const number = this.#orders++;
    const byNode = this.#byNode(children);
    this.#starts.set(number, { rank, children, nodes: new Set(byNode.keys()), problem: "" });
    this.#ports.joined(children);
    for (const [node, ranks] of byNode) this.#ports.start(node, ranks, { number, children, programs });
  }

  refuse(rank: number, why: string): void {
    this.#ports.answer(rank, { kind: "refused", why });
  }

  /** A node has started its part of an order, or cannot: `problem` is not empty. */
  ready(node: number, number: number, problem: string): void {
    const start = this.#starts.get(number);
    if (start === undefined || !start.nodes.delete(node)) return;
    start.problem ||= problem;
    if (start.nodes.size > 0) return;
    this.#starts.delete(number);
    this.#over(start);
  }

  /** Nothing will come from there any more. */
  nodeEnded(node: number): void {
    for (const number of [...this.#starts.keys()]) this.ready(node, number, `node ${node} is gone`);
  }

  #over({ rank, children, problem }: Start): void {
    if (problem === "") {
      this.#ports.answer(rank, { kind: "spawned", children });
      return;
    }
    this.#ports.dispatcher.withdraw(children);
    for (const [node, ranks] of this.#byNode(children)) this.#ports.end(node, ranks);
    this.refuse(rank, problem);
  }

  #byNode(children: readonly number[]): Map<number, number[]> {
    const byNode = new Map<number, number[]>();
    for (const child of children) {
      const node = this.#placement[child];
      assert(node !== undefined, `process ${child} has no place`);
      byNode.set(node, [...(byNode.get(node) ?? []), child]);
    }
    return byNode;
  }
}
