import assert from "node:assert/strict";
import { test } from "node:test";
import { combination, heightOf, reductionShape } from "../engine/reduction-order.ts";
import { bytesOf, crossing, log2Ceiling, roundsMax, sentBy } from "../testing/cost.ts";
import { memberNodesOf, ranksOf, reductions, rootsOf, sizes } from "../testing/data.ts";
import { never, type ReductionCase, runReduction } from "../testing/reduce.ts";
import { reduceRabenseifner } from "./reduce-rabenseifner.ts";
import { reduceTree } from "./reduce-tree.ts";

type Build = (
  root: number,
  rank: number,
  vector: Parameters<ReductionCase["build"]>[1],
) => ReturnType<ReductionCase["build"]>;

const reduceAt = (root: number, build: Build) => ({
  resultOf: (rank: number, whole: Uint8Array) => (rank === root ? whole : undefined),
  build: (rank: number, vector: Parameters<ReductionCase["build"]>[1]) => build(root, rank, vector),
});

test("M3 reduce tree: the root has the canonical bits, whoever it is, also in place; everybody else sends once", () => {
  for (const size of sizes) {
    const build: Build = (root, rank, vector) => reduceTree({ rank, size, root, ...vector });
    for (const root of rootsOf(size)) {
      for (const reduction of reductions) {
        const given = { size, elements: 3, reduction, ...reduceAt(root, build) };
        const messages = runReduction({ ...given, inPlace: never });
        for (const rank of ranksOf(size)) {
          assert.equal(sentBy(rank, messages), rank === root ? 0 : 3 * reduction.elementBytes);
        }
      }
      const given = { size, reduction: reductions[2]!, ...reduceAt(root, build) };
      runReduction({ ...given, elements: 1, inPlace: (rank) => rank === root });
      assert.equal(runReduction({ ...given, elements: 0, inPlace: never }).length, 0);
    }
  }
});

test("M3 reduce tree: ⌈log2 p⌉ combinations deep", () => {
  for (const size of sizes) {
    for (const root of rootsOf(size)) {
      const schedules = ranksOf(size).map((rank) => reduceTree({ rank, size, root, bytes: 8, elementBytes: 8 }));
      assert.ok(roundsMax(schedules) <= log2Ceiling(size) + 1);
    }
  }
});

/** Combinations whose halves are not together on one node. */
function spanning(size: number, nodes: readonly number[]): number {
  const shape = reductionShape(size);
  let count = 0;
  for (let height = 1; height <= heightOf(shape); height++) {
    for (let index = 0; index < 2 ** (heightOf(shape) - height); index++) {
      const { first, middle, end } = combination(shape, height, index);
      if (middle < end && new Set(nodes.slice(first, end)).size > 1) count++;
    }
  }
  return count;
}

test("M3 reduce hierarchical: canonical bits, at most one message between nodes for a combination that spans them", () => {
  for (const size of sizes) {
    for (const nodes of memberNodesOf(size)) {
      const build: Build = (root, rank, vector) => reduceTree({ rank, size, root, nodes, ...vector });
      for (const root of rootsOf(size)) {
        const given = { size, elements: 2, reduction: reductions[2]!, ...reduceAt(root, build), inPlace: never };
        const across = crossing(runReduction(given), nodes).length;
        assert.ok(across <= spanning(size, nodes), `${across} messages between the nodes ${nodes}`);
        assert.ok(across >= new Set(nodes).size - 1);
      }
    }
  }
});

test("M3 reduce hierarchical: m − 1 messages between m nodes that are subtrees", () => {
  for (const size of [8, 12, 16, 32]) {
    const nodes = ranksOf(size).map((rank) => rank >> 2);
    const build: Build = (root, rank, vector) => reduceTree({ rank, size, root, nodes, ...vector });
    for (const root of ranksOf(size)) {
      const given = { size, elements: 2, reduction: reductions[0]!, ...reduceAt(root, build), inPlace: never };
      assert.equal(crossing(runReduction(given), nodes).length, size / 4 - 1);
    }
  }
});

test("M3 reduce Rabenseifner: the root has the canonical bits, whoever it is, also in place", () => {
  for (const size of sizes) {
    const build: Build = (root, rank, vector) => reduceRabenseifner({ rank, size, root, ...vector });
    for (const root of rootsOf(size)) {
      for (const [index, elements] of [0, 1, size + 3, 2 * size].entries()) {
        const given = { size, elements, reduction: reductions[(index + root) % 3]!, ...reduceAt(root, build) };
        runReduction({ ...given, inPlace: never });
        runReduction({ ...given, reduction: reductions[2]!, inPlace: (rank) => rank === root });
      }
    }
  }
});

test("M3 reduce Rabenseifner: 2·log2 p rounds, at most 2n bytes sent by anybody", () => {
  for (const size of [2, 4, 8, 16, 32]) {
    const bytes = 8 * size;
    const build: Build = (root, rank, vector) => reduceRabenseifner({ rank, size, root, ...vector });
    const schedules = ranksOf(size).map((rank) => build(0, rank, { bytes, elementBytes: 8, inPlace: false }));
    assert.equal(roundsMax(schedules), 2 * Math.log2(size));
    const messages = runReduction({
      size,
      elements: size,
      reduction: reductions[0]!,
      ...reduceAt(0, build),
      inPlace: never,
    });
    for (const rank of ranksOf(size)) assert.ok(sentBy(rank, messages) < 2 * bytes);
    const gathered = (bytes * Math.log2(size)) / 2;
    assert.equal(bytesOf(messages), (size - 1) * bytes + gathered);
  }
});
