import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { pageBytes } from "../kernel.ts";
import { keysBytes } from "../page-hash.ts";
import { bytesOf, fillPage, newMemory } from "../testing/memory.ts";
import { PageBook } from "./page-book.ts";

const newKeys = (): Uint8Array => Uint8Array.from(randomBytes(keysBytes));

test("D2 every bit of a page counts, and so does the place of every word", () => {
  const memory = newMemory(1);
  const book = new PageBook(memory, newKeys());
  const bytes = bytesOf(memory);
  fillPage(memory, 0, 4);
  const seen = new Set<string>();
  const hash = (): string => {
    book.note({ from: 0, to: 1 });
    return Buffer.from(book.hashesOf({ from: 0, to: 1 })).toString("hex");
  };
  seen.add(hash());
  for (let bit = 0; bit < pageBytes * 8; bit += 3) {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    seen.add(hash());
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  }
  assert.equal(seen.size, 1 + Math.ceil((pageBytes * 8) / 3));
  // Words, and whole stretches of the hash's own size, change places.
  for (const length of [4, 8, 16, 128]) {
    for (let at = 0; at + 2 * length <= pageBytes; at += 128) {
      const before = bytes.slice(at, at + 2 * length);
      bytes.set(before.subarray(length), at);
      bytes.set(before.subarray(0, length), at + length);
      seen.add(hash());
      bytes.set(before, at);
    }
  }
  assert.equal(seen.size, 1 + Math.ceil((pageBytes * 8) / 3) + 32 * 3 + 31);
});

test("D2 a zero page is 0, other keys give other hashes, equal memories equal digests", () => {
  const [one, other] = [newMemory(2), newMemory(2)];
  for (const memory of [one, other]) for (const page of [1, 5, 31]) fillPage(memory, page, page);
  const keys = newKeys();
  const books = [new PageBook(one, keys), new PageBook(other, keys), new PageBook(one, newKeys())];
  for (const book of books) {
    const { changed, zeroed } = book.look({ from: 0, to: 32 });
    assert.deepEqual(changed.runs(), [
      { from: 1, to: 2 },
      { from: 5, to: 6 },
      { from: 31, to: 32 },
    ]);
    assert(zeroed.isEmpty);
    assert.deepEqual([...book.hashesOf({ from: 0, to: 1 })], new Array(8).fill(0));
  }
  const [digest, same, different] = books.map((book) => book.digest);
  assert.equal(digest, same);
  assert.notEqual(digest, different);
  fillPage(other, 5, 0);
  assert.deepEqual(books[1]!.look({ from: 0, to: 32 }).zeroed.runs(), [{ from: 5, to: 6 }]);
  assert.notEqual(books[1]!.digest, digest);
});
