/** R6 on real processes: what was lost comes back as a clone of what lives, and can be relied upon. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, messages, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const exchange = "test/programs/c/replicas.c";
const files = "test/programs/c/performed-files.c";

const sustained = (ranks: number, nodes: number, ...more: readonly string[]): string[] => [
  ...["run", "-n", `${ranks}`, "--nodes", `${nodes}`, "--protocol", "replication", "--sustain"],
  ...more,
];

const timesBack = (run: Run): number => run.stderr.split(" came back, ").length - 1;

/** The node is killed; returns when its ranks are back. */
async function loseAndRegain(run: Run, node: number): Promise<void> {
  const before = timesBack(run);
  process.kill(run.nodePid(node), "SIGKILL");
  await until(() => timesBack(run) > before || run.child.exitCode !== null, "the lost came back");
}

for (const [variant, ranks, isSmall, compare] of [
  ["parallel", 1, true, []],
  ["parallel", 2, false, []],
  ["parallel", 2, false, ["--compare", "hash"]],
  ["mirror", 2, false, []],
  ["mirror", 2, false, ["--compare", "hash"]],
] as const) {
  const how = [variant, ...compare].join(" ");
  const what = `R6, D3 ${how}, ${ranks} of each: a node is killed and comes back, then the one that it was cloned from: the clones go on`;
  test(what, { ...limit, ...long }, async () => {
    const rounds = isSmall ? 450 : 300;
    // Mirrored, every receive must name its source.
    const args = [`${rounds}`, "20000", ...(variant === "mirror" ? ["named"] : [])];
    const run = new Run(sustained(ranks, 2, "--replication", variant, ...compare, exchange, ...args), {
      stdin: "3\n4\n",
      timeoutMs: 150_000,
    });
    await run.printed("at work", ranks);
    await loseAndRegain(run, 0);
    process.kill(run.nodePid(1), "SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    const printed = Array.from({ length: rounds / 10 }, (_, i) => i * 10);
    assert.deepEqual(
      stdout.match(/^round \d+/gm)?.sort(),
      printed.flatMap((round) => new Array<string>(ranks).fill(`round ${round}`)).sort(),
    );
    assert.match(stdout, new RegExp(`^rank 0 of ${ranks}: \\d+, pid 10000, chance \\d+$`, "m"));
    const which = ranks === 1 ? "rank 0" : "ranks 0, 1";
    assert.match(
      messages(stderr).at(-1)!,
      new RegExp(
        `exit 0; ${2 * ranks} replicas lost; .*replica 0 of ${which} came back .cloned from replica 1, [\\d.]+ MB in \\d rounds?, paused for \\d+ ms, back after \\d+ ms`,
      ),
    );
    run.assertNothingLeft();
  });
}

test("R6 one node after the other is killed, four times, and each comes back", { ...limit, ...long }, async () => {
  const run = new Run(sustained(2, 2, exchange, "600", "20000"), { stdin: "3\n4\n", timeoutMs: 150_000 });
  await run.printed("at work", 2);
  for (const node of [0, 1, 0, 1]) await loseAndRegain(run, node);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/^round \d+/gm)?.length, 120, stdout);
  assert.match(messages(stderr).at(-1)!, /exit 0; 8 replicas lost/);
  run.assertNothingLeft();
});

function tree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    const path = join(folder, name);
    found[name] = statSync(path).isDirectory() ? "" : readFileSync(path, "latin1");
  }
  return found;
}

/** What is in the folder in the end; nodes are killed when they stand here, one after the other. */
async function filesOf(name: string, options: readonly string[], kills: readonly number[]): Promise<unknown> {
  const folder = folderOf(name);
  mkdirSync(folder);
  const run = new Run(["run", "-n", "2", ...options, "--dir", folder, files, folder, "400"], {
    stdin: "",
    timeoutMs: 150_000,
  });
  await run.printed("round 3\n");
  for (const node of kills) await loseAndRegain(run, node);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, Array.from({ length: 400 }, (_, i) => `round ${i}\n`).join(""));
  if (kills.length > 0) assert(timesBack(run) > 0, stderr);
  return tree(folder);
}

test("X2, R6 a clone performs what its program does to files: they are those of one process", {
  ...limit,
  ...long,
}, async () => {
  const once = await filesOf("once", [], []);
  const sustain = ["--nodes", "2", "--protocol", "replication", "--sustain"];
  assert.deepEqual(await filesOf("cloned", sustain, [0, 1]), once);
});

const rounds = program(
  "cloned-rounds.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const { rank, size } = world;
  const last = Number(process.argv[2]);
  const state = mpi.restored<{ round: number; sum: number }>() ?? { round: 0, sum: 0 };
  if (state.round > 0) console.error("begins at " + state.round);
  const value = new Int32Array(1);
  for (; state.round < last; state.round++) {
    if (state.round % 5 === 4) mpi.checkpoint(state);
    // Received a round later: it is in the image.
    world.send(Int32Array.of(state.round * (rank + 1)), { dest: (rank + 1) % size, tag: 5 });
    if (state.round > 0) {
      world.recv(value, { source: mpi.ANY_SOURCE, tag: 5 });
      state.sum += value[0]!;
    }
    state.sum += world.allreduce(Int32Array.of(rank + 1), "sum")[0]!;
    if (state.round % 10 === 0) console.log(rank + " after " + state.round);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  world.recv(value, { source: mpi.ANY_SOURCE, tag: 5 });
  console.log("rank " + rank + ": " + state.sum);
`,
);

test("R6 programs in TypeScript: what is lost comes back at the next mpi.checkpoint", {
  ...limit,
  ...long,
}, async () => {
  const last = 400;
  const run = new Run(sustained(2, 2, rounds, `${last}`), { timeoutMs: 150_000 });
  await run.printed("after 10\n", 2);
  await loseAndRegain(run, 0);
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /a lost replica of a program in TypeScript comes back when another one calls mpi\.checkpoint/);
  assert.match(stderr, /begins at \d+/);
  const sumOf = (rank: number): number => 3 * last + (((last - 1) * (last - 2)) / 2) * (2 - rank);
  const expected = [`rank 0: ${sumOf(0)}`, `rank 1: ${sumOf(1)}`];
  for (const rank of [0, 1]) for (let round = 0; round < last; round += 10) expected.push(`${rank} after ${round}`);
  assert.deepEqual(stdout.trim().split("\n").sort(), expected.sort());
  run.assertNothingLeft();
});

test("R6 programs in TypeScript without mpi.checkpoint: what is lost stays lost", { ...limit, ...long }, async () => {
  const run = new Run(sustained(2, 2, "examples/pi.ts"), { timeoutMs: 60_000 });
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /comes back when another one calls mpi\.checkpoint/);
});
