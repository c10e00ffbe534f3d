import assert from "node:assert/strict";
import { test } from "node:test";
import { mpich, openMpi, ours } from "../testing/series.ts";
import type { ChildRun, Command } from "./child.ts";
import { type MeasuredStart, measure } from "./measure.ts";

const quiet = { interrupt: new AbortController().signal, progress: () => {} };

function start(contender: MeasuredStart["contender"], file: string): MeasuredStart {
  return { contender, variant: "", command: { file, args: [] }, timeLimitMs: 1000 };
}

function ended(stdout: string, ending: ChildRun["ending"] = { kind: "exit", code: 0 }): ChildRun {
  return { ending, stdout, stderr: "", startMs: 0, ms: 0 };
}

test("M8: bench runs programs in turn and takes the median of their runs' medians", async () => {
  const order: string[] = [];
  let turn = 0;
  const run = async ({ file }: Command): Promise<ChildRun> => {
    order.push(file);
    turn++;
    return ended(`sample latency_us 8 ${turn} ${turn} 99\n`);
  };
  const { series, troubles } = await measure([start(ours, "a"), start(openMpi, "b"), start(mpich, "c")], {
    ...quiet,
    runs: 3,
    run,
  });
  assert.equal(order.join(""), "abcabcabc");
  assert.deepEqual(troubles, []);
  assert.deepEqual(
    series.map(({ contender, points }) => [contender.id, points[0]!.median]),
    [
      ["banyan-shared", 4],
      ["openmpi", 5],
      ["mpich", 6],
    ],
  );
  assert.deepEqual(series[0]!.points[0]!.runs, [
    [1, 1, 99],
    [4, 4, 99],
    [7, 7, 99],
  ]);
});

test("M8: bench goes on without a program that fails, keeps what it had measured and does not try again", async () => {
  const order: string[] = [];
  const run = async ({ file }: Command): Promise<ChildRun> => {
    order.push(file);
    if (file === "stuck") return ended("sample latency_us 8 1\nsample lat", { kind: "time-limit", ms: 2000 });
    if (file === "broken") return { ...ended("", { kind: "exit", code: 3 }), stderr: "\n----\nno such button\n" };
    return ended("sample latency_us 8 2\n");
  };
  const starts = [start(ours, "fine"), start(openMpi, "stuck"), start(mpich, "broken")];
  const { series, troubles } = await measure(starts, { ...quiet, runs: 2, run });
  assert.deepEqual(order, ["fine", "stuck", "broken", "fine"]);
  assert.deepEqual(
    troubles.map(({ message }) => message),
    ["Open MPI: stopped after 2 s", "MPICH: exit code 3: no such button"],
  );
  assert.deepEqual(
    series.map(({ contender, points }) => [contender.id, points[0]!.runs.length]),
    [
      ["banyan-shared", 2],
      ["openmpi", 1],
    ],
  );
});

test("M8: bench counts a program that prints no figures as one that failed", async () => {
  const { troubles } = await measure([start(ours, "silent")], { ...quiet, runs: 1, run: async () => ended("hello\n") });
  assert.deepEqual(
    troubles.map(({ message }) => message),
    ["Banyan, shared: printed no figures"],
  );
});

test("M8: bench asks anew what to start before each run, where that has to be prepared", async () => {
  let asked = 0;
  const order: string[] = [];
  const prepared: MeasuredStart = {
    ...start(ours, ""),
    command: async () => ({ file: `prepared ${++asked}`, args: [] }),
  };
  const run = async ({ file }: Command): Promise<ChildRun> => {
    order.push(file);
    return ended("sample latency_us 8 2\n");
  };
  await measure([prepared, start(openMpi, "same")], { ...quiet, runs: 2, run });
  assert.deepEqual(order, ["prepared 1", "same", "prepared 2", "same"]);
});
