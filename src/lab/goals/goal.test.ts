import assert from "node:assert/strict";
import { test } from "node:test";
import { benchmarks, groups } from "../benchmarks.ts";
import type { Series } from "../measuring/series.ts";
import { mpich, openMpi, ours, seriesOf } from "../testing/series.ts";
import { type Goal, judge } from "./goal.ts";
import { goalTable, judgements } from "./goal-table.ts";
import { goals } from "./goals.ts";

const small: Goal = goals.find(({ what }) => what === "8-byte ping-pong, shared arrays")!;
const kilobyte: Goal = goals.find(({ what }) => what === "1 KiB ping-pong, shared arrays")!;
const megabyte: Goal = goals.find(({ what }) => what === "1 MiB bandwidth, shared arrays")!;

const latencies = (x: number, own: number, open?: number, other?: number): Series[] => [
  seriesOf(ours, "latency_us", { [x]: own }),
  ...(open === undefined ? [] : [seriesOf(openMpi, "latency_us", { [x]: open })]),
  ...(other === undefined ? [] : [seriesOf(mpich, "latency_us", { [x]: other })]),
];

test("M8: bench says of each line of the goal table: goal, ok or missed", () => {
  assert.equal(judge(small, latencies(8, 0.8, 1)).verdict, "goal");
  assert.equal(judge(small, latencies(8, 0.81, 1)).verdict, "ok");
  assert.equal(judge(small, latencies(8, 1.2, 1)).verdict, "ok");
  assert.equal(judge(small, latencies(8, 1.21, 1)).verdict, "missed");
});

test("M8: bench judges the two bounds of a line against different peers", () => {
  assert.equal(judge(kilobyte, latencies(1024, 0.7, 1, 0.8)).verdict, "goal");
  assert.equal(judge(kilobyte, latencies(1024, 0.7, 1, 0.6)).verdict, "ok");
  assert.equal(judge(kilobyte, latencies(1024, 0.9, 1, 1)).verdict, "missed");
});

test("M8: bench compares bandwidth with the better of the peers that are there", () => {
  const at = (own: number, open: number, other?: number): string => {
    const series = [
      seriesOf(ours, "bandwidth_mbs", { 1048576: own }),
      seriesOf(openMpi, "bandwidth_mbs", { 1048576: open }),
    ];
    if (other !== undefined) series.push(seriesOf(mpich, "bandwidth_mbs", { 1048576: other }));
    return judge(megabyte, series).verdict;
  };
  assert.deepEqual([at(30, 9, 10), at(29, 9, 10), at(19, 9, 10), at(19, 9)], ["goal", "ok", "missed", "ok"]);
});

test("M8: bench does not judge what it could not measure or compare", () => {
  assert.equal(judge(small, []).verdict, "not measured");
  assert.equal(judge(small, latencies(8, 0.1)).verdict, "not measured");
  // MPICH is missing: the goal stays open, the bound against Open MPI counts.
  assert.equal(judge(kilobyte, latencies(1024, 0.7, 1)).verdict, "ok");
});

test("M8: bench judges what is only wanted, and what is compared with another program of ours", () => {
  const stopped: Goal = goals.find(({ metric }) => metric === "stopped_s")!;
  const at = (seconds: number): Series[] => [seriesOf({ ...ours, id: "banyan" }, "stopped_s", { 1024: seconds })];
  assert.deepEqual(
    [at(0.2), at(0.3), []].map((series) => judge(stopped, series).verdict),
    ["goal", "missed", "not measured"],
  );
  assert.match(goalTable([judge(stopped, at(0.1))]), /0\.100 s +≤ 0\.2 s +goal$/m);
  const fromC: Goal = goals.find(({ what }) => what === "8-byte ping-pong from C")!;
  const both = (c: number): Series[] => [
    seriesOf({ ...ours, id: "banyan-c" }, "latency_us", { 8: c }),
    seriesOf({ ...ours, id: "banyan-typescript" }, "latency_us", { 8: 1 }),
  ];
  assert.deepEqual(
    [1, 1.2, 1.3].map((c) => judge(fromC, both(c)).verdict),
    ["goal", "ok", "missed"],
  );
});

test("M8: bench's goal table has a line for each goal whose benchmark ran", () => {
  const judged = judgements(new Map([["latency", latencies(8, 0.2, 0.25)]]));
  assert.equal(judged.length, goals.filter(({ benchmark }) => benchmark === "latency").length);
  const [first] = goalTable(judged).split("\n").slice(2);
  assert.match(first!, /8-byte ping-pong, shared arrays +0.200 µs +≤ 1.2 × Open MPI +0.800 × .* goal$/);
});

test("M8: bench has a benchmark for every goal", () => {
  const names = [...benchmarks, ...Object.values(groups).flat()].map(({ name }) => name);
  for (const { benchmark, what } of goals) assert.ok(names.includes(benchmark), what);
});
