/**
 * Message logging on real processes: nodes are killed with `SIGKILL` at random moments and in rare windows, and every rank prints
 * what it prints when nothing fails. Rows L1, L5, L8, V1, V4, X2, X3. `node scripts/kills.mjs` does more of it.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JobEvent, LaunchOptions } from "banyan";
import {
  compile,
  type KillRun,
  type ProgramName,
  problemOf,
  programs,
  randomOf,
  runOnce,
} from "../scripts/kill-runs.mjs";
import { banyan, messages, program, until } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-kills-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const limit = timeLimit(120_000);
const seed = Number(process.env["BANYAN_KILL_SEED"] ?? 20261115);
const random = randomOf(seed);
const on2 = { ranks: 4, nodes: 2 };
const on4 = { ranks: 4, nodes: 4 };
const often = { checkpointEveryMs: 200 };

interface FaultFree {
  readonly module: string;
  readonly args: readonly string[];
  readonly lines: KillRun["lines"];
  /** From when all ranks had begun. */
  readonly runMs: number;
}

const known = new Map<string, Promise<FaultFree>>();

function faultFree(name: ProgramName, { ranks, nodes, args = argsOf(name) }: Options): Promise<FaultFree> {
  const key = `${name} ${nodes} ${args.join(" ")}`;
  const found = known.get(key) ?? runFaultFree(name, { ranks, nodes, args });
  known.set(key, found);
  return found;
}

const argsOf = (name: ProgramName): readonly string[] => (name === "orders" ? ["100", "100000"] : programs[name].args);
/** Long enough for several checkpoints, on a machine that has nothing else to do. */
const longOrders = ["100", "250000"];

async function runFaultFree(
  name: ProgramName,
  { ranks, nodes, args }: typeof on2 & { readonly args: readonly string[] },
): Promise<FaultFree> {
  const module = join(folder, `${name}.wasm`);
  if (!existsSync(module)) compile(name, folder);
  let startedMs = 0;
  const run = await runOnce(module, { ranks, nodes, args, protocol: "logging" }, (event) => {
    if (event.kind === "started") startedMs = performance.now();
  });
  assert.equal(run.code, 0, run.said.join("; "));
  return { module, args, lines: run.lines, runMs: performance.now() - startedMs };
}

type Options = LaunchOptions & typeof on2;

/** Runs it with these faults; the output is right, and as many faults as given have happened. */
async function survives(
  name: ProgramName,
  options: Options,
  times: number,
  onEvent: (event: JobEvent) => void = () => {},
): Promise<KillRun> {
  const { module, args, lines } = await faultFree(name, options);
  const run = await runOnce(module, { args, protocol: "logging", timeoutMs: patientMs(100_000), ...options }, onEvent);
  const what = `seed ${seed}, plan ${options.faults}: ${run.said.join("; ")}`;
  assert.equal(problemOf(name, run, lines), "", what);
  assert.equal(run.said.filter((text) => /^fault plan: (killed|stopped|cut)/.test(text)).length, times, what);
  return run;
}

for (const name of ["cg", "hpccg"] as const) {
  test(`L5: ${name} survives the loss of a node at a random moment`, { ...limit, ...long }, async () => {
    const { runMs } = await faultFree(name, on2);
    const node = Math.floor(random() * 2);
    const faults = `kill node ${node} at ${Math.round(runMs * (0.1 + 0.6 * random()))}ms`;
    await survives(name, { ...on2, ...often, faults }, 1);
  });
}

test("L5: orders survives the loss of a node at a random call", limit, async () => {
  const faults = `kill node ${Math.floor(random() * 2)} at call ${Math.round(20 + 200 * random())}`;
  await survives("orders", { ...on2, ...often, faults }, 1);
});

test("L5: two nodes at once, without a checkpoint: both payload logs are gone", { ...limit, ...long }, async () => {
  const moment = `at call ${Math.round(50 + 150 * random())} of rank 1`;
  await survives("orders", { ...on4, faults: `kill node 0 ${moment}; kill node 2 ${moment}` }, 2);
});

test("L5: a node that falls again during its recovery, and another that falls with it", limit, async () => {
  const faults = "kill node 1 at call 150; kill node 1 in recovery; kill node 0 in recovery number 2 of set 1";
  await survives("orders", { ...on2, faults }, 3);
});

test("L5: a kill inside MPI_Init restarts from the start of the program", { ...limit, ...long }, async () => {
  await survives("orders", { ...on2, faults: "kill node 0 at init; kill node 1 at init" }, 2);
});

test("L4: kills while images are stored, before they are committed, and after", limit, async () => {
  const faults = "kill node 1 at checkpoint 1 while; kill node 0 at commit 2; kill node 1 at checkpoint 3 after";
  await survives("orders", { ...on2, ...often, faults }, 3);
});

test("L8: a set goes on from the image before when the newest cannot be read", limit, async () => {
  const before = process.env["TMPDIR"];
  const temporary = mkdtempSync(join(folder, "jobs-"));
  process.env["TMPDIR"] = temporary;
  try {
    const images = () => join(temporary, readdirSync(temporary)[0]!, "checkpoints", "set-1");
    let damaged = Promise.resolve();
    const run = await survives("orders", { ...on2, args: longOrders, checkpointEveryMs: 100 }, 0, (event) => {
      if (event.kind === "started") damaged = damage(images, event.pids[1]!);
    });
    await damaged;
    const noticed = run.said.some((text) => /^rank \d cannot go on from checkpoint \d+: /.test(text));
    assert(noticed, run.said.join("; "));
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
});

test("L8: when no image that is kept can be read the job ends at once, and says why", {
  ...limit,
  ...long,
}, async () => {
  const before = process.env["TMPDIR"];
  const temporary = mkdtempSync(join(folder, "jobs-"));
  process.env["TMPDIR"] = temporary;
  try {
    const images = () => join(temporary, readdirSync(temporary)[0]!, "checkpoints", "set-1");
    const { module, args } = await faultFree("orders", { ...on2, args: longOrders });
    const options = { ...on2, args, protocol: "logging", checkpointEveryMs: 100, timeoutMs: 100_000 };
    let damaged = Promise.resolve();
    const { code, said } = await runOnce(module, options, (event) => {
      if (event.kind === "started") damaged = damage(images, event.pids[1]!, "all");
    });
    await damaged;
    assert.equal(code, 1, said.join("; "));
    assert.match(
      said.at(-1)!,
      /^Cannot start ranks 2, 3 again: checkpoints \d+ and \d+ cannot be read, .*; check the disk and start the job again$/,
    );
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
});

/** Two are kept: the first goes when the third is committed. One above those two is not committed yet. */
async function damage(images: () => string, pid: number, which: "newest" | "all" = "newest"): Promise<void> {
  const numbers = () => (existsSync(images()) ? readdirSync(images()).map(Number) : []).sort((a, b) => a - b);
  await until(() => numbers().includes(2), "the second checkpoint is asked for");
  await until(() => !numbers().includes(1), "the third is committed");
  process.kill(pid, "SIGSTOP");
  for (const number of which === "all" ? numbers().slice(0, 2) : [numbers()[1]]) {
    for (const rank of [2, 3]) truncateSync(join(images(), `${number}`, `${rank}.image`), 100);
  }
  process.kill(pid, "SIGKILL");
}

test("L5: a node that dies when its ranks have finished does not take back what they did", {
  ...limit,
  ...long,
}, async () => {
  // All finish at about the same time: whether the job outlives the kill is not certain.
  const { module, args, lines } = await faultFree("cg", on4);
  const run = await runOnce(module, { ...on4, args, protocol: "logging", faults: "kill node 3 at finish" });
  assert.equal(problemOf("cg", run, lines), "", run.said.join("; "));
});

test("L5: with a set for each rank, one that dies alone begins again alone, and its node goes on", limit, async () => {
  const faults = "kill rank 1 at call 150; kill rank 2 at call 250; kill rank 1 in recovery of set 2";
  const { said } = await survives("orders", { ...on2, ...often, sets: "rank", faults }, 3);
  assert.equal(said.filter((text) => /^rank \d on node \d failed .*; it is started again$/.test(text)).length, 3);
  assert(!said.some((text) => text.startsWith("node ")), said.join("; "));
});

test("V1 V8: a node that was stopped, taken for dead and continued is fenced off", limit, async () => {
  const patience = { heartbeatMs: 50, patienceMs: 300, keepSuspects: true };
  const faults = "stop node 1 at call 60 for 800ms";
  let pid = 0;
  let isAwake = false;
  const { said } = await survives("orders", { ...on2, ...often, ...patience, faults }, 1, (event) => {
    if (event.kind === "started") pid = event.pids[1]!;
    if (event.kind === "note" && /^fault plan: continued node 1 /.test(event.message)) isAwake = process.kill(pid, 0);
  });
  assert(isAwake, said.join("; "));
  assert(
    said.some((text) => /^node 1 .* no sign of life .*; it is started again$/.test(text)),
    said.join("; "),
  );
  assert.throws(() => process.kill(pid, 0), "it does not outlive the job");
});

test("X3: a link that is cut and restored costs time and nothing else, under any protocol", limit, async () => {
  for (const protocol of long.skip === undefined ? ["none", "logging"] : ["logging"]) {
    await survives("orders", { ...on2, protocol, faults: "cut link 0-1 at call 100 of rank 0 for 300ms" }, 1);
  }
});

test("X3: without a protocol that survives it a planned kill ends the job as any other", limit, async () => {
  const path = program("wait.ts", `for (;;) await new Promise((done) => setTimeout(done, 10));`);
  const run = (plan: string) => banyan(["run", "-n", "2", "--nodes", "2", "--faults", plan, path]);
  const ofNode = await run("kill node 1 at 50ms");
  assert.equal(ofNode.code, 137);
  assert.match(
    messages(ofNode.stderr).join("\n"),
    /^banyan: fault plan: killed node 1 after 0\.\d\d s\nbanyan: node 1 \(rank 1\) failed after .*: killed by SIGKILL$/,
  );
  const ofRank = await run("kill rank 1 at init");
  assert.equal(ofRank.code, 1);
  assert.match(
    messages(ofRank.stderr).join("\n"),
    /^banyan: fault plan: killed rank 1 after 0\.\d\d s\nbanyan: rank 1 on node 1 failed after .*: its thread was terminated$/,
  );
});
