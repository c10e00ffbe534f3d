/** `banyan bench cloning`: once, with the smallest memory. Row D6. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

test("D6: bench cloning shows bandwidth, pause, window and rounds of a clone", long, async () => {
  const args = ["bench", "cloning", "--runs", "1", "--quick", "--out", folderOf("bench-cloning")];
  const { code, stdout, stderr } = await banyan(args, { timeoutMs: 240_000 });
  assert.equal(code, 0, stdout + stderr);
  for (const table of [
    "Bandwidth of a clone",
    "The source stands still",
    "From the loss",
    "Rounds of copying",
    "Speed of others",
  ]) {
    assert.match(stdout, new RegExp(`^${table}.*\\n[^]*?^ *16 MiB .*\\d`, "m"));
  }
  assert.match(stdout, /^From the loss of a node until all its replicas are back.*\n[\s\S]*?^ *2 ranks .*\d/m);
});
