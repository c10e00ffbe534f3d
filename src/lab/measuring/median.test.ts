import assert from "node:assert/strict";
import { test } from "node:test";
import { median, medianOfMedians } from "./median.ts";

test("M8: bench takes medians, between the two in the middle when they are even", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
  assert.ok(Number.isNaN(median([])));
  // Compared as numbers, not as text: 10 comes behind 9.
  assert.equal(median([10, 9, 8]), 9);
});

test("M8: bench weighs runs alike, however many batches they have, and an outlier moves nothing", () => {
  assert.equal(medianOfMedians([[1, 1, 1, 1, 1], [2], [300, 3, 3]]), 2);
  assert.equal(medianOfMedians([[1], [1], [10_000]]), 1);
});
