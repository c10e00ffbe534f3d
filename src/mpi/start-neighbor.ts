/** Starts of the collectives among the neighbours of a topology (MPI 5.0 §8.6). */
import type { Pointer } from "../core/base/brand.ts";
import { CART } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Neighbourhood } from "../core/coll/neighbor-direct.ts";
import type { NeighborCollective } from "../core/coll/plan-inter.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import { arrayOf, type BufferLike, type TypedArray } from "./buffers.ts";
import type { Started } from "./request.ts";
import { countOf, type Layout, newArrayFor, newArrayForBlocks, Side } from "./sides.ts";
import type { BothLayouts } from "./start-movement.ts";
import { Settle, Starts } from "./starts.ts";

const what = "exchange with the neighbours";

export class StartNeighbor extends Starts {
  allgather<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt(what, () => {
      const hood = this.#neighbourhood();
      const degree = hood.sources.length;
      const target = into ?? newArrayFor(this.needed(what, data), countOf(data) * degree);
      this.checkApart(what, data, target);
      const sent = Side.of(this.buffers, this.needed(what, data), true);
      const block = degree === 0 ? 0 : into === undefined ? sent.bytes : this.share(what, into, degree);
      const received = Side.of(this.buffers, target, true);
      const receives = equalBlocks(degree, block);
      return this.#start({ kind: "neighbor_allgatherv", ...hood, bytes: sent.bytes, receives }, sent, received, {
        result: arrayOf(target),
        tag,
      });
    });
  }

  allgatherv<T extends TypedArray>(
    data: BufferLike<T>,
    layout: Layout,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt(what, () => {
      const hood = this.#neighbourhood();
      this.checkCounts(what, layout.counts, hood.sources.length);
      const target = into ?? newArrayForBlocks(this.needed(what, data), layout);
      this.checkApart(what, data, target);
      const sent = Side.of(this.buffers, this.needed(what, data), true);
      const received = Side.ofBlocks(this.buffers, target, layout, true);
      const receives = received.blocks;
      return this.#start({ kind: "neighbor_allgatherv", ...hood, bytes: sent.bytes, receives }, sent, received, {
        result: arrayOf(target),
        tag,
      });
    });
  }

  alltoall<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt(what, () => {
      const hood = this.#neighbourhood();
      const [outdegree, indegree] = [hood.destinations.length, hood.sources.length];
      const out = outdegree === 0 ? 0 : this.share(what, this.needed(what, data), outdegree);
      const each = countOf(data) / Math.max(outdegree, 1);
      const target = into ?? newArrayFor(data, outdegree === 0 ? 0 : each * indegree);
      this.checkApart(what, data, target);
      const block = indegree === 0 ? 0 : this.share(what, target, indegree);
      const sent = Side.of(this.buffers, data, true);
      const received = Side.of(this.buffers, target, true);
      const [sends, receives] = [equalBlocks(outdegree, out), equalBlocks(indegree, block)];
      return this.#start({ kind: "neighbor_alltoallv", ...hood, sends, receives }, sent, received, {
        result: arrayOf(target),
        tag,
      });
    });
  }

  alltoallv<T extends TypedArray>(
    data: BufferLike<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt(what, () => {
      const hood = this.#neighbourhood();
      this.checkCounts(what, sends.counts, hood.destinations.length);
      this.checkCounts(what, receives.counts, hood.sources.length);
      const target = into ?? newArrayForBlocks(this.needed(what, data), receives);
      this.checkApart(what, data, target);
      const sent = Side.ofBlocks(this.buffers, this.needed(what, data), sends, true);
      const received = Side.ofBlocks(this.buffers, target, receives, true);
      return this.#exchange(hood, sent, received, { result: arrayOf(target), tag });
    });
  }

  alltoallw<P extends readonly (BufferLike | null)[]>(
    parts: readonly (BufferLike | null)[],
    into: P,
    tag?: number,
  ): Started<P> {
    return this.attempt(what, () => {
      const hood = this.#neighbourhood();
      this.checkCounts(what, parts, hood.destinations.length);
      this.checkCounts(what, into, hood.sources.length);
      const sent = Side.ofParts(this.buffers, parts, true);
      const received = Side.ofParts(this.buffers, into, true);
      return this.#exchange(hood, sent, received, { result: into, tag });
    });
  }

  #exchange<R>(hood: Neighbourhood, sent: Side, received: Side, rest: Rest<R>): Started<R> {
    const blocks = { sends: sent.blocks, receives: received.blocks };
    return this.#start({ kind: "neighbor_alltoallv", ...hood, ...blocks }, sent, received, rest);
  }

  #start<R>(collective: NeighborCollective, sent: Side, received: Side, { result, tag }: Rest<R>): Started<R> {
    const [from, to]: Pointer[] = [sent.pointer, received.pointer];
    const record = this.operations.startNeighbor(this.core, collective, from!, to!, tag);
    return { record, after: new Settle(sent, received, result) };
  }

  #neighbourhood(): Neighbourhood {
    const { topology, rank } = this.core;
    if (topology === null) {
      throw new MpiError(ErrorClass.TOPOLOGY, `Cannot ${what}: the communicator has no topology; make one that has`);
    }
    const { sources, destinations } = topology.neighbours(rank);
    return { rank, sources, destinations, cartesian: topology.kind === CART };
  }
}

interface Rest<R> {
  readonly result: R;
  readonly tag: number | undefined;
}
