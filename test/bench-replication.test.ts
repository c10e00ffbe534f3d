/** `banyan bench replication`: each part once, with the smallest problems. Rows R2, R7, R8. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs } from "./patience.ts";

const timeoutMs = 240_000;

async function bench(part: string) {
  const name = `replication-${part}`;
  const out = folderOf(`bench-${name}`);
  const { code, stdout, stderr } = await banyan(["bench", name, "--runs", "1", "--quick", "--out", out], { timeoutMs });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line) as Result);
  return { stdout, results, measured: new Set(results.map(({ contender, metric }) => `${contender} ${metric}`)) };
}

interface Result {
  readonly contender: string;
  readonly metric: string;
  readonly points: readonly { readonly x: number; readonly median: number }[];
}

test(
  "R7: bench replication-ping-pong draws Figures 7a and 7b, against none and as many jobs side by side",
  long,
  async () => {
    const { stdout, measured } = await bench("ping-pong");
    for (const contender of ["none", "none-twice", "parallel", "mirror", "leader"])
      for (const metric of ["latency_apart_us", "bandwidth_apart_mbs"])
        assert(measured.has(`${contender} ${metric}`), `${contender} ${metric}`);
    assert.match(stdout, /^1-byte latency, processes apart .* ≤ 1\.35 × none /m);
  },
);

test("R7: bench replication-kernels has all baselines, also collectives by messages", long, async () => {
  const { measured } = await bench("kernels");
  for (const contender of ["none", "none-messages", "none-twice", "parallel", "mirror", "leader"])
    assert(measured.has(`${contender} is_world_s`), contender);
  assert(!measured.has("mirror hpccg_world_s"), "mirrored replicas receive from nobody in particular");
  assert(measured.has("leader hpccg_apart_s"));
});

test("R2, R8: bench replication-messages counts q·r messages, and measures the pause of a death", long, async () => {
  const { results } = await bench("messages");
  const figure = (contender: string, metric: string): number =>
    results.find((one) => one.contender === contender && one.metric === metric)!.points[0]!.median;
  assert.equal(figure("parallel", "messages_ratio"), 2);
  assert.equal(figure("leader", "messages_ratio"), 2);
  assert(figure("mirror", "messages_ratio") > 2);
  for (const contender of ["parallel", "mirror", "leader"]) {
    assert(figure(contender, "pause_ms") >= 0, contender);
    // The goal; more where other tests have the processors.
    const resumedMs = figure(contender, "resumed_ms");
    assert(resumedMs <= patientMs(50), `${contender} went on ${resumedMs} ms after the death was known`);
  }
});

test(
  "D1: bench replication-comparing has two and three replicas, with and without comparison, and processor time",
  long,
  async () => {
    const { measured } = await bench("comparing");
    for (const contender of ["parallel", "compared-2", "parallel-3", "compared-3"])
      for (const metric of ["hpccg_s", "hpccg_cpu_s"]) assert(measured.has(`${contender} ${metric}`), contender);
  },
);
