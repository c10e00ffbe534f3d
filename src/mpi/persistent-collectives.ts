/**
 * Persistent collectives (MPI 5.0 §6.13): made once, in the same order on all ranks, then started again and again, in any
 * order. Arrays are read when the operation is started. Without `into` every start makes a new array for its result.
 */
import type { BufferLike, TypedArray } from "./buffers.ts";
import {
  type AlltoallVInto,
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
import { NonblockingCollectives } from "./nonblocking-collectives.ts";
import type { OpLike } from "./operations.ts";
import { PersistentRequest, type Started } from "./request.ts";
import type { InPlace } from "./sides.ts";
import type { Sent } from "./start-movement.ts";

export abstract class PersistentCollectives extends NonblockingCollectives {
  protected persistent<T>(start: (tag: number) => Started<T>): PersistentRequest<T> {
    const tag = this.core.nextPersistent();
    return new PersistentRequest(this.environment, this, () => start(tag));
  }

  barrierInit(): PersistentRequest {
    return this.persistent((tag) => this.movement.barrier(tag));
  }

  bcastInit<T extends BufferLike>(data: T, { root = 0 }: Rooted = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.movement.bcast(data, root, tag));
  }

  gatherInit<T extends TypedArray>(
    data: Sent<T> | null,
    { root = 0, into }: RootedInto<T> = {},
  ): PersistentRequest<T | null> {
    return this.persistent((tag) => this.movement.gather(data, root, into, tag));
  }

  gathervInit<T extends TypedArray>(data: Sent<T> | null, options: RootedVInto<T> = {}): PersistentRequest<T | null> {
    const { root = 0, into } = options;
    return this.persistent((tag) => this.movement.gatherv(data, root, layoutOf(options), into, tag));
  }

  scatterInit<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): PersistentRequest<T> {
    const { root = 0, into } = options;
    return this.persistent((tag) => this.movement.scatter(data, root, into, tag) as Started<T>);
  }

  scattervInit<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): PersistentRequest<T> {
    const { root = 0, into } = options;
    return this.persistent((tag) => this.movement.scatterv(data, root, layoutOf(options), into, tag) as Started<T>);
  }

  allgatherInit<T extends TypedArray>(data: Sent<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.movement.allgather(data, into, tag));
  }

  allgathervInit<T extends TypedArray>(data: Sent<T>, options: VInto<T>): PersistentRequest<T> {
    return this.persistent((tag) => this.movement.allgatherv(data, options, options.into, tag));
  }

  alltoallInit<T extends TypedArray>(data: Sent<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.movement.alltoall(data, into, tag));
  }

  alltoallvInit<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): PersistentRequest<T> {
    return this.persistent((tag) => this.movement.alltoallv(data, layoutsOf(options), options.into, tag));
  }

  alltoallwInit<P extends Parts>(parts: Parts | InPlace, { into }: { readonly into: P }): PersistentRequest<P> {
    return this.persistent((tag) => this.movement.alltoallw(parts, into, tag) as Started<P>);
  }

  reduceInit<T extends TypedArray>(
    data: Sent<T> | null,
    op: OpLike,
    { root = 0, into }: RootedInto<T> = {},
  ): PersistentRequest<T | null> {
    return this.persistent((tag) => this.reduction.reduce({ data, op, into }, root, tag));
  }

  allreduceInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.reduction.allreduce({ data, op, into }, tag));
  }

  reduceScatterInit<T extends TypedArray>(
    data: Sent<T>,
    op: OpLike,
    { counts, into }: CountsInto<T>,
  ): PersistentRequest<T> {
    return this.persistent((tag) => this.reduction.reduceScatter({ data, op, into }, counts, tag));
  }

  reduceScatterBlockInit<T extends TypedArray>(
    data: Sent<T>,
    op: OpLike,
    { into }: Into<T> = {},
  ): PersistentRequest<T> {
    return this.persistent((tag) => this.reduction.reduceScatterBlock({ data, op, into }, tag));
  }

  scanInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.reduction.scan({ data, op, into }, tag));
  }

  exscanInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T | null> {
    return this.persistent((tag) => this.reduction.exscan({ data, op, into }, tag));
  }
}
