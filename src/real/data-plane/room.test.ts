import assert from "node:assert/strict";
import { test } from "node:test";
import { Pass } from "../../core/p2p/pass.ts";
import { cNodeMemoryMb, layoutOf, producersMax } from "../transport/layout.ts";

/** What a process takes of the heap at a time (core/request/span-heap.ts). */
const chunkBytes = 1 << 20;

test("X7: a node for a C program has room for rings, boards and data planes of as many ranks as it may hold", () => {
  for (const processes of [1, 2, 64, 500, producersMax]) {
    const { heap, memoryBytes } = layoutOf({ processes, memoryBytes: cNodeMemoryMb(processes) << 20 });
    assert.ok(memoryBytes - heap > processes * chunkBytes);
    assert.ok(Pass.wordsFor(processes) * 4 < chunkBytes / 2);
  }
});
