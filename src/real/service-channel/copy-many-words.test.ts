import { deepEqual, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { copyManyWords } from "./copy-many-words.ts";

const shared = (words: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * words));

describe("many words", () => {
  for (const [name, from, into] of [
    ["shared to shared", shared(20_000), shared(20_001)],
    ["shared to ordinary", shared(20_000), new Int32Array(20_001)],
    ["a part of an array to shared", new Int32Array(20_007).subarray(7), shared(20_001)],
  ] as const) {
    it(`are the same, and nothing else changes: ${name}`, () => {
      for (let i = 0; i < from.length; i++) from[i] = 3 * i + 1;
      for (const count of [0, 1, 63, 4095, 4096, 4097, 15_000]) {
        into.fill(-1);
        copyManyWords(from, 5, into, 3, count);
        const wanted = new Int32Array(into.length).fill(-1);
        for (let i = 0; i < count; i++) wanted[3 + i] = from[5 + i]!;
        deepEqual(Int32Array.from(into), wanted);
      }
    });
  }

  it("are never copied from or to a place outside of the arrays", () => {
    throws(() => copyManyWords(shared(5000), 1000, shared(9000), 0, 4500), /outside/);
    throws(() => copyManyWords(shared(9000), 0, shared(5000), 1000, 4500), /outside/);
  });
});
