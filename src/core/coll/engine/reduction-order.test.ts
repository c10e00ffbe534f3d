import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBytes, canonical, ranksOf, reductions, sizes } from "../testing/data.ts";
import { combination, foldParts, heightOf, indexAt, reductionShape } from "./reduction-order.ts";

function written(size: number): string {
  const parts = ranksOf(size).map(String);
  foldParts(size, (left, right, into) => {
    parts[into] = `(${parts[left]} ${parts[right]})`;
  });
  return parts[0]!;
}

test("M3 reduction order: the tree of the comment", () => {
  assert.equal(written(1), "0");
  assert.equal(written(2), "(0 1)");
  assert.equal(written(3), "((0 1) 2)");
  assert.equal(written(5), "(((0 1) 2) (3 4))");
  assert.equal(written(6), "(((0 1) (2 3)) (4 5))");
  assert.equal(written(8), "(((0 1) (2 3)) ((4 5) (6 7)))");
  assert.equal(written(7), "(((0 1) (2 3)) ((4 5) 6))");
});

test("M3 reduction order: folding in memory gives the definition's bits", () => {
  for (const size of sizes) {
    for (const { name, combine, contribution } of reductions) {
      const parts = ranksOf(size).map((rank) => contribution(rank, 5));
      const expected = canonical(parts, combine);
      const memory = parts.map((part) => part.slice());
      foldParts(size, (left, right, into) => combine(memory[left]!, memory[right]!, memory[into]!));
      assertBytes(memory[0], expected, `${name} of ${size}`);
    }
  }
});

test("M3 reduction order: combinations name the tree that folding follows", () => {
  for (const size of sizes) {
    const shape = reductionShape(size);
    const write = (height: number, index: number): string => {
      if (height === 0) return String(index);
      const { first, middle, end } = combination(shape, height, index);
      const child = (rank: number) => write(height - 1, indexAt(shape, height - 1, rank));
      return middle === end ? child(first) : `(${child(first)} ${child(middle)})`;
    };
    assert.equal(write(heightOf(shape), 0), written(size));
  }
});
