import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { Random } from "./random.ts";

describe("random numbers of a simulated world", () => {
  it("are the same for the same seed, today and tomorrow", () => {
    const random = new Random(4711);
    deepEqual([random.bits(), random.bits(), random.bits()], [3916400512, 3248502150, 531472661]);
  });

  it("differ for neighbouring seeds", () => {
    const first = new Set(Array.from({ length: 1000 }, (_, seed) => new Random(seed).bits()));
    equal(first.size, 1000);
  });

  it("fill their range evenly", () => {
    const random = new Random(1);
    const counts = new Int32Array(10);
    for (let i = 0; i < 100_000; i++) counts[random.below(10)]!++;
    ok(
      counts.every((count) => Math.abs(count - 10_000) < 500),
      counts.join(),
    );
  });

  it("shuffle keeps what it shuffles", () => {
    const list = new Random(3).shuffle([1, 2, 3, 4, 5, 6, 7, 8]);
    deepEqual([...list].sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
