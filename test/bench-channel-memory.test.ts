/** `banyan bench channel-memory`: once, with the smallest problems. Row V2. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

interface Result {
  readonly contender: string;
  readonly metric: string;
}

test("V2: bench channel-memory draws Figure 5, against TCP between nodes", long, async () => {
  const name = "channel-memory-ping-pong";
  const out = folderOf(`bench-${name}`);
  const args = ["bench", name, "--runs", "1", "--quick", "--out", out];
  const { code, stdout, stderr } = await banyan(args, { timeoutMs: 240_000 });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const measured = new Set(
    lines.map((line) => JSON.parse(line) as Result).map((one) => `${one.contender} ${one.metric}`),
  );
  for (const contender of ["none", "memory", "memories-2", "memory-disk"]) {
    for (const metric of ["latency_us", "bandwidth_mbs"]) {
      assert(measured.has(`${contender} ${metric}`), `${contender} ${metric}`);
    }
  }
  assert.match(stdout, /^8-byte latency through a memory .* ≤ 2\.1 × none over TCP /m);
});
