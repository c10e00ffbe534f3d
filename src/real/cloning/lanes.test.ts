import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "../../core/base/testing/properties.ts";
import { chunkBytes } from "../../image/page-set.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { lanesFor, rangesOfLane, stripeBytes } from "./lanes.ts";

test("D2 every byte is in one lane, and a chunk of an image in one alone", () => {
  equal(stripeBytes % chunkBytes, 0);
  const bounds = fc.uniqueArray(fc.nat(64 << 20), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(bounds, fc.integer({ min: 1, max: 4 }), (at, of) => {
      const sorted = at.sort((one, other) => one - other);
      const ranges: MemoryRange[] = [];
      for (let i = 0; i + 1 < sorted.length; i += 2) ranges.push([sorted[i]!, sorted[i + 1]!]);
      const lanes = Array.from({ length: of }, (_, index) => rangesOfLane(ranges, { index, of }));
      for (const [index, lane] of lanes.entries()) {
        for (const [from, to] of lane) {
          equal(Math.floor(from / stripeBytes) % of, index);
          equal(Math.floor((to - 1) / stripeBytes) % of, index);
        }
      }
      const joined: [number, number][] = [];
      for (const [from, to] of lanes.flat().sort((one, other) => one[0] - other[0])) {
        const last = joined.at(-1);
        const isNext = last !== undefined && last[1] === from && !ranges.some(([start]) => start === from);
        if (isNext) last[1] = to;
        else joined.push([from, to]);
      }
      deepEqual(joined, ranges);
    }),
  );
});

test("D2 a small memory has one lane", () => {
  equal(lanesFor([[0, 1 << 20]]), 1);
  equal(lanesFor([[0, 256 << 20]]), 2);
});
