import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eachRank } from "./benchmarks/memory.ts";
import { asBandwidth } from "./benchmarks/ping-pong.ts";
import { readStartup } from "./benchmarks/startup.ts";
import { describeMachine } from "./measuring/machine.ts";
import { Results } from "./results.ts";
import { openMpi, ours, seriesOf } from "./testing/series.ts";

const series = [seriesOf(ours, "latency_us", { 8: 0.2 }), seriesOf(openMpi, "latency_us", { 8: 0.25 })];

test("M8: bench appends JSON lines with raw figures, machine, versions and date", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-results-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const machine = describeMachine({ openmpi: "4.1.4", mpich: null });
  const results = new Results(join(folder, "new"), { date: "2026-01-02T03:04:05.000Z", machine, quick: false });
  const finding = { series, tables: [], panels: [], troubles: [] };
  assert.deepEqual(results.write("latency", finding), [join(folder, "new/latency.jsonl")]);
  results.write("latency", finding);
  const lines = readFileSync(join(folder, "new/latency.jsonl"), "utf8").trimEnd().split("\n");
  assert.equal(lines.length, 4);
  const line = JSON.parse(lines[1]!);
  assert.deepEqual(
    [line.benchmark, line.contender, line.metric, line.date],
    ["latency", "openmpi", "latency_us", "2026-01-02T03:04:05.000Z"],
  );
  assert.deepEqual(line.points, [{ x: 8, median: 0.25, runs: [[0.25]] }]);
  for (const field of ["cpu", "cores", "memoryGb", "kernel", "node", "peers"]) assert.ok(field in line.machine, field);
  assert.equal(line.machine.peers.mpich, null);
});

test("M8: bench tells latency as bandwidth", () => {
  const [bandwidth] = asBandwidth([seriesOf(ours, "latency_us", { 1048576: 100 })]);
  assert.equal(bandwidth!.points[0]!.median, 10485.76);
  assert.equal(bandwidth!.metric, "bandwidth_mbs");
});

test("M8: bench counts the start until the last of 16 ranks has passed the barrier", () => {
  const lines = Array.from({ length: 16 }, (_, rank) => `sample passed_ms 16 ${5_000 + rank}\n`);
  assert.deepEqual(readStartup({ stdout: lines.join(""), startMs: 4_000 }), [
    { metric: "startup_ms", x: 16, figures: [1_015] },
  ]);
  assert.equal(readStartup({ stdout: lines.slice(1).join(""), startMs: 4_000 }), undefined);
});

test("M8: bench takes the memory of a rank from the difference of many and one", () => {
  const perRank = eachRank(seriesOf(ours, "pss_mb", { 1: 30, 16: 180 }));
  assert.deepEqual([perRank?.metric, perRank?.points[0]?.median], ["pss_per_rank_mb", 10]);
  assert.equal(eachRank(seriesOf(ours, "pss_mb", { 1: 30 })), undefined);
});
