import assert from "node:assert/strict";
import { test } from "node:test";
import { fnv1a } from "./fnv-1a.ts";

test("FNV-1a of 32 bits gives its authors' values", () => {
  const hash = (text: string): string => (fnv1a(new TextEncoder().encode(text)) >>> 0).toString(16);
  assert.deepEqual([hash(""), hash("a"), hash("foobar")], ["811c9dc5", "e40c292c", "bf9cf968"]);
});
