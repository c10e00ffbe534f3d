/**
 * The event logger is a process, and is killed: another takes its place, goes on with its file or is told what the nodes keep, and the
 * answer is the same. Rows L1, L5, X3, X7.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compile, type KillRun, problemOf, runOnce } from "../scripts/kill-runs.mjs";
import { program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-logger-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const limit = timeLimit(120_000);
const on2 = {
  ranks: 4,
  nodes: 2,
  protocol: "logging",
  args: ["120", "100000"],
  timeoutMs: patientMs(100_000),
} as const;

let module: string | undefined;
let expected: Promise<KillRun["lines"]> | undefined;

function orders(): string {
  module ??= compile("orders", folder);
  return module;
}

async function faultFree(): Promise<KillRun["lines"]> {
  const { lines, code, said } = await runOnce(orders(), on2);
  assert.equal(code, 0, said.join("; "));
  return lines;
}

function run(options: { readonly faults: string; readonly checkpointEveryMs?: number }): Promise<KillRun> {
  return runOnce(orders(), { ...on2, ...options });
}

async function survives(options: Parameters<typeof run>[0], times: number): Promise<void> {
  expected ??= faultFree();
  const lines = await expected;
  const result = await run(options);
  const what = `plan ${options.faults}: ${result.said.join("; ")}`;
  assert.equal(problemOf("orders", result, lines), "", what);
  assert.equal(result.said.filter((text) => text.startsWith("fault plan: killed")).length, times, what);
  const losses = result.said.filter((text) => text === "the event logger was lost; another takes its place").length;
  assert.equal(losses, options.faults.match(/event-logger/g)?.length ?? 0, what);
}

test("L5: the event logger is killed, and the answer is the same", { ...limit, ...long }, async () => {
  await survives({ faults: "kill service event-logger at call 60 of rank 1" }, 1);
});

test("L5: a node falls when another event logger has been told all", { ...limit, ...long }, async () => {
  // A checkpoint counts when the event logger has all before it: there is a whole one between the two.
  const faults = "kill service event-logger at checkpoint 1 of set 1; kill node 1 at checkpoint 3";
  await survives({ faults, checkpointEveryMs: 100 }, 2);
});

test("L5: the event logger and nodes fall one after the other, with checkpoints", { ...limit, ...long }, async () => {
  const faults =
    "kill node 1 at call 60; kill service event-logger at checkpoint 2 of set 0; kill service event-logger in recovery; kill node 0 at checkpoint 4";
  await survives({ faults, checkpointEveryMs: 100 }, 4);
});

test("L5: an event logger that falls before anybody has spoken to it", { ...limit, ...long }, async () => {
  const faults = "kill service event-logger at init of rank 0; kill node 1 at checkpoint 2";
  await survives({ faults, checkpointEveryMs: 100 }, 2);
});

test("L5: a set and the event logger fall together, and the answer is the same", { ...limit, ...long }, async () => {
  const moment = "at call 100 of rank 1";
  await survives({ faults: `kill service event-logger ${moment}; kill node 1 ${moment}` }, 2);
});

for (const afterMs of [0, 100, 500]) {
  const what = `L5: the event logger is killed, and a node ${afterMs} ms later, on a machine with too much to do`;
  test(what, { ...limit, ...long }, async () => {
    const loops = Array.from({ length: 2 * availableParallelism() }, () =>
      spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
    );
    try {
      const faults = `kill service event-logger at 800ms; kill node 1 at ${800 + afterMs}ms`;
      await survives({ faults }, 2);
      await survives({ faults, checkpointEveryMs: 200 }, 2);
    } finally {
      for (const loop of loops) loop.kill("SIGKILL");
    }
  });
}

test("M8: a dispatcher that is killed leaves no event logger behind", limit, async () => {
  const spin = program("logged-spin.ts", `console.log("spinning");\nfor (;;);\n`);
  const spinning = new Run(["run", "-n", "2", "--nodes", "2", "--protocol", "logging", spin]);
  await spinning.printed("spinning", 2);
  assert.equal(spinning.processes().filter(({ name }) => name === "banyan-logger").length, 1);
  spinning.child.kill("SIGKILL");
  await spinning.ended;
  await until(() => spinning.processes().length === 0, "everything is gone", 2000);
});

/** Rank 0 takes what comes first, again and again: nothing leaves it that the event logger has not heard of. */
const takers = program(
  "logger-takers.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const value = new Int32Array(1);
  const rounds = Number(process.argv[2]);
  for (let i = 1; i <= rounds; i++) {
    if (world.rank === 0) {
      for (let from = 1; from < world.size; from++) {
        const { source } = world.recv(value, { source: mpi.ANY_SOURCE });
        world.send(value, { dest: source });
      }
      if (i % 10 === 0) console.log("round " + i);
    } else {
      world.send(Int32Array.of(i), { dest: 0 });
      world.recv(value, { source: 0 });
      const until = performance.now() + 2;
      while (performance.now() < until);
    }
  }
`,
);
const startTakers = (rounds: number, more: readonly string[] = []): Run =>
  new Run(["run", "-n", "3", "--nodes", "3", "--protocol", "logging", ...more, takers, `${rounds}`], {
    stdin: "",
    timeoutMs: 100_000,
  });

async function takersEnd(run: Run, rounds: number): Promise<string> {
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, Array.from({ length: rounds / 10 }, (_, i) => `round ${10 * (i + 1)}\n`).join(""));
  run.assertNothingLeft();
  return stderr;
}

const pidOf = (run: Run, title: string): number | undefined => run.processes().find(({ name }) => name === title)?.pid;

test("L5: another event logger is up before the first is lost, and a node that falls a moment later is started again", {
  ...limit,
  ...long,
}, async () => {
  const run = startTakers(2000);
  await until(() => pidOf(run, "banyan-logger spare") !== undefined, "there is a spare");
  await run.printed("round 10\n");
  const spare = pidOf(run, "banyan-logger spare")!;
  process.kill(run.pidOf("banyan-logger"), "SIGKILL");
  await until(() => pidOf(run, "banyan-logger") === spare, "the spare has taken its place");
  // Whoever prints has told the new one what it had chosen.
  const lines = run.stdout.split("\n").length;
  await until(() => run.stdout.split("\n").length > lines + 1, `the job goes on: ${run.stderr}`);
  process.kill(run.nodePid(0), "SIGKILL");
  const stderr = await takersEnd(run, 2000);
  assert.match(stderr, /the event logger was lost; another takes its place/);
  assert.match(stderr, /node 0 \(rank 0\) failed after .*; it is started again/);
});

test("L5: an event logger that stands still is noticed, killed and replaced", limit, async () => {
  const run = startTakers(300);
  await run.printed("round 10\n");
  const stopped = run.pidOf("banyan-logger");
  process.kill(stopped, "SIGSTOP");
  const stderr = await takersEnd(run, 300);
  assert.match(stderr, /the event logger gave no sign of life for \d+\.\d+ s; another takes its place/);
  assert.throws(() => process.kill(stopped, 0), "it is gone");
});

test("L5: a node falls while the event logger stands still", { ...limit, ...long }, async () => {
  const run = startTakers(300);
  await run.printed("round 10\n");
  process.kill(run.pidOf("banyan-logger"), "SIGSTOP");
  process.kill(run.nodePid(0), "SIGKILL");
  const stderr = await takersEnd(run, 300);
  assert.match(stderr, /the event logger gave no sign of life for \d+\.\d+ s; another takes its place/);
  assert.match(stderr, /node 0 \(rank 0\) failed after .*; it is started again/);
});

test("X7: the event logger's file is damaged: one line says so, and the nodes tell its successor", {
  ...limit,
  ...long,
}, async () => {
  const jobFolder = join(folder, "job");
  const run = startTakers(300, ["--job-dir", jobFolder]);
  await run.printed("round 10\n");
  const logger = run.pidOf("banyan-logger");
  process.kill(logger, "SIGSTOP");
  const file = join(jobFolder, "event-log");
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
  process.kill(logger, "SIGKILL");
  const stderr = await takersEnd(run, 300);
  const lines = stderr.split("\n").filter((line) => line.includes("Cannot"));
  assert.equal(lines.length, 1, stderr);
  assert.match(
    lines[0]!,
    /Cannot read the event log: record \d+ at byte \d+ (is damaged|has a damaged head); the nodes tell the new event logger what they keep$/,
  );
  assert.deepEqual(readdirSync(jobFolder), [], "a job that ends well leaves nothing");
});
