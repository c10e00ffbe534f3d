/**
 * A rank of a simulated program under the fault-simulation layer: the calls of the program, as steps that its world can wait for. Every method
 * gives the error of its call.
 */
import type { BitFlips } from "../../core/base/bit-flips.ts";
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { type MessageOutcome, Now } from "../../core/binding/operations.ts";
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import type { FaultLayerOptions } from "../../core/fault-layer/fault-layer.ts";
import { FlippingOperations, seededFlips } from "../../core/fault-layer/flipping-operations.ts";
import { LayeredOperations } from "../../core/fault-layer/layered-operations.ts";
import { Agree } from "../../core/process/agree.ts";
import type { EqualCall, EqualKind } from "../../core/process/collective-form.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { Shrink, Split } from "../../core/process/new-communicators.ts";
import type { Task } from "../../core/process/task.ts";
import { SendMode } from "../../core/request/records.ts";
import { exactReductions } from "../script/reductions.ts";
import type { SimProcess, Steps } from "../sim-process.ts";

const nowhere = 0 as Pointer;

interface Received {
  readonly error: number;
  readonly source: number;
  readonly words: readonly number[];
}

export class LayeredRank {
  readonly process: SimProcess;
  readonly operations: LayeredOperations;
  readonly world: Communicator;
  readonly rank: number;
  /** Of the bits of its messages. */
  readonly flips: BitFlips;

  constructor(process: SimProcess, options: FaultLayerOptions, flipProbability = 0) {
    const { core } = process;
    const refuse = (): never => {
      throw new Error("An operation of a simulated program waits");
    };
    const waits = {
      process: core,
      wait: refuse,
      waitUntil: refuse,
      receiveNow: () => Now.MUST_POST,
      look: () => void core.progress(),
    };
    this.process = process;
    this.flips = seededFlips(flipProbability, 1, core.rank);
    const base = new ProcessOperations(waits);
    const flipping = new FlippingOperations(base, process.memory, this.flips);
    this.operations = new LayeredOperations(flipProbability === 0 ? base : flipping, core, options);
    this.world = core.world;
    this.rank = core.rank;
  }

  /** Waits until the request is over for the program, and gives it back. */
  *end(request: RecordId, what = "a request"): Steps<number> {
    const { operations } = this;
    yield this.process.until(`${what}, request ${request}`, () => operations.isComplete(request));
    const error = operations.errorOf(request);
    if (!operations.isStalled(request)) operations.end(request);
    return error;
  }

  *task<T extends Task>(task: T): Steps<T> {
    yield* this.end(this.operations.startTask(task), task.constructor.name);
    return task;
  }

  // Memory of the program

  put(words: readonly number[]): Pointer {
    const at = this.process.memory.allocate(4 * Math.max(1, words.length));
    this.words(at, words.length).set(words);
    return at;
  }

  words(at: Pointer, count: number): Int32Array {
    return new Int32Array(this.process.memory.bytes.buffer, at, count);
  }

  take(at: Pointer, count: number): number[] {
    const words = [...this.words(at, count)];
    this.process.memory.free(at);
    return words;
  }

  // Messages

  isend(comm: Communicator, dest: number, tag: number, at: Pointer, count: number, mode: SendMode): RecordId {
    return this.operations.startSend(comm, at, 4 * count, dest, tag, mode);
  }

  *send(
    comm: Communicator,
    dest: number,
    tag: number,
    words: readonly number[],
    mode = SendMode.STANDARD as SendMode,
  ): Steps<number> {
    const at = this.put(words);
    const error = yield* this.end(this.isend(comm, dest, tag, at, words.length, mode), `a send to ${dest}`);
    this.process.memory.free(at);
    return error;
  }

  *receive(comm: Communicator, source: number, tag: number, count: number): Steps<Received> {
    const { operations } = this;
    const at = this.put(new Array<number>(count).fill(0));
    const request = operations.startReceive(comm, at, 4 * count, source, tag);
    yield this.process.until(`a receive from ${source}`, () => operations.isComplete(request));
    const outcome: MessageOutcome = { source: ANY_SOURCE, tag: 0, bytes: 0, error: 0, cancelled: false };
    operations.readOutcome(comm, request, outcome);
    operations.end(request);
    return { error: outcome.error, source: outcome.source, words: this.take(at, count).slice(0, outcome.bytes / 4) };
  }

  // Collectives

  *barrier(comm: Communicator): Steps<number> {
    return yield* this.end(this.equal(comm, "barrier", nowhere, nowhere, { form: "blocking" }), "a barrier");
  }

  equal(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    return this.operations.startEqual(comm, kind, send, receive, call);
  }

  *broadcast(comm: Communicator, root: number, words: readonly number[]): Steps<Omit<Received, "source">> {
    const at = this.put(words);
    const call = { bytes: 4 * words.length, root, form: "blocking" } as const;
    const error = yield* this.end(this.equal(comm, "bcast", nowhere, at, call), "a broadcast");
    return { error, words: this.take(at, words.length) };
  }

  *sum(comm: Communicator, words: readonly number[]): Steps<Omit<Received, "source">> {
    const [send, receive] = [this.put(words), this.put(words)];
    const request = this.startSum(comm, send, receive, words.length);
    const error = yield* this.end(request, "an allreduce");
    this.process.memory.free(send);
    return { error, words: this.take(receive, words.length) };
  }

  startSum(comm: Communicator, send: Pointer, receive: Pointer, count: number): RecordId {
    const call = { bytes: 4 * count, form: "blocking" } as const;
    return this.operations.startReduction(comm, "allreduce", send, receive, call, exactReductions.sum);
  }

  // Communicators and repairs

  *split(comm: Communicator, color: number): Steps<Communicator | null> {
    return (yield* this.task(new Split(comm, color, comm.rank))).result;
  }

  *agree(comm: Communicator, flags: number): Steps<Agree> {
    return yield* this.task(new Agree(comm, flags));
  }

  *shrink(comm: Communicator): Steps<Communicator | null> {
    return (yield* this.task(new Shrink(comm))).result;
  }

  acknowledgeAll(comm: Communicator): void {
    this.operations.acknowledge(comm, comm.size + (comm.remote?.size ?? 0));
  }

  /** MPI_Finalize. */
  *finalize(): Steps {
    const { operations } = this;
    const request = operations.startFinalBarrier();
    yield this.process.until("the end of all", () => operations.isComplete(request));
  }

  /** Sim_FT_kill_me: nothing of the program comes after it. */
  *die(): Steps {
    const { layer } = this.operations;
    this.operations.layer.die();
    yield this.process.until("the end of all, dead", () => layer.isOver);
  }
}
