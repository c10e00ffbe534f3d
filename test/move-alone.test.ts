/** `banyan move` of a rank without those beside it, under protocols that start the lost again (ADR 73): D5, and whoever dies meanwhile. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { banyan, newFolder, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);

const words = ["test/programs/c/moved.c", "100", "20000", "4000"];
const folder = newFolder("moved-alone");
let jobs = 0;

let right: Promise<string[]> | undefined;

/** What four ranks print without any protocol. */
function reference(): Promise<string[]> {
  right ??= banyan(["run", "-n", "4", ...words], { timeoutMs: 100_000 }).then(({ stdout }) => sorted(stdout));
  return right;
}

interface GatedRun {
  readonly run: Run;
  /** Lets it go beyond the middle. */
  open(): void;
}

/** It is in its first half until somebody opens the gate. */
async function start(...options: string[]): Promise<GatedRun> {
  const gate = join(folder, `gate-${jobs++}`);
  const run = new Run(["run", "-n", "4", "--dir", folder, ...options, ...words, gate], { timeoutMs: 150_000 });
  await run.printed("round 20 ", 4);
  return { run, open: () => writeFileSync(gate, "") };
}

/** As soon as it can be: others may have to come back first. */
async function move(run: Run, ...order: string[]): Promise<void> {
  for (;;) {
    const { code, stderr } = await banyan(["move", `${run.child.pid}`, ...order]);
    if (code === 0) return;
    assert.match(stderr, /try again when they are there/);
    await sleep(200);
  }
}

const isThere = (run: Run, what: string): Promise<void> => until(() => run.stderr.includes(what), what);

async function assertRight(run: Run): Promise<string> {
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), await reference());
  run.assertNothingLeft();
  return stderr;
}

test(
  "D5 under logging a rank leaves those of its set and goes to a node that is started; other nodes go on",
  limit,
  async () => {
    const { run, open } = await start("--nodes", "2", "--protocol", "logging");
    const other = run.nodePid(1);
    await move(run, "--rank", "1", "--node", "2");
    await isThere(run, "rank 1 is on node 2 now; it stood still for");
    assert.equal(run.nodePid(1), other, "a node that has nothing to do with it goes on");
    const { stdout: table } = await banyan(["ps", `${run.child.pid}`]);
    assert.match(table, /^ +1 +2 +/m, "rank 1 is on node 2");
    assert.match(table, /^ +0 +0 +/m);
    process.kill(run.nodePid(2), "SIGKILL");
    open();
    const stderr = await assertRight(run);
    assert.match(stderr, /rank 1 will go on on node 2, which is started: from the next checkpoint/);
    assert.match(stderr, /node 2 \(rank 1\) failed .*; it is started again/);
    assert.match(stderr, /moved once/);
  },
);

test("D5 under logging a rank goes to a node that has ranks, and on from there; a node without ranks is gone", {
  ...limit,
  ...long,
}, async () => {
  const { run, open } = await start("--nodes", "2", "--protocol", "logging", "--checkpoint-every", "1s");
  await move(run, "--rank", "1", "--node", "1");
  await isThere(run, "rank 1 is on node 1 now");
  await move(run, "--drain", "0", "--node", "1");
  await isThere(run, "rank 0 is on node 1 now");
  assert.match(run.stderr, /node 0 has no ranks any more, and is gone/);
  await move(run, "--rank", "2", "--node", "0");
  await isThere(run, "rank 2 is on node 0 now");
  process.kill(run.nodePid(1), "SIGKILL");
  open();
  await assertRight(run);
});

test("D5 under channel-memory a rank goes alone", { ...limit, ...long }, async () => {
  const { run, open } = await start("--nodes", "2", "--protocol", "channel-memory");
  await move(run, "--rank", "3", "--node", "0");
  await isThere(run, "rank 3 is on node 0 now");
  process.kill(run.nodePid(0), "SIGKILL");
  open();
  await assertRight(run);
});

test("D5 whoever dies while a rank is moved: the job comes to its answer", { ...limit, ...long }, async () => {
  for (const [node, afterMs] of [
    [0, 0],
    [0, 250],
    [1, 120],
    [1, 400],
  ] as const) {
    const { run, open } = await start("--nodes", "2", "--protocol", "logging");
    await move(run, "--rank", "1", "--node", "1");
    await sleep(afterMs);
    process.kill(run.nodePid(node), "SIGKILL");
    open();
    await assertRight(run);
  }
});

test("D5 a job whose rank was moved is switched off, and goes on", { ...limit, ...long }, async () => {
  const jobFolder = join(newFolder("moved-off"), "job");
  const { run, open } = await start("--nodes", "2", "--protocol", "logging", "--job-dir", jobFolder);
  await move(run, "--rank", "1", "--node", "2");
  await isThere(run, "rank 1 is on node 2 now");
  await sleep(300);
  run.child.kill("SIGKILL");
  const { stdout: before } = await run.ended;
  open();
  const resumed = await banyan(["resume", jobFolder], { timeoutMs: 100_000 });
  assert.equal(resumed.code, 0, resumed.stderr);
  // To a pipe the last piece may come twice.
  assert.deepEqual([...new Set(sorted(`${before}${resumed.stdout}`))], await reference());
  rmSync(jobFolder, { recursive: true, force: true });
});
