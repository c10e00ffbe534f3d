import assert from "node:assert/strict";
import { test } from "node:test";
import { blockCount, emptyLayout, layoutsInSequence, repeat, run, shift } from "./layout.ts";

test("M5 neighbouring runs are one run", () => {
  assert.deepEqual(layoutsInSequence([run(0, 4), run(4, 8), emptyLayout, run(12, 1)]), run(0, 13));
  assert.deepEqual(repeat(run(3, 4), 5, 4), run(3, 20));
});

test("M5 packing order is kept: runs that touch the wrong way round stay apart", () => {
  const layout = layoutsInSequence([run(4, 4), run(0, 4)]);
  assert.deepEqual([layout.kind, layout.low, layout.high, blockCount(layout)], ["repeat", 0, 8, 2]);
});

test("M5 repeats of repeats fold where strides fit", () => {
  const layout = repeat(repeat(run(0, 4), 10, 8), 10, 80);
  assert.ok(layout.kind === "repeat" && layout.count === 100 && layout.child.kind === "run");
});

test("M5 blocks whose ends touch merge when repeated, up to a limit", () => {
  const pair = layoutsInSequence([run(0, 4), run(8, 8)]);
  assert.equal(blockCount(repeat(pair, 3, 16)), 4);
  assert.equal(repeat(pair, 1_000_000, 16).kind, "repeat");
});

test("M5 long repeats inside a list are not written out", () => {
  const layout = layoutsInSequence([run(0, 4), repeat(run(8, 4), 1000, 8), run(9000, 4)]);
  assert.deepEqual([layout.kind, layout.bytes, blockCount(layout)], ["sequence", 4008, 1002]);
});

test("M5 very many small parts stay parts", () => {
  const part = layoutsInSequence([run(0, 1), run(2, 2)]);
  const layout = layoutsInSequence(Array.from({ length: 5000 }, (_, i) => shift(part, 7 * i * i)));
  assert.deepEqual([layout.kind, layout.bytes], ["sequence", 15000]);
});

test("M5 moving a layout moves its bounds, and an empty one stays at 0", () => {
  const moved = shift(repeat(run(0, 2), 3, -8), 20);
  assert.deepEqual([moved.low, moved.high, moved.bytes], [4, 22, 6]);
  assert.equal(shift(emptyLayout, 9), emptyLayout);
});
