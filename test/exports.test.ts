/** What a file exports, another one uses. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

test("no file exports a name that no other file has", () => {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/unused-exports.mjs"], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
