import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { flipMemory } from "./flip-memory.ts";

function memory(): Uint8Array {
  const bytes = new Uint8Array(1 << 16);
  bytes.fill(7, 8_192, 12_000);
  return bytes;
}

const bitsOf = (bytes: Uint8Array): number =>
  bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);

test("X3 flips change so many bits, in pages that are used, and the same ones for the same seed", () => {
  const [before, one, other] = [memory(), memory(), memory()];
  const flipped = flipMemory(one, 5, 7);
  equal(new Set(flipped).size, 5);
  ok(flipped.every((bit) => bit >= 8_192 * 8 && bit < 12_288 * 8));
  equal(bitsOf(before.map((byte, at) => byte ^ one[at]!)), 5);
  deepEqual(flipMemory(other, 5, 7), flipped);
  ok(flipMemory(memory(), 5, 8).some((bit) => !flipped.includes(bit)));
});

test("X3 an empty memory has nothing to flip, and no more bits flip than there are", () => {
  deepEqual(flipMemory(new Uint8Array(8_192), 3, 1), []);
  const one = new Uint8Array(4_096).fill(1, 0, 1);
  equal(flipMemory(one, 1_000_000, 1).length, 4_096 * 8);
});
