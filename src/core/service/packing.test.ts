import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dealt, packingFor } from "./packing.ts";

test("ranks have threads of their own while there are cores, then as many threads as cores", () => {
  assert.equal(packingFor({ ranks: 2, nodes: 1, cores: 2 }), 1);
  assert.equal(packingFor({ ranks: 3, nodes: 1, cores: 2 }), 2);
  assert.equal(packingFor({ ranks: 8, nodes: 1, cores: 2 }), 4);
  assert.equal(packingFor({ ranks: 8, nodes: 4, cores: 2 }), 2);
  assert.equal(packingFor({ ranks: 8, nodes: 8, cores: 2 }), 1);
  assert.equal(packingFor({ ranks: 64, nodes: 2, cores: 16 }), 4);
});

test("each rank is in one thread, no thread has more than it may, and as few threads as possible are used", () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 12 }), (count, perThread) => {
      const ranks = Array.from({ length: count }, (_, i) => i);
      const groups = dealt(ranks, perThread);
      assert.deepEqual(
        groups.flat().sort((a, b) => a - b),
        ranks,
      );
      assert.equal(groups.length, Math.ceil(count / perThread));
      for (const group of groups) assert(group.length >= 1 && group.length <= perThread);
    }),
  );
  assert.deepEqual(dealt([0, 1, 2, 3, 4, 5, 6, 7], 4), [
    [0, 3, 4, 7],
    [1, 2, 5, 6],
  ]);
});
