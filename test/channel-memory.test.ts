/**
 * Channel memories on real processes: nodes and memories are killed, and nobody sees it. Rows V2, V5, V6, V7. Random worlds are in
 * src/sim/channel-memory.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compile, type KillRun, type ProgramName, problemOf, runOnce } from "../scripts/kill-runs.mjs";
import { program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-memories-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const limit = timeLimit(120_000);

/** Rank 0 takes what comes first, again and again; every rank reads clocks; some messages are large, one in each round waits for its receiver. */
const takers = program(
  "memory-takers.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const rounds = Number(process.argv[2]);
  const value = new Int32Array(20000);
  let sum = 0;
  for (let i = 1; i <= rounds; i++) {
    if (world.rank === 0) {
      for (let from = 1; from < world.size; from++) {
        const { source, count } = world.recv(value, { source: mpi.ANY_SOURCE });
        sum += value[0] * source + value[i % 7];
        world.ssend(Int32Array.of(sum), { dest: source });
      }
      if (i % 10 === 0) console.log("round " + i);
    } else {
      world.send(new Int32Array(i % 5 === 0 ? 20000 : 10).fill(i), { dest: 0 });
      world.recv(value, { source: 0 });
      const until = performance.now() + 1;
      while (performance.now() < until);
    }
  }
  const all = world.allreduce(Int32Array.of(world.rank), "sum");
  if (world.rank === 0) console.log("sum " + sum + " of " + all[0]);
`,
);

function startTakers(ranks: number, rounds: number, more: readonly string[] = []): Run {
  const job = ["-n", `${ranks}`, "--nodes", `${ranks}`, "--protocol", "channel-memory", ...more];
  return new Run(["run", ...job, takers, `${rounds}`], { stdin: "", timeoutMs: 100_000 });
}

/** The sum does not depend on the order in which messages were taken. */
function linesOf(ranks: number, rounds: number): string {
  let sum = 0;
  for (let i = 1; i <= rounds; i++) for (let source = 1; source < ranks; source++) sum += i * source + i;
  const printed = Array.from({ length: rounds / 10 }, (_, i) => `round ${10 * (i + 1)}`);
  return [...printed, `sum ${sum} of ${(ranks * (ranks - 1)) / 2}`, ""].join("\n");
}

async function takersEnd(run: Run, ranks: number, rounds: number): Promise<string> {
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, linesOf(ranks, rounds));
  run.assertNothingLeft();
  return stderr;
}

test("V2 V6 V7: a node and a memory are killed together, and the answer is the same", {
  ...limit,
  ...long,
}, async () => {
  const jobFolder = join(folder, "job");
  const run = startTakers(2, 30, ["--job-dir", jobFolder]);
  await run.printed("round 10\n");
  process.kill(run.pidOf("banyan memory 0"), "SIGKILL");
  process.kill(run.nodePid(0), "SIGKILL");
  const stderr = await takersEnd(run, 2, 30);
  assert.match(stderr, /memory 0 was lost; another takes its place/);
  assert.match(stderr, /node 0 \(rank 0\) failed after .*; it is started again/);
  assert.match(stderr, /memories restarted once; memory 0 had \d+ messages of/);
  assert.deepEqual(readdirSync(jobFolder), []);
});

test("V2 V6 V7: nodes and memories are killed one after the other", { ...limit, ...long }, async () => {
  const run = startTakers(3, 100, ["--memories", "2"]);
  await run.printed("round 20\n");
  process.kill(run.pidOf("banyan memory 0"), "SIGKILL");
  await run.printed("round 40\n");
  process.kill(run.nodePid(0), "SIGKILL");
  await run.printed("round 60\n");
  process.kill(run.nodePid(1), "SIGKILL");
  process.kill(run.nodePid(2), "SIGKILL");
  const stderr = await takersEnd(run, 3, 100);
  assert.match(stderr, /memories restarted once; memory 0 had \d+ messages of .*, memory 1 had \d+ messages of/);
});

test("V7: every node and every memory at once", { ...limit, ...long }, async () => {
  const run = startTakers(3, 100, ["--memories", "2"]);
  await run.printed("round 50\n");
  const all = run.processes().filter(({ name }) => /^banyan(-node| memory) \d/.test(name));
  assert.equal(all.length, 5);
  for (const { pid } of all) process.kill(pid, "SIGKILL");
  await takersEnd(run, 3, 100);
});

/** Programs in C with checkpoints. */
async function survives(name: ProgramName, args: readonly string[], faults: string): Promise<void> {
  const module = compile(name, folder);
  const options = {
    ranks: 4,
    nodes: 4,
    protocol: "channel-memory",
    memories: 2,
    args: [...args],
    timeoutMs: patientMs(100_000),
  };
  const free: KillRun = await runOnce(module, options);
  assert.equal(free.code, 0, free.said.join("; "));
  const result = await runOnce(module, { ...options, faults, checkpointEveryMs: 100 });
  const what = `plan ${faults}: ${result.said.join("; ")}`;
  assert.equal(problemOf(name, result, free.lines), "", what);
  const kills = faults.split(";").length;
  assert.equal(result.said.filter((text) => text.startsWith("fault plan: killed")).length, kills, what);
}

test("V5 V7: nodes fall at checkpoints and between them", { ...limit, ...long }, async () => {
  const faults =
    "kill node 1 at call 60 of rank 1; kill node 0 at checkpoint 2 of set 0; kill service memory at checkpoint 3 of set 0; kill node 3 at checkpoint 2 of set 3 while";
  await survives("orders", ["240", "100000"], faults);
});

test("V5 V7: a kernel with collectives", { ...limit, ...long }, async () => {
  await survives(
    "cg",
    ["S"],
    "kill node 1 at call 100 of rank 1; kill service memory at call 200 of rank 0; kill node 2 at call 300 of rank 0",
  );
});

test("V10 §4.4.2: bt on nine nodes, of which ten random ones are killed", {
  ...timeLimit(400_000),
  ...long,
}, async () => {
  const module = compile("bt", folder);
  const options = {
    ranks: 9,
    nodes: 9,
    protocol: "channel-memory",
    memories: 3,
    checkpointServers: 2,
    args: ["24", "400"],
    timeoutMs: patientMs(350_000),
  };
  const free: KillRun = await runOnce(module, options);
  assert.equal(free.code, 0, free.said.join("; "));
  const faults = "seed 12; kill random node every 3s ±1s times 10";
  const result = await runOnce(module, { ...options, faults, checkpointEveryMs: 1000 });
  assert.equal(problemOf("bt", result, free.lines), "", result.said.join("; "));
  assert.ok(result.said.some((text) => text.startsWith("fault plan: killed")));
});
