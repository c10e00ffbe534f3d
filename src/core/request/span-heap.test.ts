import assert from "node:assert/strict";
import { test } from "node:test";
import { SpanHeap } from "./span-heap.ts";

const memoryBytes = 16 << 20;

/** A heap over all but the first megabyte; every claim that is not a length is a fault. */
function newHeap(): SpanHeap {
  let next = 1 << 20;
  return new SpanHeap(memoryBytes, (bytes) => {
    assert(bytes > 0, `a claim of ${bytes} bytes`);
    if (next + bytes > memoryBytes) return 0;
    const at = next;
    next += bytes;
    return at;
  });
}

test("X8 more memory than there is cannot be had, up to the largest count, and the heap stays whole", () => {
  const heap = newHeap();
  for (const bytes of [memoryBytes, memoryBytes + 1, 2 ** 31 - 65_536, 2 ** 31 - 1]) {
    assert.equal(heap.allocate(bytes), 0, `${bytes} bytes`);
  }
  const block = heap.allocate(1 << 20);
  assert(block >= 1 << 20 && block < memoryBytes);
  heap.free(block);
  assert.equal(heap.allocate(1 << 20), block);
});
