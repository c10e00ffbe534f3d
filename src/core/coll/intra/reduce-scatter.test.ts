import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, sum } from "../engine/rounds.ts";
import type { Schedule } from "../engine/schedule.ts";
import type { Message } from "../testing/collective-world.ts";
import { roundsMax, sentBy } from "../testing/cost.ts";
import { ranksOf, reductions, sizes } from "../testing/data.ts";
import { always, never, runReduction } from "../testing/reduce.ts";
import { type ReduceScatter, reduceScatterHalving } from "./reduce-scatter-halving.ts";
import { reduceScatterPairwise } from "./reduce-scatter-pairwise.ts";

type Build = (call: ReduceScatter) => Schedule;

function reduceScatter(build: Build, counts: readonly number[], which: number, inPlace: () => boolean): Message[] {
  const size = counts.length;
  const reduction = reductions[which]!;
  const segments = counts.map((count) => count * reduction.elementBytes);
  const { offsets } = packed(segments);
  return runReduction({
    size,
    elements: sum(counts),
    reduction,
    inPlace,
    resultOf: (rank, whole) => whole.subarray(offsets[rank]!, offsets[rank]! + segments[rank]!),
    build: (rank, vector) =>
      build({ rank, size, segments, elementBytes: vector.elementBytes, inPlace: vector.inPlace }),
  });
}

/** Equal counts (reduce_scatter_block), unequal ones, all for one rank. */
function countsOf(size: number): number[][] {
  return [
    ranksOf(size).map(() => 0),
    ranksOf(size).map(() => 1),
    ranksOf(size).map(() => 3),
    ranksOf(size).map((rank) => (rank * 5 + size) % 4),
    ranksOf(size).map((rank) => (rank === size >> 1 ? 7 : 0)),
  ];
}

for (const [name, build] of [
  ["halving", reduceScatterHalving],
  ["pairwise", reduceScatterPairwise],
] as const) {
  test(`M3 reduce_scatter(_block) ${name}: everybody has its segment of the canonical bits, also in place`, () => {
    for (const size of sizes) {
      for (const [index, counts] of countsOf(size).entries()) {
        reduceScatter(build, counts, index % 2, never);
        reduceScatter(build, counts, 2, always);
      }
    }
  });
}

test("M3 reduce_scatter halving: log2 p rounds, (1 − 1/p)·n bytes sent; three rounds more for folded pairs", () => {
  for (const size of sizes) {
    const levels = Math.floor(Math.log2(size));
    const counts = ranksOf(size).map(() => 4);
    const segments = counts.map((count) => count * 8);
    const schedules = ranksOf(size).map((rank) => reduceScatterHalving({ rank, size, segments, elementBytes: 8 }));
    assert.equal(roundsMax(schedules), levels + (size === 2 ** levels ? 0 : 3));
    if (size !== 2 ** levels) continue;
    const messages = reduceScatter(reduceScatterHalving, counts, 0, never);
    for (const rank of ranksOf(size)) assert.equal(sentBy(rank, messages), (size - 1) * 32);
  }
});

test("M3 reduce_scatter pairwise: (1 − 1/p)·n bytes sent for any p", () => {
  for (const size of sizes) {
    const messages = reduceScatter(
      reduceScatterPairwise,
      ranksOf(size).map(() => 4),
      0,
      never,
    );
    for (const rank of ranksOf(size)) assert.equal(sentBy(rank, messages), (size - 1) * 32);
  }
});
