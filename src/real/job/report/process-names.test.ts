import assert from "node:assert/strict";
import { test } from "node:test";
import { ProcessNames } from "./process-names.ts";

test("M6 names of spawned processes: their world's number, and their rank in it", () => {
  const names = new ProcessNames();
  names.addWorld([4, 5]);
  names.addWorld([6]);
  assert.equal(names.worlds, 2);
  assert.deepEqual(
    [0, 3, 4, 5, 6].map((process) => names.shortNameOf(process)),
    ["0", "3", "1:0", "1:1", "2:0"],
  );
  assert.equal(names.nameOf(3), "rank 3");
  assert.equal(names.nameOf(6), "spawned rank 2:0");
  assert.equal(names.listOf([2]), "rank 2");
  assert.equal(names.listOf([0, 1, 2, 3]), "ranks 0 to 3");
  assert.equal(names.listOf([2, 3, 5, 6]), "ranks 2 to 3, spawned rank 1:1, spawned rank 2:0");
});
