/** What a job has printed, as a successor finds it: nothing is lost and nothing is printed twice, wherever the record ends. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { LineNumbers } from "./line-numbers.ts";
import { OutputBook, type OutputRecord } from "./output-book.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const came = (rank: number, line: number, offset: number, text: string): OutputRecord => ({
  kind: "came",
  rank,
  stream: "stdout",
  line,
  offset,
  bytes: bytes(text),
  flush: false,
});
const left = (rank: number, line: number, offset: number): OutputRecord => ({
  kind: "left",
  rank,
  stream: "stdout",
  line,
  offset,
});
const leaves = (rank: number, line: number, count: number, size: number): OutputRecord => ({
  kind: "leaves",
  rank,
  stream: "stdout",
  line,
  offset: 0,
  bytes: count,
  file: { id: "1:2", size },
});

const bookOf = (records: Iterable<OutputRecord>): OutputBook => {
  const book = new OutputBook();
  for (const record of records) book.apply(record);
  return book;
};

/** What is printed when the job goes on: the bytes that wait, without those that are outside. */
function printedBy(book: OutputBook, rank: number): string {
  const numbers = new LineNumbers(book.leftOf(rank, "stdout"));
  const parts = book.waiting
    .filter((piece) => piece.rank === rank)
    .map(({ line, offset, bytes: all }) => all.subarray(numbers.offer(line, offset, all)));
  return parts.map((part) => new TextDecoder().decode(part)).join("");
}

test("V7: whatever has come leaves once, wherever the records end", () => {
  const records = [
    came(0, 0, 0, "one\ntw"),
    left(0, 1, 0),
    came(0, 1, 2, "o\nthree\n"),
    left(0, 2, 0),
    left(0, 3, 0),
    came(0, 3, 0, "four\n"),
  ];
  /** Behind each record: what has come, and what is outside. */
  const there = [6, 6, 14, 14, 14, 19];
  const outside = ["", "one\n", "one\n", "one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n"];
  const all = "one\ntwo\nthree\nfour\n";
  for (const [i, written] of outside.entries()) {
    const book = bookOf(records.slice(0, i + 1));
    equal(written + printedBy(book, 0), all.slice(0, there[i]), `behind record ${i}`);
    deepEqual([...bookOf(book.records()).records()], [...book.records()]);
  }
});

test("V7: the size of a file says which bytes are there", () => {
  const records = [came(3, 0, 0, "a\nb\n"), came(1, 0, 0, "c\n"), leaves(3, 2, 4, 100)];
  const file = (size: number) => ({ id: "1:2", size });
  const none = bookOf(records);
  equal(none.bytesThere("stdout", file(100)), 0);
  equal(printedBy(none, 3), "a\nb\n");
  const some = bookOf(records);
  equal(some.bytesThere("stdout", file(103)), 3);
  deepEqual(
    some.waiting.map(({ rank }) => rank),
    [3, 1],
    "the first bytes that are written are those that are there in part",
  );
  const all = bookOf(records);
  equal(all.bytesThere("stdout", file(104)), 0);
  equal(printedBy(all, 3), "");
  equal(printedBy(all, 1), "c\n");
  for (const other of [null, { id: "1:3", size: 104 }]) {
    const elsewhere = bookOf(records);
    equal(elsewhere.bytesThere("stdout", other), 0);
    equal(printedBy(elsewhere, 3), "a\nb\n", "of another file it says nothing");
  }
  equal(bookOf(records).bytesThere("stderr", file(104)), 0);
});

test("V7: bytes go to a file one piece after the other", () => {
  const book = bookOf([came(0, 0, 0, "a\n"), leaves(0, 1, 2, 0), came(1, 0, 0, "b\n"), leaves(1, 1, 2, 2)]);
  equal(printedBy(book, 0), "");
  equal(printedBy(book, 1), "b\n");
  equal(book.bytesThere("stdout", { id: "1:2", size: 4 }), 0);
  equal(printedBy(book, 1), "");
});
