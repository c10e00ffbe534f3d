/** Starts of the collectives among the neighbours of a topology (MPI 5.0 §8.6). */
import { neighbourhoodOf } from "../core/binding/checks.ts";
import { arrayOf, type BufferLike, type TypedArray } from "./buffers.ts";
import type { Started } from "./request.ts";
import { countOf, itemsOf, itemsOfBlocks, itemsOfParts, type Layout, newArrayFor, newArrayForBlocks } from "./sides.ts";
import type { BothLayouts } from "./start-movement.ts";
import { Starts } from "./starts.ts";

const what = "exchange with the neighbours";

export class StartNeighbor extends Starts {
  allgather<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt(what, () => {
      const hood = neighbourhoodOf(this.named, what);
      const degree = hood.sources.length;
      const target = into ?? newArrayFor(this.needed(what, data), countOf(data) * degree);
      this.checkApart(what, data, target);
      if (into !== undefined && degree > 0) this.share(what, into, degree);
      const sides = { from: itemsOf(this.needed(what, data)), to: itemsOf(target) };
      return this.move({ kind: "neighbor_allgatherv", hood, ...sides }, arrayOf(target), tag);
    });
  }

  allgatherv<T extends TypedArray>(
    data: BufferLike<T>,
    layout: Layout,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt(what, () => {
      const hood = neighbourhoodOf(this.named, what);
      this.checkCounts(what, layout.counts, hood.sources.length);
      const target = into ?? newArrayForBlocks(this.needed(what, data), layout);
      this.checkApart(what, data, target);
      const sides = { from: itemsOf(this.needed(what, data)), to: itemsOfBlocks(target, layout) };
      return this.move({ kind: "neighbor_allgatherv", hood, ...sides }, arrayOf(target), tag);
    });
  }

  alltoall<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt(what, () => {
      const hood = neighbourhoodOf(this.named, what);
      const [outdegree, indegree] = [hood.destinations.length, hood.sources.length];
      if (outdegree > 0) this.share(what, this.needed(what, data), outdegree);
      const each = countOf(data) / Math.max(outdegree, 1);
      const target = into ?? newArrayFor(data, outdegree === 0 ? 0 : each * indegree);
      this.checkApart(what, data, target);
      if (indegree > 0) this.share(what, target, indegree);
      const sides = { from: itemsOf(data), to: itemsOf(target) };
      return this.move({ kind: "neighbor_alltoallv", hood, ...sides }, arrayOf(target), tag);
    });
  }

  alltoallv<T extends TypedArray>(
    data: BufferLike<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt(what, () => {
      const hood = neighbourhoodOf(this.named, what);
      this.checkCounts(what, sends.counts, hood.destinations.length);
      this.checkCounts(what, receives.counts, hood.sources.length);
      const target = into ?? newArrayForBlocks(this.needed(what, data), receives);
      this.checkApart(what, data, target);
      const sides = { from: itemsOfBlocks(this.needed(what, data), sends), to: itemsOfBlocks(target, receives) };
      return this.move({ kind: "neighbor_alltoallv", hood, ...sides }, arrayOf(target), tag);
    });
  }

  alltoallw<P extends readonly (BufferLike | null)[]>(
    parts: readonly (BufferLike | null)[],
    into: P,
    tag?: number,
  ): Started<P> {
    return this.attempt(what, () => {
      const hood = neighbourhoodOf(this.named, what);
      this.checkCounts(what, parts, hood.destinations.length);
      this.checkCounts(what, into, hood.sources.length);
      const sides = { from: itemsOfParts(parts), to: itemsOfParts(into) };
      return this.move({ kind: "neighbor_alltoallv", hood, ...sides }, into, tag);
    });
  }
}
