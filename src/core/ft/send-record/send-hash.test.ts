import { equal, notEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { everyByte, messageTerm, payloadHash, sampled } from "./send-hash.ts";

const of = (bytes: Uint8Array, coverage = everyByte): number => payloadHash(bytes, 0, bytes.length, coverage);

test("R8 every bit of a payload counts, wherever it is", () => {
  for (let length = 1; length <= 40; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 37);
    const before = of(bytes);
    for (let bit = 0; bit < 8 * length; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      notEqual(of(bytes), before, `bit ${bit} of ${length} bytes`);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
  }
});

test("R8 two changed bits do not cancel each other", () => {
  const bytes = new Uint8Array(16).fill(0x5a);
  const seen = new Set([of(bytes)]);
  let pairs = 0;
  for (let one = 0; one < 128; one++) {
    for (let other = one + 1; other < 128; other++) {
      bytes[one >> 3]! ^= 1 << (one & 7);
      bytes[other >> 3]! ^= 1 << (other & 7);
      seen.add(of(bytes));
      bytes[one >> 3]! ^= 1 << (one & 7);
      bytes[other >> 3]! ^= 1 << (other & 7);
      pairs++;
    }
  }
  // Chance would let 8 128 hashes of 32 bits meet once in a hundred tries.
  ok(seen.size >= pairs, `${seen.size} hashes of ${pairs} pairs`);
});

test("R8 the place of the bytes in memory does not matter, their number does", () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => (i % 16 < 13 ? 7 : i));
  equal(payloadHash(bytes, 0, 13, everyByte), payloadHash(bytes, 16, 13, everyByte));
  const zeros = new Uint8Array(32);
  equal(new Set(Array.from({ length: 33 }, (_, length) => payloadHash(zeros, 0, length, everyByte))).size, 33);
});

test("R8 of a large payload a sample is enough where that was asked for: both ends, and places between", () => {
  const bytes = new Uint8Array(1 << 20);
  const before = of(bytes, sampled);
  for (const at of [0, bytes.length - 1]) {
    bytes[at] = 1;
    notEqual(of(bytes, sampled), before, `byte ${at}`);
    bytes[at] = 0;
  }
  bytes.fill(1, 1 << 18, 3 << 18);
  notEqual(of(bytes, sampled), before);
  equal(of(bytes.subarray(0, 512), sampled), of(bytes.subarray(0, 512)), "a small one is hashed as a whole");
});

test("R8 every word of an envelope counts", () => {
  const words = [3, 2, 7, 40, 0x1234] as const;
  const terms = words.map((_, changed) => {
    const [sequence, context, tag, bytes, hash] = words.map((word, i) => (i === changed ? word + 1 : word));
    return messageTerm(sequence!, context!, tag!, bytes!, hash!);
  });
  equal(new Set([...terms, messageTerm(...words)]).size, 6);
});
