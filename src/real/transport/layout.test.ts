/** The layout: nothing overlaps, relations between sizes are asserted, and it starts as it should. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf, lineOf, ringOf } from "./layout.ts";

test("parts lie one after the other, on lines of their own, at every size", () => {
  for (const processes of [1, 2, 8, 63, 64, 256]) {
    const layout = layoutOf({ processes, feeders: 1 });
    const starts = [
      layout.breakAt,
      layout.noticesAt,
      layout.lines,
      layout.rings,
      layout.boards,
      layout.eager,
      layout.heap,
    ];
    const ends = [
      layout.noticesAt,
      layout.lines,
      lineOf(layout, layout.producers),
      ringOf(layout, processes),
      layout.boards + layout.boardCount * layout.boardStride,
      layout.eager + processes * layout.slots * layout.eagerBytes,
      layout.memoryBytes,
    ];
    ends.forEach((end, i) => void assert.ok(end <= (starts[i + 1] ?? end) && starts[i]! < end));
    assert.ok(starts.every((start) => start % 128 === 0));
  }
});

test("sizes that do not go together are refused", () => {
  assert.throws(() => layoutOf({ processes: 0 }), /processes/);
  assert.throws(() => layoutOf({ processes: 2, slots: 48 }), /power of two/);
  assert.throws(() => layoutOf({ processes: 2, memoryBytes: 2 ** 31 }), /2 GiB/);
  assert.throws(() => layoutOf({ processes: 64, memoryBytes: 1 << 20 }), /leave nothing/);
});
