import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { pageBytes } from "./kernel.ts";
import { bookOf, keysBytes, pageHashOf } from "./page-hash.ts";
import { chunkBytes, chunkPages } from "./page-set.ts";
import { PageStage } from "./page-stage.ts";
import { bytesOf, fillPage, newMemory, testKeys } from "./testing/memory.ts";

const p1 = 0x9e3779b185ebca87n;
const p2 = 0xc2b2ae3d27d4eb4fn;
const p3 = 0x165667b19e3779f9n;
const p4 = 0x85ebca77c2b2ae63n;
const u64 = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotate = (x: bigint, by: bigint): bigint => u64((x << by) | (x >> (64n - by)));

/** The hash written straight from the comment of page-hash.wat. */
function naiveHash(page: Uint8Array, keys: Uint8Array): bigint {
  if (page.every((byte) => byte === 0)) return 0n;
  const wordsOf = (bytes: Uint8Array): number[] => [
    ...new Uint32Array(bytes.slice().buffer, 0, bytes.length / Uint32Array.BYTES_PER_ELEMENT),
  ];
  const [words, key] = [wordsOf(page), wordsOf(keys)];
  const vectorWords = 4;
  /** NH of 128 bytes: pairs of vectors, with the keys from `from` on. */
  const nh = (stretch: number, from: number): bigint => {
    let sum = 0n;
    for (let pair = 0; pair < 4; pair++) {
      for (let lane = 0; lane < vectorWords; lane++) {
        const added = (vector: number): bigint => {
          const word = words[stretch * 32 + vector * vectorWords + lane]!;
          return BigInt((word + key[(vector + from) * vectorWords + lane]!) >>> 0);
        };
        sum += added(2 * pair) * added(2 * pair + 1);
      }
    }
    return u64(sum);
  };
  const lanes = [u64(p1 + p2), p2];
  for (let stretch = 0; stretch < pageBytes / 128; stretch++) {
    for (const [lane, value] of lanes.entries())
      lanes[lane] = u64(rotate(u64(value + nh(stretch, lane) * p2), 31n) * p1);
  }
  let hash = u64(rotate(lanes[0]!, 1n) + rotate(lanes[1]!, 7n));
  for (const lane of lanes) hash = u64(u64((hash ^ u64(rotate(u64(lane * p2), 31n) * p1)) * p1) + p4);
  hash = u64((hash ^ (hash >> 33n)) * p2);
  hash = u64((hash ^ (hash >> 29n)) * p3);
  hash ^= hash >> 32n;
  return hash === 0n ? 1n : hash;
}

test("M6: the hash of a page is what its description says, for any keys and pages", () => {
  const memory = newMemory();
  const bytes = bytesOf(memory);
  for (let round = 0; round < 20; round++) {
    const keys = round === 0 ? testKeys : Uint8Array.from(randomBytes(keysBytes));
    const { hash } = pageHashOf(memory, keys);
    for (let page = 0; page < 8; page++) {
      const at = page * pageBytes;
      if (page === 1) bytes.fill(255, at, at + pageBytes);
      else if (page > 1) bytes.set(randomBytes(pageBytes), at);
      const wanted = naiveHash(bytes.slice(at, at + pageBytes), keys);
      assert.equal(u64(hash(at)), wanted, `round ${round}, page ${page}`);
    }
  }
});

test("M6: the hash of a page has the same value on every machine and in every version", () => {
  const memory = newMemory();
  const { hash } = pageHashOf(memory, testKeys);
  fillPage(memory, 0, 7);
  fillPage(memory, 1, 4);
  assert.deepEqual(
    [0, 1, 2].map((page) => u64(hash(page * pageBytes)).toString(16)),
    ["a23f73d69e4f112b", "5dec5eee22de2835", "0"],
  );
});

test("M6: the hash of a page changes with every bit of it, and with every bit of its keys", () => {
  const memory = newMemory();
  const bytes = bytesOf(memory);
  fillPage(memory, 3, 4);
  const at = 3 * pageBytes;
  const { hash } = pageHashOf(memory, testKeys);
  const seen = new Set([hash(at)]);
  for (let bit = 0; bit < pageBytes * 8; bit++) {
    bytes[at + (bit >> 3)]! ^= 1 << (bit & 7);
    seen.add(hash(at));
    bytes[at + (bit >> 3)]! ^= 1 << (bit & 7);
  }
  for (let bit = 0; bit < keysBytes * 8; bit++) {
    const keys = testKeys.slice();
    keys[bit >> 3]! ^= 1 << (bit & 7);
    seen.add(pageHashOf(memory, keys).hash(at));
  }
  assert.equal(seen.size, 1 + (pageBytes + keysBytes) * 8);
});

test("M6: one bit anywhere in a page is not zero, and only that page", () => {
  const memory = newMemory();
  const bytes = bytesOf(memory);
  const pages = pageHashOf(memory, testKeys);
  assert.equal(pages.find(0, 4, 0), 4);
  for (let at = 0; at < pageBytes; at++) {
    bytes[pageBytes + at] = 1 << (at & 7);
    assert.equal(pages.find(0, 4, 0), 1, `byte ${at}`);
    assert.equal(pages.find(1, 4, 1), 2, `byte ${at}`);
    bytes[pageBytes + at] = 0;
  }
});

test("M6: a book says which pages are not zero, have changed, have become zero", () => {
  const memory = newMemory();
  const own = newMemory();
  const bytes = bytesOf(memory);
  const book = bookOf(pageHashOf(memory, testKeys), own);
  const view = new DataView(own.buffer);
  const scan = (): number[] => {
    book.scan(0, 4, 512, 64);
    return [0, 8, 16].map((offset) => Number(view.getBigUint64(64 + offset, true)));
  };
  assert.deepEqual(scan(), [0, 0, 0]);
  bytes.fill(1, 0, pageBytes);
  bytes[2 * pageBytes + 4095] = 2;
  bytes.fill(3, 3 * pageBytes, 4 * pageBytes);
  assert.deepEqual(scan(), [0b1101, 0b1101, 0]);
  assert.deepEqual(scan(), [0b1101, 0, 0]);
  bytes[2 * pageBytes + 4095] = 0;
  bytes[0] = 9;
  assert.deepEqual(scan(), [0b1001, 0b0001, 0b0100]);
});

test("M6: pages are found and taken alike where they lie and on the stage, for parts of chunks too", () => {
  const wasmPages = (3 * chunkBytes) / 65_536;
  const memory = newMemory(wasmPages);
  const stages = [true, false].map((isLive) => new PageStage({ memory, keys: testKeys, books: 2, isLive }));
  const looks: readonly (readonly [page: number, value: number])[][] = [
    [
      [0, 2],
      [1, 4],
      [chunkPages - 1, 6],
      [chunkPages + 5, 3],
      [2 * chunkPages, 5],
    ],
    [],
    [
      [1, 0],
      [chunkPages + 5, 8],
      [chunkPages + 6, 8],
    ],
  ];
  const whole = { from: chunkPages, to: 2 * chunkPages };
  for (const [round, changes] of looks.entries()) {
    for (const [page, value] of changes) fillPage(memory, page, value);
    for (const [chunk, wanted] of [
      [0, [{ from: 0, to: chunkPages }]],
      [1, round === 2 ? [{ from: chunkPages + 6, to: chunkPages + 9 }] : [whole]],
      [2, [{ from: 2 * chunkPages, to: 2 * chunkPages + 1 }]],
    ] as const) {
      const [live, still] = stages.map((stage) => {
        const { present, changed, zeroed } = stage.scan(round % 2, chunk * chunkBytes, wanted);
        const runs = [present, changed, zeroed].map((set) => set.runs());
        const taken = stage.take(changed);
        return { runs, taken: Uint8Array.from(taken), sum: stage.checksum(taken) };
      });
      assert.deepEqual(still, live, `round ${round}, chunk ${chunk}`);
      const [, changed] = still!.runs;
      const expected = changed!.flatMap(({ from, to }) => [
        ...bytesOf(memory).slice(chunk * chunkBytes + from * pageBytes, chunk * chunkBytes + to * pageBytes),
      ]);
      assert.deepEqual([...still!.taken], expected);
    }
  }
});
