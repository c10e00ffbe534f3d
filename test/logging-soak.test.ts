/**
 * Nodes that are killed from outside for as long as the job runs, faster than they can replay; and programs that end their own
 * process. Rule 10: progress counts, not restarts. `node scripts/kills.mjs` does more of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, messages, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";
import { listeningNode } from "./starting-nodes.ts";

const limit = timeLimit(600_000);
const patient = { stdin: "", timeoutMs: 500_000 };
const logging = ["run", "--protocol", "logging"];

/**
 * A token goes round, as often as the program is given; rank 0 says how often it has. With checkpoints: without them a life begins at
 * the beginning, and who is killed more often than that takes gets nowhere.
 */
const rounds = program(
  "soak-rounds.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const [right, left] = [(world.rank + 1) % world.size, (world.rank + world.size - 1) % world.size];
  const token = new Int32Array(1);
  const isFirst = world.rank === 0;
  const state = mpi.restored<{ round: number; sum: number }>() ?? { round: 1, sum: 0 };
  for (; state.round <= Number(process.argv[2]); state.round++) {
    if (state.round % 20 === 5) mpi.checkpoint(state);
    if (isFirst) world.send(Int32Array.of(state.round), { dest: right });
    world.recv(token, { source: left });
    if (!isFirst) world.send(token, { dest: right });
    for (let i = 0; i < 1_000_000; i++) state.sum = (Math.imul(state.sum, 31) + i) | 0;
    if (isFirst && state.round % 10 === 0) console.log("round " + token[0]);
  }
`,
);

const linesOf = (count: number): string =>
  Array.from({ length: count / 10 }, (_, i) => `round ${10 * (i + 1)}\n`).join("");

/** Kills the node that often in a row, each of its processes as soon as others could connect to it. */
async function killInARow(run: Run, node: number, times: number): Promise<void> {
  let before = 0;
  for (let kill = 0; kill < times; kill++) {
    before = await listeningNode(run, node, before);
    process.kill(before, "SIGKILL");
  }
}

test("rule 10: a node that is killed eight times in a row before it can replay does not end the job", {
  ...limit,
  ...long,
}, async () => {
  const run = new Run([...logging, "-n", "3", "--nodes", "3", rounds, "300"], patient);
  // And again in a long run.
  const seen = long.skip === undefined ? [20, 40] : [20];
  for (const round of seen) {
    await run.printed(`round ${round}\n`);
    await killInARow(run, 1, 8);
  }
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, linesOf(300));
  assert.equal(stderr.match(/killed by SIGKILL; it is started again/g)?.length, 8 * seen.length, stderr);
  run.assertNothingLeft();
});

test("rule 10: every node is killed again and again, round robin, and the job gets on", {
  ...limit,
  ...long,
}, async () => {
  const run = new Run([...logging, "-n", "3", "--nodes", "3", rounds, "3000"], patient);
  const killed = [0, 0, 0];
  // By rounds, not by seconds: on a busy machine a node may take longer to start than any number of them.
  for (let kill = 0; kill < 12; kill++) {
    await run.printed(`round ${200 * (kill + 1)}\n`);
    const node = kill % 3;
    killed[node] = await listeningNode(run, node, killed[node]);
    process.kill(killed[node], "SIGKILL");
  }
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, linesOf(3000));
  assert.equal(stderr.match(/killed by SIGKILL; it is started again/g)?.length, 12, stderr);
  run.assertNothingLeft();
});

test("rule 10: a program that ends its own process at the same call ends the job, and the last line says so", {
  ...limit,
  ...long,
}, async () => {
  const ending = program(
    "ends-itself.ts",
    `
    import { mpi } from "banyan";
    const { world } = mpi;
    const value = new Int32Array(1);
    for (let i = 0; i < 20; i++) {
      if (world.rank === 0) world.send(value, { dest: 1 });
      else world.recv(value, { source: 0 });
      if (world.rank === 0) world.recv(value, { source: 1 });
      else world.send(value, { dest: 0 });
    }
    if (world.rank === 1) {
      // Others may hear how far it has come.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      process.kill(process.pid, "SIGKILL");
    }
    world.recv(value, { source: 1 - world.rank });
  `,
  );
  const { code, stderr } = await banyan([...logging, "-n", "2", "--nodes", "2", ending], patient);
  assert.equal(code, 137, stderr);
  assert.match(
    messages(stderr).findLast((line) => !/ ranks on /.test(line))!,
    /^banyan: node 1 \(rank 1\) failed after .*: killed by SIGKILL; it is not started again: it fell 4 times at the same call, .* --protocol none$/,
  );
});
