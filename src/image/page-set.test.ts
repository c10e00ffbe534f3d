import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../core/base/testing/properties.ts";
import { pageBytes } from "./kernel.ts";
import { chunkPages, PageSet } from "./page-set.ts";
import { isWorthAnotherRound, pagesFew, roundsMax } from "./pre-copy.ts";
import { pagesOf } from "./ranges.ts";

test("M6: image page sets give back what was put in, neighbours together", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(chunkPages - 1)), (pages) => {
      const set = new PageSet();
      for (const page of pages) set.add(page);
      const found = set.runs().flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
      assert.deepEqual(
        found,
        [...pages].sort((a, b) => a - b),
      );
      assert.equal(set.size, pages.length);
      assert.equal(set.isEmpty, pages.length === 0);
      const ends = set.runs().map(({ to }) => to);
      assert(set.runs().every(({ from }) => !ends.includes(from)));
    }),
  );
});

test("M6: image ranges become whole pages, in order, none twice", () => {
  const end = 10 * pageBytes;
  assert.deepEqual(pagesOf([[0, 1]], end), [{ from: 0, to: 1 }]);
  assert.deepEqual(pagesOf([[0, 0]], end), []);
  assert.deepEqual(
    pagesOf(
      [
        [8 * pageBytes + 1, end],
        [0, pageBytes + 1],
      ],
      end,
    ),
    [
      { from: 0, to: 2 },
      { from: 8, to: 10 },
    ],
  );
  assert.deepEqual(
    pagesOf(
      [
        [0, 5000],
        [5000, 9000],
      ],
      end,
    ),
    [{ from: 0, to: 3 }],
  );
  assert.throws(() => pagesOf([[0, end + 1]], end));
});

test("M6, D2 rounds of pre-copy go on until a megabyte is left, or no longer less", () => {
  const rounds = (...pagesAndMs: readonly (readonly [number, number])[]) =>
    isWorthAnotherRound(
      pagesAndMs.map(([pages, ms]) => ({ pages, ms })),
      pagesFew.sent,
    );
  assert(rounds());
  assert(rounds([262_144, 800]), "the first round says nothing about the second");
  assert(!rounds([256, 800]), "the last round had few");
  assert(rounds([262_144, 800], [10_000, 200]), "some 2500 pages have changed during the second");
  assert(!rounds([65_536, 250], [1_000, 50]), "some 200 have: few enough to send while the program stands still");
  assert(!rounds([262_144, 800], [250_000, 750]), "the program is as fast as we are");
  assert(!rounds([262_144, 800], [10_000, 150], [2_000, 150]), "as many change in each round");
  assert(!rounds(...Array.from({ length: roundsMax }, (_, i) => [2 ** (30 - i), 2 ** (30 - i)] as const)));
});
