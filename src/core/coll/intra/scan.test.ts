import assert from "node:assert/strict";
import { test } from "node:test";
import type { Place, Schedule, Vector } from "../engine/schedule.ts";
import { type Combine, rubbish, run } from "../testing/collective-world.ts";
import { log2Ceiling, roundsMax } from "../testing/cost.ts";
import { assertBytes, canonical, ranksOf, reductions, sizes, type TestReduction } from "../testing/data.ts";
import { exscanShifted } from "./exscan-shifted.ts";
import { scanRecursiveDoubling } from "./scan-recursive-doubling.ts";

/** W(r, w) of the comment in `scan-recursive-doubling.ts`, by its definition. */
function window(parts: readonly Uint8Array[], rank: number, width: number, combine: Combine): Uint8Array {
  if (width === 1) return parts[rank]!;
  const half = width / 2;
  const right = window(parts, rank, half, combine);
  if (rank < half) return right;
  const into = new Uint8Array(right.length);
  combine(window(parts, rank - half, half, combine), right, into);
  return into;
}

const scanOf = (parts: readonly Uint8Array[], rank: number, combine: Combine): Uint8Array =>
  window(parts, rank, 2 ** (32 - Math.clz32(rank)), combine);

interface Case {
  readonly size: number;
  readonly elements: number;
  readonly reduction: TestReduction;
  readonly inPlace: boolean;
}

function scan({ size, elements, reduction, inPlace }: Case, build: (call: Place & Vector) => Schedule): Uint8Array[] {
  const { elementBytes, combine } = reduction;
  const bytes = elements * elementBytes;
  const setups = ranksOf(size).map((rank) => {
    const own = reduction.contribution(rank, elements);
    const schedule = build({ rank, size, bytes, elementBytes, inPlace });
    return inPlace ? { schedule, receive: own } : { schedule, send: own, receive: rubbish(bytes) };
  });
  run(setups, { seed: size, combine });
  return setups.map(({ receive }) => receive);
}

const cases = sizes.flatMap((size) =>
  reductions.flatMap((reduction, index) => [
    { size, elements: index, reduction, inPlace: false },
    { size, elements: 4, reduction, inPlace: index !== 0 },
  ]),
);

test("M3 scan recursive doubling: the documented order's bits, which depend on the rank alone, also in place", () => {
  for (const given of cases) {
    const { size, elements, reduction } = given;
    const parts = ranksOf(size).map((rank) => reduction.contribution(rank, elements));
    const results = scan(given, scanRecursiveDoubling);
    for (const [rank, result] of results.entries()) {
      assertBytes(result, scanOf(parts, rank, reduction.combine), `scan on ${rank} of ${size}`);
    }
    if ((size & (size - 1)) === 0) assertBytes(results[size - 1], canonical(parts, reduction.combine), `of ${size}`);
  }
});

test("M3 exscan shifted: rank r has the bits of the scan on r − 1, rank 0 is left alone, also in place", () => {
  for (const given of cases) {
    const { size, elements, reduction, inPlace } = given;
    const parts = ranksOf(size).map((rank) => reduction.contribution(rank, elements));
    for (const [rank, result] of scan(given, exscanShifted).entries()) {
      const untouched = inPlace ? parts[0]! : rubbish(result.length);
      const expected = rank === 0 ? untouched : scanOf(parts, rank - 1, reduction.combine);
      assertBytes(result, expected, `exscan on ${rank} of ${size}`);
    }
  }
});

test("M3 scan and exscan: ⌈log2 p⌉ and 1 + ⌈log2(p − 1)⌉ rounds", () => {
  for (const size of sizes) {
    const call = (rank: number) => ({ rank, size, bytes: 8, elementBytes: 8 });
    assert.equal(roundsMax(ranksOf(size).map((rank) => scanRecursiveDoubling(call(rank)))), log2Ceiling(size));
    const rounds = size === 1 ? 0 : 1 + log2Ceiling(size - 1);
    assert.equal(roundsMax(ranksOf(size).map((rank) => exscanShifted(call(rank)))), rounds);
  }
});
