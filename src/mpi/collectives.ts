/**
 * Blocking collectives, as methods of a communicator: MPI 5.0 chapter 6.
 *
 * Typed arrays, and arrays with a datatype, travel as bytes; the result is a new array of the same kind unless `into` says
 * where it shall go. Anything else is an object and travels by structured clone. `mpi.IN_PLACE` in the place of what is sent
 * means that it is in `into` already. On an inter-communicator the root says `mpi.ROOT`, the rest of its group
 * `mpi.PROC_NULL`, the other group the root's rank.
 */
import { MpiError } from "../core/base/mpi-error.ts";
import { onBoard } from "../core/process/collectives.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { BoardPath } from "./board-path.ts";
import { type BufferLike, isTypedArray, type TypedArray } from "./buffers.ts";
import type { Environment } from "./environment.ts";
import type { OpLike } from "./operations.ts";
import { PointToPoint } from "./point-to-point.ts";
import { errorOf, type Started } from "./request.ts";
import type { InPlace, Layout } from "./sides.ts";
import type { BothLayouts, Sent } from "./start-movement.ts";
import { StartReduction } from "./start-reduction.ts";
import { StartValues } from "./start-values.ts";
import { Status } from "./status.ts";

export interface Rooted {
  /** Defaults to 0. */
  readonly root?: number;
}
export interface Into<T extends TypedArray> {
  /** Where the result goes instead of a new array; it is also what the call returns. */
  readonly into?: BufferLike<T> | undefined;
}
export interface RootedInto<T extends TypedArray> extends Rooted, Into<T> {}
export interface ScatterInto<T extends TypedArray> extends Rooted {
  readonly into: Sent<T>;
}
/** Counts of a v form in elements, one for each rank; displacements default to one block behind the other. */
export interface VInto<T extends TypedArray> extends Layout, Into<T> {}
export interface RootedVInto<T extends TypedArray> extends Rooted, Into<T>, Partial<Layout> {}
export interface ScatterVInto<T extends TypedArray> extends ScatterInto<T>, Partial<Layout> {}
export interface AlltoallVInto<T extends TypedArray> extends Into<T> {
  readonly sendCounts?: readonly number[] | Int32Array;
  readonly sendDisplacements?: readonly number[] | Int32Array;
  readonly recvCounts: readonly number[] | Int32Array;
  readonly recvDisplacements?: readonly number[] | Int32Array;
}
export interface CountsInto<T extends TypedArray> extends Into<T> {
  readonly counts: readonly number[] | Int32Array;
}
/** One buffer for each rank, with a datatype of its own; null where there is nothing. */
export type Parts = readonly (BufferLike | null)[];

const noOptions: RootedInto<never> = {};
/** The status of every operation that went well: nothing in it is ever changed. */
const success = new Status();

export abstract class Collectives extends PointToPoint {
  protected readonly movement: StartValues;
  protected readonly reduction: StartReduction;
  readonly #board: BoardPath;
  #isTracing = false;

  constructor(environment: Environment, core: CoreCommunicator) {
    super(environment, core);
    this.movement = new StartValues(environment, this);
    this.reduction = new StartReduction(environment, this);
    this.#board = new BoardPath(environment, core);
  }

  /** Returns when every rank has called it. */
  barrier(): void {
    if (this.host.tracer === null && this.#barrierShort()) return;
    this.#begin("barrier");
    this.#complete(this.movement.barrier(onBoard));
  }

  /** Fills the root's array into everybody's, and returns it. */
  bcast<T extends BufferLike>(data: T, options?: Rooted): T;
  /** Everybody gets a copy of the root's object; what the others pass does not matter. */
  bcast<T>(value: T | null | undefined, options?: Rooted): T;
  bcast(data: unknown, { root = 0 }: Rooted = noOptions): unknown {
    this.#begin("bcast", data, root);
    return this.#complete(this.movement.bcastValue(data, root, onBoard));
  }

  /** The root gets everybody's elements, in the order of ranks; the others get null. */
  gather<T extends TypedArray>(data: Sent<T>, options?: RootedInto<T>): T | null;
  gather<T>(value: T, options?: Rooted): T[] | null;
  gather(data: unknown, { root = 0, into }: RootedInto<TypedArray> = noOptions): unknown {
    this.#begin("gather", data, root);
    return this.#complete(this.movement.gatherValue(data, root, into, onBoard));
  }

  /** As `gather`, with as many elements of each rank as the root's `counts` say. */
  gatherv<T extends TypedArray>(data: Sent<T>, options: RootedVInto<T> = {}): T | null {
    const { root = 0, into } = options;
    this.#begin("gatherv", data, root);
    return this.#complete(this.movement.gatherv(data, root, layoutOf(options), into));
  }

  /** Everybody gets its part of the root's elements, in `into`. The root itself may leave its part where it is. */
  scatter<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): T;
  /** Everybody gets one of the root's values. */
  scatter<T>(values: readonly T[] | null | undefined, options?: Rooted): T;
  scatter(data: unknown, options: Rooted & { into?: Sent<TypedArray> | undefined } = noOptions): unknown {
    const { root = 0, into } = options;
    this.#begin("scatter", data, root);
    return this.#complete(this.movement.scatterValue(data, root, into));
  }

  /** As `scatter`, with as many elements for each rank as the root's `counts` say. */
  scatterv<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): T {
    const { root = 0, into } = options;
    this.#begin("scatterv", data, root);
    return this.#complete(this.movement.scatterv(data, root, layoutOf(options), into)) as T;
  }

  /** Everybody gets everybody's elements, in the order of ranks. */
  allgather<T extends TypedArray>(data: Sent<T>, options?: Into<T>): T;
  allgather<T>(value: T): T[];
  allgather(data: unknown, { into }: Into<TypedArray> = noOptions): unknown {
    this.#begin("allgather", data);
    return this.#complete(this.movement.allgatherValue(data, into, onBoard));
  }

  allgatherv<T extends TypedArray>(data: Sent<T>, options: VInto<T>): T {
    this.#begin("allgatherv", data);
    return this.#complete(this.movement.allgatherv(data, options, options.into));
  }

  /** Part i of the elements goes to rank i; part i of the result comes from there. */
  alltoall<T extends TypedArray>(data: Sent<T>, options?: Into<T>): T;
  alltoall<T>(values: readonly T[]): T[];
  alltoall(data: unknown, { into }: Into<TypedArray> = noOptions): unknown {
    this.#begin("alltoall", data);
    return this.#complete(this.movement.alltoallValue(data, into));
  }

  alltoallv<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): T {
    this.#begin("alltoallv", data);
    return this.#complete(this.movement.alltoallv(data, layoutsOf(options), options.into));
  }

  /** Buffer i goes to rank i; what comes from there goes to buffer i of `into`. */
  alltoallw<P extends Parts>(parts: Parts | InPlace, { into }: { readonly into: P }): P {
    this.#begin("alltoallw");
    return this.#complete(this.movement.alltoallw(parts, into)) as P;
  }

  /** The root gets the combination of everybody's elements, the others null. */
  reduce<T extends TypedArray>(data: Sent<T> | null, op: OpLike, options: RootedInto<T> = noOptions): T | null {
    const { root = 0, into } = options;
    this.#begin("reduce", data, root);
    return this.#complete(this.reduction.reduce({ data, op, into }, root, onBoard));
  }

  /** Everybody gets the combination of everybody's elements. */
  allreduce<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = noOptions): T {
    if (this.host.tracer === null && canShortcut(data)) {
      const result = this.#allreduceShort(data, op, options.into);
      if (result !== null) return result as unknown as T;
    }
    this.#begin("allreduce", data);
    return this.#complete(this.reduction.allreduce({ data, op, into: options.into }, onBoard));
  }

  /** The combination of everybody's elements is shared out: rank i gets the next `counts[i]` of them. */
  reduceScatter<T extends TypedArray>(data: Sent<T>, op: OpLike, { counts, into }: CountsInto<T>): T {
    this.#begin("reduceScatter", data);
    return this.#complete(this.reduction.reduceScatter({ data, op, into }, counts));
  }

  /** As `reduceScatter`, with as many elements for every rank. */
  reduceScatterBlock<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = noOptions): T {
    this.#begin("reduceScatterBlock", data);
    return this.#complete(this.reduction.reduceScatterBlock({ data, op, into: options.into }));
  }

  /** Rank i gets the combination of the elements of ranks 0 to i. */
  scan<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = noOptions): T {
    this.#begin("scan", data);
    return this.#complete(this.reduction.scan({ data, op, into: options.into }));
  }

  /** Rank i gets the combination of the elements of ranks 0 to i − 1; rank 0 gets null. */
  exscan<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = noOptions): T | null {
    this.#begin("exscan", data);
    return this.#complete(this.reduction.exscan({ data, op, into: options.into }));
  }

  /** False: it must go the long way. */
  #barrierShort(): boolean {
    try {
      return this.#board.barrier();
    } catch (error) {
      if (error instanceof MpiError) this.raise(error);
      throw error;
    }
  }

  /** Null: it must go the long way. */
  #allreduceShort(data: Float64Array | Int32Array, op: OpLike, into: unknown): Float64Array | Int32Array | null {
    const isDouble = data instanceof Float64Array;
    const { length } = data;
    let target: Float64Array | Int32Array;
    if (into === undefined) target = isDouble ? new Float64Array(length) : new Int32Array(length);
    else if (!canShortcut(into) || into === data || into instanceof Float64Array !== isDouble || into.length < length)
      return null;
    else target = into;
    try {
      return this.#board.allreduce(data, op, target) ? target : null;
    } catch (error) {
      if (error instanceof MpiError) this.raise(error);
      throw error;
    }
  }

  /** Starts a collective and waits for it. */
  protected run<T>(name: string, start: () => Started<T>): T {
    this.#begin(name);
    return this.#complete(start());
  }

  #begin(name: string, data?: unknown, root = -1): void {
    const { tracer } = this.host;
    if (tracer === null) return;
    tracer.begin(name, root, 0, isTypedArray(data) ? data.byteLength : 0);
    this.#isTracing = true;
  }

  #complete<T>({ record, after }: Started<T>): T {
    const { operations } = this;
    if (!operations.isComplete(record)) operations.wait(record);
    const error = operations.errorOf(record);
    operations.end(record);
    const status = error === 0 ? success : new Status(-1, -2, 0, error);
    const result = after?.finish(status);
    const mistake = after?.mistake ?? null;
    if (error !== 0 || mistake !== null) this.raise(mistake ?? this.core.takeDisagreement(error) ?? errorOf(status));
    if (this.#isTracing) this.endTrace();
    return result as T;
  }

  /** The call is over, in the trace too; also called when it has failed. */
  protected endTrace(): void {
    if (!this.#isTracing) return;
    this.#isTracing = false;
    this.host.tracer?.end();
  }
}

const canShortcut = (data: unknown): data is Float64Array | Int32Array =>
  data instanceof Float64Array || data instanceof Int32Array;

/** The layout of a v form that only the root must give. */
export function layoutOf({ counts, displacements }: Partial<Layout>): Layout | undefined {
  return counts === undefined ? undefined : { counts, displacements };
}

export function layoutsOf(options: AlltoallVInto<TypedArray>): BothLayouts {
  const { sendCounts = [], sendDisplacements, recvCounts, recvDisplacements } = options;
  return {
    sends: { counts: sendCounts, displacements: sendDisplacements },
    receives: { counts: recvCounts, displacements: recvDisplacements },
  };
}
