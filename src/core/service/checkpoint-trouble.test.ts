import assert from "node:assert/strict";
import { test } from "node:test";
import { CheckpointTrouble } from "./checkpoint-trouble.ts";

const full = (set: number, number: number): string =>
  `Cannot write image /job/checkpoints/set-${set}/${number}/${set}.image: no space left on the device; make room`;

test("L4: a disk that stays full is reported once, whichever sets meet it and however often", () => {
  const trouble = new CheckpointTrouble();
  assert.match(
    trouble.gaveUp(0, 3, full(0, 3))!,
    /^checkpoint 3 of set 0 was given up: Cannot write image .* not reported$/,
  );
  for (let number = 4; number < 50; number++) {
    assert.equal(trouble.gaveUp(0, number, full(0, number)), null);
    assert.equal(trouble.gaveUp(1, number, full(1, number)), null);
  }
});

test("L4: another reason is reported, and so is the end of the trouble, and a disk that is full again", () => {
  const trouble = new CheckpointTrouble();
  assert.notEqual(trouble.gaveUp(0, 1, full(0, 1)), null);
  assert.notEqual(trouble.gaveUp(1, 1, "a rank made no MPI call in time"), null);
  assert.equal(trouble.committed(0), null);
  assert.equal(trouble.committed(2), null);
  assert.equal(trouble.committed(1), "checkpoints are taken again; 2 were given up");
  assert.equal(trouble.committed(1), null);
  assert.notEqual(trouble.gaveUp(0, 5, full(0, 5)), null);
  assert.equal(trouble.committed(0), null);
});
