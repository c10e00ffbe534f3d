/**
 * Collectives among the neighbours of a topology (MPI 5.0 §8.6), in their blocking, non-blocking and persistent forms. Blocks
 * are in the order of the topology's neighbours; what would come from PROC_NULL, beyond the edge of a grid, stays as it
 * was in `into`, zero in a new array.
 */
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import type { BufferLike, TypedArray } from "./buffers.ts";
import { type AlltoallVInto, type Into, layoutsOf, type Parts, type VInto } from "./collectives.ts";
import type { Environment } from "./environment.ts";
import { PersistentCollectives } from "./persistent-collectives.ts";
import type { PersistentRequest, Request } from "./request.ts";
import { StartNeighbor } from "./start-neighbor.ts";

export abstract class NeighborCollectives extends PersistentCollectives {
  readonly #start: StartNeighbor;

  constructor(environment: Environment, core: CoreCommunicator) {
    super(environment, core);
    this.#start = new StartNeighbor(environment, this);
  }

  /** The elements go to every destination; the result has those of every source. */
  neighborAllgather<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): T {
    return this.run("neighborAllgather", () => this.#start.allgather(data, into));
  }

  neighborAllgatherv<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): T {
    return this.run("neighborAllgatherv", () => this.#start.allgatherv(data, options, options.into));
  }

  /** Part i of the elements goes to destination i; part i of the result comes from source i. */
  neighborAlltoall<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): T {
    return this.run("neighborAlltoall", () => this.#start.alltoall(data, into));
  }

  neighborAlltoallv<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): T {
    return this.run("neighborAlltoallv", () => this.#start.alltoallv(data, layoutsOf(options), options.into));
  }

  neighborAlltoallw<P extends Parts>(parts: Parts, { into }: { readonly into: P }): P {
    return this.run("neighborAlltoallw", () => this.#start.alltoallw(parts, into));
  }

  ineighborAllgather<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): Request<T> {
    return this.requestOf(this.#start.allgather(data, into));
  }

  ineighborAllgatherv<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): Request<T> {
    return this.requestOf(this.#start.allgatherv(data, options, options.into));
  }

  ineighborAlltoall<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): Request<T> {
    return this.requestOf(this.#start.alltoall(data, into));
  }

  ineighborAlltoallv<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): Request<T> {
    return this.requestOf(this.#start.alltoallv(data, layoutsOf(options), options.into));
  }

  ineighborAlltoallw<P extends Parts>(parts: Parts, { into }: { readonly into: P }): Request<P> {
    return this.requestOf(this.#start.alltoallw(parts, into));
  }

  neighborAllgatherInit<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.#start.allgather(data, into, tag));
  }

  neighborAllgathervInit<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): PersistentRequest<T> {
    return this.persistent((tag) => this.#start.allgatherv(data, options, options.into, tag));
  }

  neighborAlltoallInit<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.persistent((tag) => this.#start.alltoall(data, into, tag));
  }

  neighborAlltoallvInit<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): PersistentRequest<T> {
    return this.persistent((tag) => this.#start.alltoallv(data, layoutsOf(options), options.into, tag));
  }

  neighborAlltoallwInit<P extends Parts>(parts: Parts, { into }: { readonly into: P }): PersistentRequest<P> {
    return this.persistent((tag) => this.#start.alltoallw(parts, into, tag));
  }
}
