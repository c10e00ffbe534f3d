import assert from "node:assert/strict";
import { test } from "node:test";
import { LineCutter } from "./output.ts";

test("M6 sim: output is cut into lines, each stream on its own, whatever pieces it comes in", () => {
  const cutter = new LineCutter();
  const cut = (stream: 1 | 2, text: string) =>
    cutter.cut(stream, Buffer.from(text)).map((line) => Buffer.from(line).toString());
  assert.deepEqual(cut(1, "one\ntw"), ["one\n"]);
  assert.deepEqual(cut(2, "error"), []);
  assert.deepEqual(cut(1, "o\n\nthree"), ["two\n", "\n"]);
  assert.equal(Buffer.from(cutter.rest(1)).toString(), "three");
  assert.equal(Buffer.from(cutter.rest(2)).toString(), "error");
});
