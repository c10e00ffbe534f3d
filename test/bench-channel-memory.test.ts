/** `banyan bench channel-memory`: once, with the smallest problems. Rows V2, V6, V10, V11. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

interface Result {
  readonly contender: string;
  readonly metric: string;
}

/** Runs the benchmark; contenders and metrics of what it has measured, and its tables. */
async function measured(name: string): Promise<{ figures: ReadonlySet<string>; stdout: string }> {
  const out = folderOf(`bench-${name}`);
  const args = ["bench", name, "--runs", "1", "--quick", "--out", out];
  const { code, stdout, stderr } = await banyan(args, { timeoutMs: 240_000 });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return { figures: new Set(results.map(({ contender, metric }) => `${contender} ${metric}`)), stdout };
}

test("V2: bench channel-memory draws Figure 5, against TCP between nodes", long, async () => {
  const { figures, stdout } = await measured("channel-memory-ping-pong");
  for (const contender of ["none", "memory", "memories-2", "memory-disk"]) {
    for (const metric of ["latency_us", "bandwidth_mbs"]) {
      assert(figures.has(`${contender} ${metric}`), `${contender} ${metric}`);
    }
  }
  assert.match(stdout, /^8-byte latency through a memory .* ≤ 2\.1 × none over TCP /m);
});

async function measures(name: string, expected: readonly string[]): Promise<void> {
  const { figures } = await measured(name);
  assert.deepEqual([...figures].sort(), [...expected].sort());
}

test("V11: bench channel-memory draws Figure 6", long, () =>
  measures("channel-memory-sharing", ["ring-8 shared_ring_us"]),
);

test("V6 V11: bench channel-memory draws Figures 7 and 8", long, () =>
  measures("channel-memory-ring", ["none ring_us", "memory ring_us", "memories-2 ring_us", "memory replay_us"]),
);

test("V5 V10: bench channel-memory draws Figures 10 and 12", long, () =>
  measures("channel-memory-volatility", ["memory checkpointed_s", "memory speed", "memory faulty_s"]),
);

test("V11: bench channel-memory draws Figure 11", long, () =>
  measures("channel-memory-renderer", ["none raytrace_s", "memory raytrace_s", "memories-2 raytrace_s"]),
);

test("V11: bench channel-memory draws Figure 13, and what fewer memories cost", long, () => {
  const contenders = ["none", ...(existsSync("/dev/shm") ? ["memories-core"] : []), "memories", "memories-whole"];
  const parts = contenders.flatMap((contender) => [`${contender} bt_s`, `${contender} communicating_s`]);
  return measures("channel-memory-breakdown", ["none computing_s", ...parts, "memories fewer_memories_s"]);
});
