import assert from "node:assert/strict";
import { test } from "node:test";
import { pageBytes } from "./kernel.ts";
import { pagesOf, rangesWithout } from "./ranges.ts";

test("M6: ranges without a hole: every byte outside of it stays, none inside", () => {
  const ranges = [
    [0, 5],
    [8, 12],
    [14, 15],
  ] as const;
  for (let from = 0; from <= 16; from++) {
    for (let to = from; to <= 16; to++) {
      const left = rangesWithout(ranges, [from, to]);
      for (let at = 0; at < 16; at++) {
        const wasIn = ranges.some(([first, end]) => at >= first && at < end);
        const isIn = left.filter(([first, end]) => at >= first && at < end).length;
        assert.equal(isIn, wasIn && (at < from || at >= to) ? 1 : 0, `byte ${at}, hole ${from} to ${to}`);
      }
    }
  }
});

test("M6: pages of ranges: whole ones, in order, each once", () => {
  const pages = pagesOf(
    [
      [3 * pageBytes, 3 * pageBytes + 1],
      [1, 2],
      [pageBytes - 1, pageBytes + 1],
      [7, 7],
    ],
    8 * pageBytes,
  );
  assert.deepEqual(pages, [
    { from: 0, to: 2 },
    { from: 3, to: 4 },
  ]);
});
