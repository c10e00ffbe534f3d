/**
 * Collectives (MPI 5.0 chapter 6, §8.6), as a part of a communicator. The starts (start-movement.ts and its neighbours) are the
 * same for the three forms of each collective; here is what the forms do with an operation that has been started: wait for it,
 * make a request of it, start it again and again.
 */
import { BoardPath } from "./board-path.ts";
import { type BufferLike, isTypedArray, type TypedArray } from "./buffers.ts";
import type { PartLayout } from "./collective-sides.ts";
import type { Environment } from "./environment.ts";
import type { Tracer } from "./host.ts";
import type { OpLike } from "./operations.ts";
import { type Owner, refuse } from "./owner.ts";
import { errorOf, PersistentRequest, Request, type Started } from "./request.ts";
import type { BothLayouts, Sent } from "./start-movement.ts";
import { StartObjects } from "./start-objects.ts";
import { StartReduction } from "./start-reduction.ts";
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
export interface VInto<T extends TypedArray> extends PartLayout, Into<T> {}
export interface RootedVInto<T extends TypedArray> extends Rooted, Into<T>, Partial<PartLayout> {}
export interface ScatterVInto<T extends TypedArray> extends ScatterInto<T>, Partial<PartLayout> {}
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
export type ArrayParts = readonly (BufferLike | null)[];

/** The status of every operation that went well: nothing in it is ever changed. */
const success = new Status();

export class ArrayCollectives {
  readonly movement: StartObjects;
  readonly reduction: StartReduction;
  private readonly environment: Environment;
  private readonly owner: Owner;
  private readonly board: BoardPath;
  private readonly tracer: Tracer | null;
  private isTracing = false;

  constructor(environment: Environment, owner: Owner) {
    this.environment = environment;
    this.owner = owner;
    this.movement = new StartObjects(environment, owner);
    this.reduction = new StartReduction(environment, owner);
    this.board = new BoardPath(environment, owner.core);
    this.tracer = environment.host.tracer;
  }

  // The three forms

  /** The blocking form; `data` and `root` are told to the trace. */
  run<T>(name: string, start: () => Started<T>, data?: unknown, root?: number): T {
    this.begin(name, data, root);
    return this.complete(start());
  }

  request<T>(started: Started<T>): Request<T> {
    return new Request(this.environment, this.owner, started);
  }

  /** All starts of a persistent collective have the same tag. */
  persistent<T>(start: (tag: number) => Started<T>): PersistentRequest<T> {
    const tag = this.owner.core.nextPersistent();
    return new PersistentRequest(this.environment, this.owner, () => start(tag));
  }

  // The two that programs call in their innermost loops

  barrier(): void {
    if (this.tracer === null && this.barrierShort()) return;
    this.begin("barrier");
    this.complete(this.movement.barrier("blocking"));
  }

  allreduce<T extends TypedArray>(data: Sent<T>, op: OpLike, into: BufferLike<T> | undefined): T {
    if (this.tracer === null && canShortcut(data)) {
      const result = this.allreduceShort(data, op, into);
      if (result !== null) return result as unknown as T;
    }
    this.begin("allreduce", data);
    return this.complete(this.reduction.allreduce({ data, op, into }, "blocking"));
  }

  /** False: it must go the long way. */
  private barrierShort(): boolean {
    try {
      return this.board.barrier();
    } catch (error) {
      return refuse(this.owner, error);
    }
  }

  /** Null: it must go the long way. */
  private allreduceShort(data: Float64Array | Int32Array, op: OpLike, into: unknown): Float64Array | Int32Array | null {
    const isDouble = data instanceof Float64Array;
    const { length } = data;
    let target: Float64Array | Int32Array;
    if (into === undefined) target = isDouble ? new Float64Array(length) : new Int32Array(length);
    else if (!canShortcut(into) || into === data || into instanceof Float64Array !== isDouble || into.length < length)
      return null;
    else target = into;
    try {
      return this.board.allreduce(data, op, target) ? target : null;
    } catch (error) {
      return refuse(this.owner, error);
    }
  }

  // Inside

  private begin(name: string, data?: unknown, root = -1): void {
    const { tracer } = this;
    if (tracer === null) return;
    tracer.begin(name, root, 0, isTypedArray(data) ? data.byteLength : 0);
    this.isTracing = true;
  }

  private complete<T>({ record, after }: Started<T>): T {
    const { operations } = this.environment;
    if (!operations.isComplete(record)) operations.wait(record);
    const error = operations.errorOf(record);
    operations.end(record);
    const status = error === 0 ? success : new Status(-1, -2, 0, error);
    const result = after?.finish(status);
    const mistake = after?.mistake ?? null;
    if (error !== 0 || mistake !== null) {
      this.owner.raise(mistake ?? this.owner.core.takeDisagreement(error) ?? errorOf(status));
    }
    this.endTrace();
    return result as T;
  }

  /** The call is over, in the trace too; also called when it has failed. */
  endTrace(): void {
    if (!this.isTracing) return;
    this.isTracing = false;
    this.tracer?.end();
  }
}

const canShortcut = (data: unknown): data is Float64Array | Int32Array =>
  data instanceof Float64Array || data instanceof Int32Array;

/** The layout of a v form that only the root must give. */
export function partLayoutOf({ counts, displacements }: Partial<PartLayout>): PartLayout | undefined {
  return counts === undefined ? undefined : { counts, displacements };
}

export function layoutsOf(options: AlltoallVInto<TypedArray>): BothLayouts {
  const { sendCounts = [], sendDisplacements, recvCounts, recvDisplacements } = options;
  return {
    sends: { counts: sendCounts, displacements: sendDisplacements },
    receives: { counts: recvCounts, displacements: recvDisplacements },
  };
}
