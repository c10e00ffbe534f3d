import assert from "node:assert/strict";
import { test } from "node:test";
import { placedBySets, placedInBlocks, placedWithSpares, ranksOfNode } from "./placement.ts";

test("§11.8 those that may be spawned go round the nodes, behind the job's own ranks", () => {
  const universe = placedWithSpares(5, 3);
  assert.deepEqual(universe.slice(0, 5), placedInBlocks(5, 3));
  assert.deepEqual(universe.slice(5, 12), [0, 1, 2, 0, 1, 2, 0]);
  assert.equal(universe.length, 5 + 128);
});

test("§11.8 nodes with very many ranks have no places to spare", () => {
  for (const [ranks, nodes] of [
    [200, 1],
    [256, 1],
    [257, 1],
    [500, 2],
    [4096, 4],
  ] as const) {
    const universe = placedWithSpares(ranks, nodes);
    assert.ok(universe.length >= ranks);
    const largest = Math.max(...Array.from({ length: nodes }, (_, node) => ranksOfNode(universe, node).length));
    assert.ok(largest <= Math.max(256, Math.ceil(ranks / nodes)), `${ranks} ranks on ${nodes} nodes: ${largest}`);
  }
});

test("L3 sets are placed whole: in blocks where these divide none, otherwise where most of them would be", () => {
  assert.deepEqual(placedBySets([0, 0, 1, 2], 2), [0, 0, 1, 1]);
  assert.deepEqual(placedBySets([0, 1, 0, 1], 2), [0, 1, 0, 1]);
  assert.deepEqual(placedBySets([0, 1, 1, 2, 3, 3], 2), [0, 0, 0, 1, 1, 1]);
  assert.deepEqual(placedBySets([0, 1, 2, 2, 3, 3], 2), [0, 1, 0, 0, 1, 1]);
});

test("L3 a set that no node has room for is named", () => {
  assert.deepEqual(placedBySets([0, 1, 1, 1], 2), { tooLarge: 1 });
});
