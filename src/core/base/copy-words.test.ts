/** Words that are copied one by one, or many at once. */
import { deepEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { copyWords } from "./copy-words.ts";

describe("copies of words", () => {
  it("few and many arrive where they shall, and nothing else changes", () => {
    const words = Int32Array.from({ length: 300 }, (_, i) => i + 1);
    for (const count of [0, 1, 63, 64, 65, 200]) {
      const into = new Int32Array(new SharedArrayBuffer(4 * 256));
      copyWords(words, 7, into, 3, count);
      const wanted = new Int32Array(256);
      wanted.set(words.subarray(7, 7 + count), 3);
      deepEqual([...into], [...wanted]);
    }
  });
});
