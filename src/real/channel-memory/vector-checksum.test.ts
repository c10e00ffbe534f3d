import { equal, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { wordChecksum } from "../../core/base/word-checksum.ts";
import { newVectorChecksum } from "./vector-checksum.ts";

describe("V8 the checksum with vectors", () => {
  it("is that of the reader of records, for every number of words and wherever they begin", () => {
    const checksum = newVectorChecksum();
    const random = new SeededRandom(5);
    const words = Int32Array.from({ length: 50_000 }, () => random.bits());
    for (const count of [...Array(600).keys(), 16_383, 16_384, 16_385, 16_400, 40_000]) {
      const first = random.bits() % 1000;
      equal(checksum(words, first, count), wordChecksum(words, first, count), `${count} words`);
    }
  });

  it("changes with every word", () => {
    const checksum = newVectorChecksum();
    const words = new Int32Array(700);
    const before = checksum(words, 0, words.length);
    for (let at = 0; at < words.length; at++) {
      words[at] = 1;
      notEqual(checksum(words, 0, words.length), before, `word ${at}`);
      words[at] = 0;
    }
  });
});
