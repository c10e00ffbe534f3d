import assert from "node:assert/strict";
import { test } from "node:test";
import { filledBytes } from "../../test/filled-bytes.ts";
import fc from "../core/base/testing/properties.ts";
import { checksumOf } from "./checksum.ts";
import { MemoryKernel, pageBytes } from "./kernel.ts";
import { bytesOf, newMemory } from "./testing/memory.ts";

const text = (words: string): Uint8Array => new TextEncoder().encode(words);

test("M6: image checksum is XXH64: its published values", () => {
  assert.equal(checksumOf(text("")), 0xef46db3751d8e999n);
  assert.equal(checksumOf(text("a")), 0xd24ec4f1a98c6e5bn);
  assert.equal(checksumOf(text("abc")), 0x44bc2cf5ad770999n);
  assert.equal(checksumOf(text("Nobody inspects the spammish repetition")), 0xfbcea83c8a378bf1n);
});

const p1 = 0x9e3779b185ebca87n;
const p2 = 0xc2b2ae3d27d4eb4fn;
const p3 = 0x165667b19e3779f9n;
const p4 = 0x85ebca77c2b2ae63n;
const p5 = 0x27d4eb2f165667c5n;
const u64 = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotate = (x: bigint, by: bigint): bigint => u64((x << by) | (x >> (64n - by)));
const round = (lane: bigint, word: bigint): bigint => u64(rotate(u64(lane + word * p2), 31n) * p1);

/** XXH64 written straight from its specification. */
function naiveXxh64(bytes: Uint8Array, seed: bigint): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let hash = u64(seed + p5);
  if (bytes.length >= 32) {
    const lanes = [u64(seed + p1 + p2), u64(seed + p2), seed, u64(seed - p1)];
    for (; bytes.length - at >= 32; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i]!, view.getBigUint64(at + 8 * i, true));
    }
    const turns = [1n, 7n, 12n, 18n];
    hash = u64(lanes.reduce((sum, lane, i) => sum + rotate(lane, turns[i]!), 0n));
    for (const lane of lanes) hash = u64((hash ^ round(0n, lane)) * p1 + p4);
  }
  hash = u64(hash + BigInt(bytes.length));
  for (; bytes.length - at >= 8; at += 8) {
    hash = u64(rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4);
  }
  for (; bytes.length - at >= 4; at += 4) {
    hash = u64(rotate(hash ^ u64(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3);
  }
  for (; at < bytes.length; at++) hash = u64(rotate(hash ^ u64(BigInt(bytes[at]!) * p5), 11n) * p1);
  hash = u64((hash ^ (hash >> 33n)) * p2);
  hash = u64((hash ^ (hash >> 29n)) * p3);
  return hash ^ (hash >> 32n);
}

test("M6: image checksum agrees with the specification for every length up to 200, any seed", () => {
  const bytes = filledBytes(200, (i) => (i * 167) & 255);
  for (let length = 0; length <= 200; length++) {
    const part = bytes.slice(0, length);
    assert.equal(checksumOf(part), naiveXxh64(part, 0n), `${length} bytes`);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (part, seed) => {
      assert.equal(checksumOf(part, seed), naiveXxh64(part, seed));
    }),
    { numRuns: 50 },
  );
});

test("M6: image checksum is the same for long bytes in pieces", () => {
  const bytes = filledBytes(70_000, (i) => (i * 31 + (i >> 8)) & 255);
  assert.equal(checksumOf(bytes), naiveXxh64(bytes, 0n));
});

test("M6: image kernel puts pages together", () => {
  const memory = newMemory();
  const bytes = bytesOf(memory);
  const setAt = 9 * pageBytes;
  for (const page of [0, 1, 2, 3]) bytes.fill(page + 1, page * pageBytes, (page + 1) * pageBytes);
  bytes[setAt] = 0b1010;
  assert.equal(new MemoryKernel(memory).compact(setAt), 2 * pageBytes);
  assert.deepEqual([bytes[0], bytes[pageBytes - 1], bytes[pageBytes], bytes[2 * pageBytes - 1]], [2, 2, 4, 4]);
});
