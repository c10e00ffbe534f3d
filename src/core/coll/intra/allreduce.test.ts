import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, crossing, roundsMax, sentBy } from "../testing/cost.ts";
import { memberNodesOf, ranksOf, reductions, sizes } from "../testing/data.ts";
import { always, never, type ReductionCase, runReduction } from "../testing/reduce.ts";
import { allreduceHierarchical, crossings } from "./allreduce-hierarchical.ts";
import { allreduceRabenseifner } from "./allreduce-rabenseifner.ts";
import { allreduceRecursiveDoubling } from "./allreduce-recursive-doubling.ts";
import { bcastBinomial } from "./bcast-binomial.ts";

type Vector = Parameters<ReductionCase["build"]>[1];

test("M3 allreduce recursive doubling: everybody has the canonical bits, also in place", () => {
  for (const size of sizes) {
    const build = (rank: number, vector: Vector) => allreduceRecursiveDoubling({ rank, size, ...vector });
    for (const [index, reduction] of reductions.entries()) {
      runReduction({ size, elements: 5, reduction, inPlace: never, build });
      runReduction({ size, elements: index, reduction, inPlace: never, build });
    }
    runReduction({ size, elements: 3, reduction: reductions[2]!, inPlace: always, build });
  }
});

test("M3 allreduce recursive doubling: log2 p rounds, two more for folded pairs, n bytes a round", () => {
  for (const size of sizes) {
    const build = (rank: number, vector: Vector) => allreduceRecursiveDoubling({ rank, size, ...vector });
    const levels = Math.floor(Math.log2(size));
    const extra = size === 2 ** levels ? 0 : 2;
    const schedules = ranksOf(size).map((rank) => build(rank, { bytes: 8, elementBytes: 8, inPlace: false }));
    assert.equal(roundsMax(schedules), levels + extra);
    const messages = runReduction({ size, elements: 1, reduction: reductions[0]!, inPlace: never, build });
    assert.equal(bytesOf(messages), 8 * (2 ** levels * levels + 2 * (size - 2 ** levels)));
  }
});

test("M3 allreduce Rabenseifner: everybody has the canonical bits, also in place", () => {
  for (const size of sizes) {
    const build = (rank: number, vector: Vector) => allreduceRabenseifner({ rank, size, ...vector });
    for (const reduction of reductions) runReduction({ size, elements: size + 3, reduction, inPlace: never, build });
    for (const elements of [0, 1, size - 1, size, 2 * size + 3]) {
      runReduction({ size, elements, reduction: reductions[2]!, inPlace: elements % 2 === 0 ? never : always, build });
    }
  }
});

test("M3 allreduce Rabenseifner: 2·log2 p rounds and 2·(1 − 1/p)·n bytes sent by each; three rounds more for folded pairs", () => {
  for (const size of sizes) {
    const build = (rank: number, vector: Vector) => allreduceRabenseifner({ rank, size, ...vector });
    const levels = Math.floor(Math.log2(size));
    const elements = 2 * 2 ** levels;
    const bytes = 8 * elements;
    const schedules = ranksOf(size).map((rank) => build(rank, { bytes, elementBytes: 8, inPlace: false }));
    assert.equal(roundsMax(schedules), 2 * levels + (size === 2 ** levels ? 0 : 3));
    const messages = runReduction({ size, elements, reduction: reductions[0]!, inPlace: never, build });
    const pairs = size - 2 ** levels;
    const each = 2 * bytes * (1 - 1 / 2 ** levels);
    for (const rank of ranksOf(size)) {
      if (rank >= 2 * pairs) assert.equal(sentBy(rank, messages), each);
      else assert.ok(sentBy(rank, messages) <= each + 2 * bytes);
    }
  }
});

test("M3 allreduce Rabenseifner: nodes of consecutive ranks exchange at most 2n bytes each way, however many ranks they have", () => {
  for (const perNode of [2, 4, 8, 16]) {
    const size = 2 * perNode;
    const nodes = ranksOf(size).map((rank) => Math.floor(rank / perNode));
    const build = (rank: number, vector: Vector) => allreduceRabenseifner({ rank, size, ...vector });
    const messages = runReduction({ size, elements: 64, reduction: reductions[0]!, inPlace: never, build });
    assert.equal(bytesOf(crossing(messages, nodes)), 2 * 64 * 8);
  }
});

test("M3 allreduce hierarchical: everybody has the canonical bits, also in place, on any placement", () => {
  for (const size of sizes) {
    for (const [index, nodes] of memberNodesOf(size).entries()) {
      const build = (rank: number, vector: Vector) =>
        allreduceHierarchical({ rank, size, nodes, inside: bcastBinomial, ...vector });
      runReduction({ size, elements: 3, reduction: reductions[2]!, inPlace: never, build });
      runReduction({ size, elements: index, reduction: reductions[index % 2]!, inPlace: always, build });
    }
  }
});

test("M3 allreduce hierarchical: only what the tree needs passes between nodes", () => {
  for (const size of sizes) {
    for (const nodes of memberNodesOf(size)) {
      const build = (rank: number, vector: Vector) =>
        allreduceHierarchical({ rank, size, nodes, inside: bcastBinomial, ...vector });
      const messages = runReduction({ size, elements: 1, reduction: reductions[0]!, inPlace: never, build });
      assert.equal(crossing(messages, nodes).length, crossings({ size, nodes }));
      const leaders = new Set(ranksOf(size).map((rank) => nodes.indexOf(nodes[rank]!)));
      assert.ok(crossing(messages, nodes).every(({ from, to }) => leaders.has(from) && leaders.has(to)));
    }
  }
});

test("M3 allreduce hierarchical: m·log2 m values between m nodes that are subtrees of one height", () => {
  for (const [count, perNode] of [
    [2, 4],
    [4, 4],
    [4, 8],
    [8, 4],
  ] as const) {
    const size = count * perNode;
    const nodes = ranksOf(size).map((rank) => Math.floor(rank / perNode));
    assert.equal(crossings({ size, nodes }), count * Math.log2(count));
  }
});
