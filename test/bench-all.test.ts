/**
 * `banyan bench` without a name: every benchmark once, with the smallest problems, where no peer is installed. One run, and what
 * it says of each. Row M8.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

const names = [
  ...["latency", "bandwidth", "allreduce", "tcp", "startup", "memory", "matching"],
  ...["c-latency", "cold", "collectives", "programs", "kernels", "images", "checkpoints", "compile"],
];

interface Everything {
  readonly stdout: string;
  readonly stderr: string;
  readonly out: string;
}

let everything: Promise<Everything> | undefined;

function benchAll(): Promise<Everything> {
  everything ??= run();
  return everything;
}

async function run(): Promise<Everything> {
  const out = folderOf("all");
  const { code, stdout, stderr } = await banyan(["bench", "--runs", "1", "--quick", "--out", out], {
    env: { PATH: "/nonexistent" },
    timeoutMs: 240_000,
  });
  assert.equal(code, 0, stdout + stderr);
  return { stdout, stderr, out };
}

/** Each contender with each metric that it was measured by. */
function measuredIn(out: string, name: string): Set<string> {
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line));
  return new Set(results.map(({ contender, metric }) => `${contender} ${metric}`));
}

test("M8: bench without a name runs every benchmark and ends with the goal table", long, async () => {
  const { stdout, out } = await benchAll();
  const left = new Set(readdirSync(out).map((entry) => entry.replace(/\.(jsonl|svg)$/, "")));
  assert.deepEqual([...left].sort(), [...names].sort(), "results of each, and nothing else");
  const goals = stdout.slice(stdout.indexOf("Goals"));
  for (const line of [
    "8-byte ping-pong, shared arrays",
    "1 MiB bandwidth, ordinary arrays",
    "8-byte allreduce, 8 ranks",
    "1 MiB bandwidth over TCP",
    "memory of 100 000 waiting messages",
    "kernels in C, 2 ranks, geometric mean",
    "8-byte ping-pong from C",
    "restore of 1 GiB",
    "cc -c of a small file, warm server",
  ])
    assert.ok(goals.includes(line), line);
  // These two need no peer, and are judged by themselves.
  assert.match(goals, /^start of 16 ranks .* ≤ 1 500 ms .* (goal|ok|missed)$/m);
  assert.match(goals, /^memory of an idle rank .* ≤ 12 MB .* (goal|ok|missed)$/m);
});

test("M8: bench kernels runs each with and without Asyncify, and says which peer is missing", long, async () => {
  const { stdout, stderr, out } = await benchAll();
  const measured = measuredIn(out, "kernels");
  assert.match(stdout, /^kernel +Banyan +no Asyncify +no Asyncify$/m);
  for (const row of ["is", "hpccg", "geometric mean"])
    assert.match(stdout, new RegExp(`^${row} +[\\d.]+ +[\\d.]+`, "m"));
  for (const contender of ["banyan", "banyan-no-capture"])
    for (const metric of ["is_class_s_s", "hpccg_s", "kernels_s"])
      assert(measured.has(`${contender} ${metric}`), `${contender} ${metric}`);
  assert.match(stderr, /Cannot compare with Open MPI: .*apt-get install openmpi-bin libopenmpi-dev/);
  assert.match(stdout, /^kernels in C, 2 ranks, geometric mean .* ≤ 2 × Open MPI +– .* not measured$/m);
  assert.match(stdout, /^Asyncify on the kernels .* ≤ 1\.05 × without it .* (goal|ok|missed)$/m);
});

test("M8: bench images captures and restores beside plain files, and freezes and thaws a job", long, async () => {
  const { stdout, out } = await benchAll();
  const measured = measuredIn(out, "images");
  assert.match(stdout, /^Images of 16 MiB that cannot be compressed: GB\/s/m);
  for (const metric of [
    ...["plain_write_gbs", "capture_gbs", "capture_running_gbs", "stopped_s", "plain_read_gbs", "restore_gbs"],
    ...["freeze_s", "freeze_gbs", "thaw_s", "thaw_gbs"],
  ])
    assert(measured.has(`banyan ${metric}`), metric);
  assert.match(stdout, /^restore +[\d.]+ +[\d.]+ ×$/m);
  // Goals are about one GiB.
  assert.match(stdout, /^pre-copy of 1 GiB, which no job does yet .* ≥ 0\.9 × plain write +– +not measured$/m);
});

test("M8: bench compile times objects, a first module and a second run", long, async () => {
  const { stdout, out } = await benchAll();
  const measured = measuredIn(out, "compile");
  for (const row of ["cc -c, warm server", "first module, nothing kept", "second run"])
    assert.match(stdout, new RegExp(`^${row} +[\\d.]+ `, "m"));
  for (const one of [
    "banyan object_s",
    "banyan first_module_s",
    "banyan second_run_s",
    "banyan-typescript second_run_s",
  ])
    assert(measured.has(one), one);
  assert.match(stdout, /^cc -c of a small file, warm server .* ≤ 0\.6 s +≤ 0\.35 s +(goal|ok|missed)$/m);
  assert.match(stdout, /^second run of a C file, more than TypeScript .* ≤ 1 s +≤ 0\.3 s +(goal|ok|missed)$/m);
});
