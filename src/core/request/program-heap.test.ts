import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { BREAK, LIMIT } from "./memory-marks.ts";
import { ProgramHeap } from "./program-heap.ts";

const MiB = 1 << 20;
const pageBytes = 4096;
const marks = 64;

/** A program's memory of 16 MiB whose pages all hold a number, so that those are seen which were touched. */
function newHeap(breakBytes = MiB) {
  const words = new Int32Array((16 * MiB) >> 2).fill(7);
  const heap = new ProgramHeap(words);
  heap.attach(marks);
  words[(marks >> 2) + BREAK] = breakBytes;
  const limit = (): number => words[(marks >> 2) + LIMIT]!;
  const isTouched = (page: number): boolean => words[(page * pageBytes) >> 2] === 0;
  const touched = (): number[] => [...new Array(words.byteLength / pageBytes).keys()].filter(isTouched);
  const prepareAll = (): number => {
    let times = 0;
    while (heap.prepare()) times++;
    return times;
  };
  return { heap, words, limit, touched, prepareAll };
}

/** The pages between two addresses. */
const pages = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / pageBytes }, (_, i) => from / pageBytes + i);

test("L1 ADR 88: nothing is prepared that is not expected, nor for a few bytes", () => {
  const { heap, touched, prepareAll } = newHeap();
  heap.allocate(100_000);
  equal(prepareAll(), 0);
  heap.expect(100_000);
  equal(prepareAll(), 0);
  deepEqual(touched(), []);
});

test("L1 ADR 88: whole chunks below the limit are prepared, a few pages at a time, and are what is claimed next", () => {
  const { heap, limit, touched, prepareAll } = newHeap();
  heap.allocate(MiB);
  const first = limit();
  heap.expect(200_000);
  heap.prepare();
  deepEqual(touched(), pages(first - 4 * pageBytes, first));
  equal(prepareAll(), 63);
  deepEqual(touched(), pages(first - MiB, first));
  const block = heap.allocate(MiB);
  equal(block, first - MiB);
  heap.expect(50 * MiB);
  prepareAll();
  deepEqual(touched(), pages(first - 3 * MiB, first), "two megabytes ahead at most");
  heap.allocate(5 * MiB);
  prepareAll();
  ok(touched().includes((limit() - 2 * MiB) / pageBytes), "more was claimed than was ready: it goes on below");
});

test("L1 ADR 88: the program's part is not touched, nor a megabyte above its break", () => {
  const { heap, words, limit, touched, prepareAll } = newHeap(13 * MiB + 100);
  heap.allocate(MiB);
  heap.expect(10 * MiB);
  prepareAll();
  const first = Math.ceil((14 * MiB + 100) / pageBytes) * pageBytes;
  deepEqual(touched(), pages(first, limit()));
  words[(marks >> 2) + BREAK] = limit();
  prepareAll();
  deepEqual(touched(), pages(first, limit()));
});
