/**
 * Pairwise reduce-scatter: every rank gets its own segment from all ranks and folds the p parts in memory by the canonical
 * tree. (1 − 1/p)·n bytes sent for any p, the least possible, in p − 1 messages; exchanges and rounds as in
 * `alltoallv-pairwise.ts`. Better than halving for long vectors when p is no power of two.
 */

import { embed } from "../engine/compose.ts";
import { foldParts } from "../engine/reduction-order.ts";
import { copy, equalBlocks, packed, Rounds, reduce, region } from "../engine/rounds.ts";
import type { Schedule, Step } from "../engine/schedule.ts";
import { alltoallvPairwise } from "./alltoallv-pairwise.ts";
import type { ReduceScatter } from "./reduce-scatter-halving.ts";

export function reduceScatterPairwise({ rank, size, segments, inPlace = false }: ReduceScatter): Schedule {
  const bytes = segments[rank]!;
  const result = region("receive", 0, bytes);
  const input = { buffer: inPlace ? "receive" : "send", offset: 0 } as const;
  const exchange = alltoallvPairwise({ rank, size, sends: packed(segments), receives: equalBlocks(size, bytes) });
  const folds: Step[] = [];
  const partOf = (of: number) => region("scratch", of * bytes, bytes);
  foldParts(size, (left, right, into) => {
    const isLast = folds.length === size - 2;
    folds.push(reduce(partOf(left), partOf(right), isLast ? result : partOf(into)));
  });
  if (size === 1) folds.push(copy(partOf(0), result));
  return new Rounds()
    .follow(embed(exchange, { send: input, receive: { buffer: "scratch", offset: 0 } }).rounds)
    .add(...folds)
    .schedule(size * bytes);
}
