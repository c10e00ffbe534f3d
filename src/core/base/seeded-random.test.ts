import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "./seeded-random.ts";

const bytesOf = (random: SeededRandom, length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  random.fill(bytes);
  return bytes;
};

test("seeded randomness: the same for the same seed, today and tomorrow", () => {
  const random = new SeededRandom(4711);
  deepEqual([random.bits(), random.bits(), random.bits()], [3916400512, 3248502150, 531472661]);
});

test("seeded randomness: ranks of a job differ, and so do jobs", () => {
  const of = (seed: number, rank: number) => bytesOf(SeededRandom.ofRank(seed, rank), 16);
  deepEqual(of(1, 0), of(1, 0));
  const seen = new Set(Array.from({ length: 1000 }, (_, i) => of(i % 10, Math.floor(i / 10)).join()));
  equal(seen.size, 1000);
});

test("seeded randomness: bytes are filled to the last, and evenly", () => {
  const random = new SeededRandom(1);
  notDeepEqual(bytesOf(random, 7).slice(4), new Uint8Array(3));
  const counts = new Int32Array(256);
  for (const byte of bytesOf(random, 256_000)) counts[byte]!++;
  ok(counts.every((count) => Math.abs(count - 1000) < 200));
});

test("seeded randomness: fractions are from 0 to below 1, and evenly", () => {
  const random = new SeededRandom(2);
  const counts = new Int32Array(10);
  for (let i = 0; i < 100_000; i++) counts[Math.floor(random.fraction() * 10)]!++;
  ok(counts.every((count) => Math.abs(count - 10_000) < 500));
});
