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
import { banyan, messages, program } from "./harness.ts";
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

/** One run for all tests of a program: what `orders` prints but for its states, which differ anyway, follows from its rounds. */
function faultFree(name: ProgramName, { ranks, nodes }: typeof on2): Promise<FaultFree> {
  const key = `${name} ${nodes}`;
  const found = known.get(key) ?? runFaultFree(name, { ranks, nodes });
  known.set(key, found);
  return found;
}

/** Where every kind of fault is tried the program computes for long enough to be hit anywhere. */
const orders = ["100", long.skip === undefined ? "100000" : "10000"];
const argsOf = (name: ProgramName): readonly string[] => (name === "orders" ? orders : programs[name].args);
/** As many rounds, and long enough for several checkpoints on a machine that has nothing else to do. */
const longOrders = ["100", "250000"];

async function runFaultFree(name: ProgramName, { ranks, nodes }: typeof on2): Promise<FaultFree> {
  const module = join(folder, `${name}.wasm`);
  if (!existsSync(module)) compile(name, folder);
  let startedMs = 0;
  const args = argsOf(name);
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

for (const name of ["cg", "hpccg", "collectives"] as const) {
  test(`L5: ${name} survives the loss of a node at a random moment`, { ...limit, ...long }, async () => {
    const { runMs } = await faultFree(name, on2);
    const node = Math.floor(random() * 2);
    const faults = `kill node ${node} at ${Math.round(runMs * (0.1 + 0.6 * random()))}ms`;
    await survives(name, { ...on2, ...often, faults }, 1);
  });
}

test("L5: orders survives the loss of a node at a random call", { ...limit, ...long }, async () => {
  const faults = `kill node ${Math.floor(random() * 2)} at call ${Math.round(20 + 200 * random())}`;
  await survives("orders", { ...on2, ...often, faults }, 1);
});

test("L5: two nodes at once, without a checkpoint: both payload logs are gone", { ...limit, ...long }, async () => {
  const moment = `at call ${Math.round(50 + 150 * random())} of rank 1`;
  await survives("orders", { ...on4, faults: `kill node 0 ${moment}; kill node 2 ${moment}` }, 2);
});

test("L5: a node that falls again during its recovery, and another that falls with it", {
  ...limit,
  ...long,
}, async () => {
  const faults = "kill node 1 at call 150; kill node 1 in recovery; kill node 0 in recovery number 2 of set 1";
  await survives("orders", { ...on2, faults }, 3);
});

test("L5: a kill inside MPI_Init restarts from the start of the program", { ...limit, ...long }, async () => {
  await survives("orders", { ...on2, faults: "kill node 0 at init; kill node 1 at init" }, 2);
});

test("L4: kills while images are stored, before they are committed, and after", { ...limit, ...long }, async () => {
  const faults = "kill node 1 at checkpoint 1 while; kill node 0 at commit 2; kill node 1 at checkpoint 3 after";
  await survives("orders", { ...on2, ...often, faults }, 3);
});

test("L8: a set goes on from the image before when the newest cannot be read", { ...limit, ...long }, async () => {
  const harm = new DamagedImages([3]);
  const run = await harm.during(() => survives("orders", harm.options, 1, harm.onEvent));
  const noticed = run.said.filter((text) => /^rank [23] cannot go on from checkpoint 3: /.test(text));
  assert(noticed.length > 0, run.said.join("; "));
});

test("L8: when no image that is kept can be read the job ends at once, and says why", {
  ...limit,
  ...long,
}, async () => {
  const { module } = await faultFree("orders", on2);
  const harm = new DamagedImages([2, 3]);
  const options = { ...harm.options, protocol: "logging", timeoutMs: patientMs(100_000) };
  const { code, said } = await harm.during(() => runOnce(module, options, harm.onEvent));
  assert.equal(code, 1, said.join("; "));
  assert.match(
    said.at(-1)!,
    /^Cannot start ranks 2, 3 again: checkpoints [23] and [23] cannot be read, .*; check the disk and start the job again$/,
  );
});

/**
 * Node 1 stands still from the moment its third checkpoint is committed, of which the last two are kept. When images of these
 * are damaged it is killed. Nobody has taken it for dead before: it is waited for as long as it takes.
 */
class DamagedImages {
  readonly options: Options = {
    ...on2,
    args: longOrders,
    checkpointEveryMs: 100,
    patienceMs: 3_600_000,
    faults: "stop node 1 at checkpoint 3",
  };
  readonly #checkpoints: readonly number[];
  readonly #temporary = mkdtempSync(join(folder, "jobs-"));
  #pid = 0;

  constructor(checkpoints: readonly number[]) {
    this.#checkpoints = checkpoints;
  }

  /** Jobs that begin meanwhile have their folders where the images are looked for. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = this.#temporary;
    try {
      return await act();
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  }

  readonly onEvent = (event: JobEvent): void => {
    if (event.kind === "started") this.#pid = event.pids[1]!;
    if (event.kind !== "note" || !event.message.startsWith("fault plan: stopped node 1")) return;
    const [job] = readdirSync(this.#temporary);
    const images = join(this.#temporary, job!, "checkpoints", "set-1");
    for (const number of this.#checkpoints) {
      for (const rank of [2, 3]) truncateSync(join(images, `${number}`, `${rank}.image`), 100);
    }
    process.kill(this.#pid, "SIGKILL");
  };
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

test("L5: with a set for each rank, one that dies alone begins again alone, and its node goes on", {
  ...limit,
  ...long,
}, async () => {
  const faults = "kill rank 1 at call 150; kill rank 2 at call 250; kill rank 1 in recovery of set 2";
  const { said } = await survives("orders", { ...on2, ...often, sets: "rank", faults }, 3);
  assert.equal(said.filter((text) => /^rank \d on node \d failed .*; it is started again$/.test(text)).length, 3);
  assert(!said.some((text) => text.startsWith("node ")), said.join("; "));
});

test("V1 V8: a node that was stopped, taken for dead and continued is fenced off", { ...limit, ...long }, async () => {
  const patience = { heartbeatMs: 50, patienceMs: 300, keepSuspects: true };
  // Longer than a dispatcher on a busy machine may be late itself: then it waits again.
  const faults = "stop node 1 at call 60 for 3s";
  let pid = 0;
  let isAwake = false;
  // The job must not be over before the node goes on.
  const [rounds] = longOrders;
  const options = { ...on2, ...often, ...patience, args: [rounds!, "1200000"], faults };
  const { said } = await survives("orders", options, 1, (event) => {
    if (event.kind === "started") pid = event.pids[1]!;
    if (event.kind === "note" && /^fault plan: continued node 1, /.test(event.message)) isAwake = process.kill(pid, 0);
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
    /^banyan: fault plan: killed node 1, 0\.\d\d s after the ranks began\nbanyan: node 1 \(rank 1\) failed after .*: killed by SIGKILL$/,
  );
  const ofRank = await run("kill rank 1 at init");
  assert.equal(ofRank.code, 1);
  assert.match(
    messages(ofRank.stderr).join("\n"),
    /^banyan: fault plan: killed rank 1, 0\.\d\d s after the ranks began\nbanyan: rank 1 on node 1 failed after .*: its thread was terminated$/,
  );
});
