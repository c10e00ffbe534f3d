/** `banyan move` under protocols without replicas: D5, and what a user is told where it cannot be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);

const rounds = 600;

/** Two ranks on two nodes, which are at work. */
async function startLogged(): Promise<Run> {
  const words = ["--protocol", "logging", "test/programs/c/replicas.c", `${rounds}`, "10000"];
  const run = new Run(["run", "-n", "2", "--nodes", "2", ...words], { stdin: "3\n4\n", timeoutMs: 100_000 });
  await run.printed("at work", 2);
  return run;
}

/** Both ranks have printed each of their lines once. */
function assertRounds(stdout: string): void {
  const lines = Array.from({ length: rounds / 10 }, (_, i) => `round ${i * 10}`);
  assert.deepEqual(stdout.match(/^round \d+/gm)?.sort(), lines.flatMap((line) => [line, line]).sort());
}

test("D5 under logging a rank is moved: a checkpoint first, then it begins again from there", {
  ...limit,
  ...long,
}, async () => {
  const run = await startLogged();
  const move = (...more: string[]) => banyan(["move", `${run.child.pid}`, ...more]);
  const there = await move("--rank", "1", "--node", "1");
  assert.match(there.stderr, /^banyan: Cannot move rank 1: it is on node 1 already\n/);
  const nowhere = await move("--rank", "1", "--node", "3");
  assert.match(nowhere.stderr, /^banyan: Cannot move rank 1: the job has nodes 0 to 1, and node 2 can be started\n/);
  const moved = await move("--rank", "1");
  assert.equal(moved.code, 0, moved.stderr);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /node 1 is drained: rank 1 will begin again from the next checkpoint/);
  assert.match(stderr, /node 1 \(rank 1\) failed .*: it was drained; it is started again/);
  assert.match(stderr, /1 node lost, 1 rank restarted in [^;]*; 1 checkpoint/);
  assertRounds(stdout);
  run.assertNothingLeft();
});

test("D5 under logging SIGTERM to a node drains it", {
  ...limit,
  ...long,
}, async () => {
  const run = await startLogged();
  process.kill(run.nodePid(1), "SIGTERM");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /node 1 is drained: rank 1 will begin again from the next checkpoint/);
  assert.match(stderr, /node 1 \(rank 1\) failed .*: it was drained; it is started again/);
  assertRounds(stdout);
  run.assertNothingLeft();
});

const waiting = program(
  "move.ts",
  `import { mpi } from "banyan";
  console.log("here");
  mpi.world.recv(new Int32Array(1), { source: 0, tag: 3 });`,
);

test("M7 banyan move says what is wrong with the call, and which jobs have no ranks to move", limit, async () => {
  const run = new Run(["run", waiting]);
  await run.printed("here");
  const errors: string[] = [];
  for (const words of [[], ["--drain", "0", "--rank", "0"], ["--rank", "x"], ["--rank", "0"]]) {
    const { code, stderr } = await banyan(["move", `${run.child.pid}`, ...words]);
    errors.push(`${code} ${stderr.split("\n")[0]}`);
  }
  run.child.kill("SIGTERM");
  await run.ended;
  const call = "give either --drain NODE, or --rank RANK and perhaps --replica NUMBER or --from NODE";
  assert.deepEqual(errors, [
    `2 banyan: Cannot move: ${call}`,
    `2 banyan: Cannot move: ${call}`,
    '2 banyan: Cannot use "x" for --rank: it must be a whole number',
    "1 banyan: Cannot move rank 0: lost ranks of this job do not begin again elsewhere, and there can be no images of all of them at once: only programs in C and C++ can be; run it with --sustain, or under a protocol that takes checkpoints",
  ]);
});

test("D5 a node whose program takes no checkpoint waits for one; a second SIGTERM ends it at once", limit, async () => {
  const run = new Run(["run", "--protocol", "logging", waiting]);
  await run.printed("here");
  const first = run.nodePid(0);
  process.kill(first, "SIGTERM");
  await until(() => run.stderr.includes("node 0 is drained"), "the node has been asked to go");
  assert.equal(run.nodePid(0), first);
  process.kill(first, "SIGTERM");
  await until(() => /node 0 .*failed .*; it is started again/.test(run.stderr), "the node is lost");
  run.child.kill("SIGINT");
  const { stdout } = await run.ended;
  assert.equal(stdout, "here\n");
  run.assertNothingLeft();
});
