/** The layout: nothing overlaps, relations between sizes are asserted, and it starts as it should. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { boardOf, layoutOf, lineOf, longPartsOf, partStride, ringOf } from "./layout.ts";

test("parts lie one after the other, on lines of their own, at every size", () => {
  for (const processes of [1, 2, 8, 63, 64, 256]) {
    const layout = layoutOf({ processes, feeders: 1 });
    const starts = [
      layout.breakAt,
      layout.noticesAt,
      layout.lines,
      layout.rings,
      layout.boards,
      layout.longs,
      layout.eager,
      layout.heap,
    ];
    const ends = [
      layout.noticesAt,
      layout.lines,
      lineOf(layout, layout.producers),
      ringOf(layout, processes),
      boardOf(layout, layout.boardCount),
      layout.longs + layout.longBoards * layout.longStride,
      layout.eager + processes * layout.slots * layout.eagerBytes,
      layout.memoryBytes,
    ];
    ends.forEach((end, i) => void assert.ok(end <= (starts[i + 1] ?? end) && starts[i]! < end));
    assert.ok(starts.every((start) => start % 128 === 0));
  }
});

test("eager messages have up to 32 KiB where the buffers for them are half of a memory that is not small, 8 KiB elsewhere", () => {
  for (const [processes, memoryMb, kib] of [
    [2, 388, 32],
    [130, 644, 32],
    [192, 768, 32],
    [193, 770, 8],
    [130, 1536, 32],
    [500, 1384, 8],
    [2, 255, 8],
    [2, 256, 32],
  ] as const) {
    const { eagerBytes } = layoutOf({ processes, memoryBytes: memoryMb << 20 });
    assert.equal(eagerBytes, kib * 1024, `${processes} processes, ${memoryMb} MB`);
  }
});

test("the first boards have long parts, a share of the memory together, and members share those of a board", () => {
  for (const [processes, memoryMb, boards] of [
    [2, 16, 1],
    [2, 388, 35],
    [8, 400, 8],
    [64, 512, 8],
    [500, 1384, 8],
  ] as const) {
    const layout = layoutOf({ processes, memoryBytes: memoryMb << 20 });
    assert.equal(layout.longBoards, boards, `${processes} processes`);
    assert.ok(layout.eager - layout.longs <= Math.min((memoryMb << 20) / 4, 72 << 20) + 4096);
    assert.deepEqual(longPartsOf(layout, boards, 2), { at: 0, bytes: 1024 }, "the others have none");
    for (const members of [1, 2, 7, 8, 9, 16, 33, 64].filter((each) => each <= processes)) {
      const { at, bytes } = longPartsOf(layout, boards - 1, members);
      assert.ok(at + 2 * members * partStride(bytes) <= layout.eager, "they end where the board's end");
      assert.equal(bytes % 128, 0);
      assert.ok(members > 8 || bytes === 512 * 1024);
      assert.ok(bytes >= 65_280);
    }
  }
});

test("sizes that do not go together are refused", () => {
  assert.throws(() => layoutOf({ processes: 0 }), /processes/);
  assert.throws(() => layoutOf({ processes: 2, slots: 48 }), /power of two/);
  assert.throws(() => layoutOf({ processes: 2, memoryBytes: 2 ** 31 }), /2 GiB/);
  assert.throws(() => layoutOf({ processes: 64, memoryBytes: 1 << 20 }), /leave nothing/);
});
