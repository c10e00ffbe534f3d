import { equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { wordChecksum } from "./word-checksum.ts";

const words = Int32Array.from({ length: 37 }, (_, i) => Math.imul(i, 0x01000193));
const whole = wordChecksum(words, 0, words.length);

test("every bit counts, wherever it is", () => {
  for (let at = 0; at < words.length; at++) {
    for (let bit = 0; bit < 32; bit++) {
      const changed = words.slice();
      changed[at]! ^= 1 << bit;
      notEqual(wordChecksum(changed, 0, words.length), whole, `word ${at}, bit ${bit}`);
    }
  }
});

test("the order, the number of words and nothing around them count", () => {
  const seen = new Set<number>();
  for (let count = 0; count <= words.length; count++) seen.add(wordChecksum(words, 0, count));
  equal(seen.size, words.length + 1);
  for (let one = 0; one < words.length; one++) {
    for (let other = 0; other < one; other++) {
      const swapped = words.slice();
      [swapped[one], swapped[other]] = [swapped[other]!, swapped[one]!];
      notEqual(wordChecksum(swapped, 0, words.length), whole);
    }
  }
  for (let zeros = 1; zeros < 9; zeros++) {
    notEqual(wordChecksum(new Int32Array(zeros), 0, zeros), wordChecksum(new Int32Array(zeros + 1), 0, zeros + 1));
  }
  const inside = new Int32Array(60).fill(7);
  inside.set(words, 11);
  equal(wordChecksum(inside, 11, words.length), whole);
});
