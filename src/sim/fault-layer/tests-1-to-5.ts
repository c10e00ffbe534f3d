/**
 * Tests 1 to 5 of the thesis (§6.2.1) at any number of processes, in virtual time, with the layer and without: what the layer costs a program in
 * which nobody dies, and how that grows. The layer, the collectives and the messages are those that ship; only the network is simulated. Every
 * process is as far from every other as two nodes are.
 */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { Now, type Operations } from "../../core/binding/operations.ts";
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import type { BackgroundWay } from "../../core/fault-layer/background-way.ts";
import { LayeredOperations } from "../../core/fault-layer/layered-operations.ts";
import { SendMode } from "../../core/request/records.ts";
import { costModelDefault } from "../cost-model.ts";
import { exactReductions } from "../script/reductions.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World } from "../world.ts";

export const testNames = [
  "1 allreduce",
  "2 send, receive",
  "3 isend, irecv, wait",
  "4 broadcast",
  "5 allreduce, then send, receive",
] as const;

interface TestOptions {
  readonly ranks: number;
  /** From 1. */
  readonly test: number;
  readonly isLayered: boolean;
  readonly fanOut?: number;
  readonly repetitions?: number;
  /** Integers in a message; 16 unless given. */
  readonly words?: number;
  /** How the layer tells all processes something. */
  readonly background?: BackgroundWay;
}

/** Of one repetition. */
interface TestCost {
  readonly ns: number;
  /** Of all processes, those of the layer among them. */
  readonly messages: number;
}

const wordsDefault = 16;
const nowhere = 0 as Pointer;

class TestingRank {
  readonly #process: SimProcess;
  readonly #operations: Operations;
  readonly #test: number;
  readonly #bytes: number;
  readonly #at: Pointer;
  readonly #to: Pointer;

  constructor(process: SimProcess, operations: Operations, { test, words = wordsDefault }: TestOptions) {
    this.#process = process;
    this.#operations = operations;
    this.#test = test;
    this.#bytes = 4 * words;
    this.#at = process.memory.allocate(this.#bytes);
    this.#to = process.memory.allocate(this.#bytes);
  }

  *once(): Steps {
    if (this.#test === 1 || this.#test === 5) yield* this.#end(this.#allreduce());
    if (this.#test === 2 || this.#test === 3 || this.#test === 5) yield* this.#pair();
    if (this.#test === 4) yield* this.#end(this.#broadcast());
  }

  *#end(request: RecordId): Steps {
    const operations = this.#operations;
    yield this.#process.until("an operation", () => operations.isComplete(request));
    operations.end(request);
  }

  #allreduce(): RecordId {
    const { world } = this.#process.core;
    const call = { bytes: this.#bytes, form: "blocking" } as const;
    return this.#operations.startReduction(world, "allreduce", this.#at, this.#to, call, exactReductions.sum);
  }

  #broadcast(): RecordId {
    const call = { bytes: this.#bytes, root: 0, form: "blocking" } as const;
    return this.#operations.startEqual(this.#process.core.world, "bcast", nowhere, this.#at, call);
  }

  /** The first half sends to the second. Blocking and non-blocking messages differ in nothing when each is waited for at once. */
  *#pair(): Steps {
    const { world } = this.#process.core;
    const half = world.size >> 1;
    const { rank } = world;
    const bytes = this.#bytes;
    if (rank < half) {
      yield* this.#end(this.#operations.startSend(world, this.#at, bytes, rank + half, 1, SendMode.STANDARD));
    } else if (rank < 2 * half) {
      yield* this.#end(this.#operations.startReceive(world, this.#to, bytes, rank - half, 1));
    }
  }
}

function operationsOf(process: SimProcess, { isLayered, fanOut = 2, background = "tree" }: TestOptions): Operations {
  const { core } = process;
  const refuse = (): never => {
    throw new Error("An operation of a simulated program waits");
  };
  const base = new ProcessOperations({
    process: core,
    wait: refuse,
    waitUntil: refuse,
    receiveNow: () => Now.MUST_POST,
    look: () => void core.progress(),
  });
  return isLayered ? new LayeredOperations(base, core, { fanOut, background }) : base;
}

/**
 * From the start to the moment when the last process is through, over the number of repetitions. The program stops there: its end would be half of the
 * work of a large world.
 */
export function runTest({ repetitions = repetitionsDescribed, ...options }: TestOptions): TestCost {
  const { ranks } = options;
  const latencyInsideNs = costModelDefault.latencyBetweenNs;
  const kibibyteInsideNs = costModelDefault.kibibyteBetweenNs;
  const world = new World({ ranks, cost: { latencyInsideNs, kibibyteInsideNs, jitterNs: 0 } });
  let ns = 0;
  world.startAll(function* (process): Steps {
    const rank = new TestingRank(process, operationsOf(process, options), options);
    for (let i = 0; i < repetitions; i++) yield* rank.once();
    ns = world.nowNs;
  });
  const stuck = world.run();
  if (stuck.length > 0) throw new Error(`rank ${stuck[0]!.rank} waits for ${stuck[0]!.waitsFor}`);
  return { ns: ns / repetitions, messages: world.network.messagesSent / repetitions };
}

/** In the same number everywhere: without the layer several messages are under way at once, and the time of one depends on how many there are. */
const repetitionsDescribed = 2;
/** From this number of processes on each side of a test takes a second and more; of the largest worlds, half a minute. */
const manyRanks = 4_000;

/** A line for each test, as soon as it is known. `progress` hears what is under way, where that takes a while. */
export function* describeTests(ranks: number, progress: (text: string) => void): Generator<string> {
  yield `${ranks} processes, 64 bytes, virtual time of one repetition`;
  for (const [index, name] of testNames.entries()) {
    const [plain, layered] = [false, true].map((isLayered) => {
      if (ranks >= manyRanks) progress(`test ${name}, ${isLayered ? "with" : "without"} the layer`);
      return runTest({ ranks, isLayered, repetitions: repetitionsDescribed, test: index + 1 });
    });
    const times = `${microseconds(plain!.ns)} without, ${microseconds(layered!.ns)} with the layer`;
    const each = (cost: TestCost): string => (cost.messages / ranks).toFixed(2);
    yield `test ${name}: ${times}, ${(layered!.ns / plain!.ns).toFixed(2)} ×; messages a process ${each(plain!)}, ${each(layered!)}`;
  }
}

const microseconds = (ns: number): string => `${(ns / 1000).toFixed(1)} µs`;
