/**
 * Non-blocking collectives (MPI 5.0 §6.12): the same arguments as in collectives.ts, and a request whose `wait()` or `await`
 * gives the result. All ranks start them in the same order, among each other and among the blocking ones.
 */
import type { BufferLike, TypedArray } from "./buffers.ts";
import {
  type AlltoallVInto,
  Collectives,
  type CountsInto,
  type Into,
  layoutOf,
  layoutsOf,
  type Parts,
  type Rooted,
  type RootedInto,
  type RootedVInto,
  type ScatterInto,
  type ScatterVInto,
  type VInto,
} from "./collectives.ts";
import type { OpLike } from "./operations.ts";
import { Request, type Started } from "./request.ts";
import type { InPlace } from "./sides.ts";
import type { Sent } from "./start-movement.ts";

export abstract class NonblockingCollectives extends Collectives {
  protected requestOf<T>(started: Started<T>): Request<T> {
    return new Request(this.environment, this, started);
  }

  ibarrier(): Request {
    return this.requestOf(this.movement.barrier());
  }

  ibcast<T extends BufferLike>(data: T, options?: Rooted): Request<T>;
  ibcast<T>(value: T | null | undefined, options?: Rooted): Request<T>;
  ibcast(data: unknown, { root = 0 }: Rooted = {}): Request<unknown> {
    return this.requestOf(this.movement.bcastValue(data, root));
  }

  igather<T extends TypedArray>(data: Sent<T>, options?: RootedInto<T>): Request<T | null>;
  igather<T>(value: T, options?: Rooted): Request<T[] | null>;
  igather(data: unknown, { root = 0, into }: RootedInto<TypedArray> = {}): Request<unknown> {
    return this.requestOf(this.movement.gatherValue(data, root, into));
  }

  igatherv<T extends TypedArray>(data: Sent<T>, options: RootedVInto<T> = {}): Request<T | null> {
    return this.requestOf(this.movement.gatherv(data, options.root ?? 0, layoutOf(options), options.into));
  }

  iscatter<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): Request<T>;
  iscatter<T>(values: readonly T[] | null | undefined, options?: Rooted): Request<T>;
  iscatter(data: unknown, { root = 0, into }: Rooted & { into?: Sent<TypedArray> } = {}): Request<unknown> {
    return this.requestOf(this.movement.scatterValue(data, root, into));
  }

  iscatterv<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): Request<T> {
    const { root = 0, into } = options;
    return this.requestOf(this.movement.scatterv(data, root, layoutOf(options), into) as Started<T>);
  }

  iallgather<T extends TypedArray>(data: Sent<T>, options?: Into<T>): Request<T>;
  iallgather<T>(value: T): Request<T[]>;
  iallgather(data: unknown, { into }: Into<TypedArray> = {}): Request<unknown> {
    return this.requestOf(this.movement.allgatherValue(data, into));
  }

  iallgatherv<T extends TypedArray>(data: Sent<T>, options: VInto<T>): Request<T> {
    return this.requestOf(this.movement.allgatherv(data, options, options.into));
  }

  ialltoall<T extends TypedArray>(data: Sent<T>, options?: Into<T>): Request<T>;
  ialltoall<T>(values: readonly T[]): Request<T[]>;
  ialltoall(data: unknown, { into }: Into<TypedArray> = {}): Request<unknown> {
    return this.requestOf(this.movement.alltoallValue(data, into));
  }

  ialltoallv<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): Request<T> {
    return this.requestOf(this.movement.alltoallv(data, layoutsOf(options), options.into));
  }

  ialltoallw<P extends Parts>(parts: Parts | InPlace, { into }: { readonly into: P }): Request<P> {
    return this.requestOf(this.movement.alltoallw(parts, into) as Started<P>);
  }

  ireduce<T extends TypedArray>(
    data: Sent<T> | null,
    op: OpLike,
    { root = 0, into }: RootedInto<T> = {},
  ): Request<T | null> {
    return this.requestOf(this.reduction.reduce({ data, op, into }, root));
  }

  iallreduce<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.requestOf(this.reduction.allreduce({ data, op, into }));
  }

  ireduceScatter<T extends TypedArray>(data: Sent<T>, op: OpLike, { counts, into }: CountsInto<T>): Request<T> {
    return this.requestOf(this.reduction.reduceScatter({ data, op, into }, counts));
  }

  ireduceScatterBlock<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.requestOf(this.reduction.reduceScatterBlock({ data, op, into }));
  }

  iscan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.requestOf(this.reduction.scan({ data, op, into }));
  }

  iexscan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T | null> {
    return this.requestOf(this.reduction.exscan({ data, op, into }));
  }
}
