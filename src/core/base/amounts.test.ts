import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeText } from "./amounts.ts";

test("sizes have the unit that people would choose", () => {
  assert.deepEqual([0, 999, 1_000, 9_940, 12_345, 999_600, 35_000_000, 2e12].map(sizeText), [
    "0 B",
    "999 B",
    "1.0 KB",
    "9.9 KB",
    "12 KB",
    "1.0 MB",
    "35 MB",
    "2000 GB",
  ]);
});
