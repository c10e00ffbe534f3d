/** `banyan bench fault-layer`: both parts once, with the smallest problems. Rows U5 and U9. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

test(
  "U5, U9: bench fault-layer measures allreduces, and draws Tests 1 to 5 with the layer and without",
  long,
  async () => {
    const out = folderOf("bench-fault-layer");
    const args = ["bench", "fault-layer", "--runs", "1", "--quick", "--out", out];
    const { code, stdout, stderr } = await banyan(args, { timeoutMs: 240_000 });
    assert.equal(code, 0, stdout + stderr);
    const lines = (name: string): { contender: string; metric: string }[] =>
      readFileSync(`${out}/${name}.jsonl`, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    const real = new Set(lines("fault-layer").map(({ contender, metric }) => `${contender} ${metric}`));
    for (const contender of ["none", "none-messages", "fault-layer", "fault-layer-ibcast"])
      assert(real.has(`${contender} allreduce_2_ranks_2_nodes_us`), contender);
    const simulated = new Set(lines("fault-layer-growth").map(({ metric }) => metric));
    for (const test of [1, 2, 3, 4, 5])
      assert(simulated.has(`test_${test}_us`) && simulated.has(`test_${test}_slope_us`));
    assert.match(stdout, /^allreduce of 1 MiB under the layer, 2 ranks, 2 nodes .* ≤ 1\.05 × none /m);
    const drawn = readFileSync(`${out}/fault-layer-growth.svg`, "utf8");
    for (const title of ["Test 1 allreduce: 128 processes", "Test 4 broadcast: with the layer", "k = 3"])
      assert(drawn.includes(title), title);
  },
);
