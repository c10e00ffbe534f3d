/**
 * Nodes that are killed while the job is still starting, with real SIGKILLs in every window: before a node knows which it is,
 * before it listens, before it has been told where the others are; alone, together, and again while it is being replaced.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messages, program, Run } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";
import { listeningNode, type NodePhase, nodesOf, type StartingNode, stopIn } from "./starting-nodes.ts";

/** Everybody talks to everybody, each pair for itself: the job ends only when all have found all. */
const meeting = program(
  "meeting.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const got = new Int32Array(1);
  for (let step = 1; step < world.size; step++) {
    const [to, from] = [(world.rank + step) % world.size, (world.rank - step + world.size) % world.size];
    world.sendrecv(Int32Array.of(world.rank), { dest: to }, got, { source: from });
    if (got[0] !== from) throw new Error("from " + from + " came " + got[0]);
  }
  console.log("rank " + world.rank + " met everybody");
`,
);

const limit = timeLimit(180_000);
const runLimit = { stdin: "", timeoutMs: 60_000 };
/** A window of milliseconds may be over before a busy machine lets the test look. */
const triesMax = 20;

const start = (nodes: number, protocol: string, faults: readonly string[] = []): Run =>
  new Run(["run", "-n", `${nodes}`, "--nodes", `${nodes}`, "--protocol", protocol, ...faults, meeting], runLimit);

/** The process of a node that no other process has taken the place of. */
const processOf = (node: number) => (all: readonly StartingNode[]) =>
  all.find((it) => it.node === node) ?? (all.every((it) => it.node === null) ? all[node] : undefined);

/** A run in which that node is stopped in that phase. */
async function startHolding(
  newRun: () => Run,
  held: { readonly node: number; readonly phase: Exclude<NodePhase, "listening"> },
): Promise<{ run: Run; pid: number }> {
  for (let i = 0; i < triesMax; i++) {
    const run = newRun();
    const pid = await stopIn(run, held.phase, processOf(held.node));
    if (pid !== undefined) return { run, pid };
    run.child.kill("SIGKILL");
    await run.ended;
  }
  throw new Error(`node ${held.node} was never seen when it was ${held.phase}`);
}

/** The processes of those nodes, when all of them listen. */
const listening = (run: Run, nodes: readonly number[]): Promise<number[]> =>
  Promise.all(nodes.map((node) => listeningNode(run, node)));

const kill = (...pids: readonly number[]): void => {
  for (const pid of pids) process.kill(pid, "SIGKILL");
};

async function allMeet(run: Run, nodes: number, falls: number): Promise<void> {
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  const lines = Array.from({ length: nodes }, (_, rank) => `rank ${rank} met everybody`);
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), lines, stderr);
  assert.equal(stderr.match(/killed by SIGKILL; it is started again/g)?.length, falls, stderr);
  run.assertNothingLeft();
}

const others = (nodes: number, ...without: readonly number[]): number[] =>
  Array.from({ length: nodes }, (_, node) => node).filter((node) => !without.includes(node));

for (const phase of ["nameless", "named"] as const) {
  for (const node of [0, 1, 2]) {
    test(`L5: node ${node} of 3 is killed ${phase}, when the others listen: its replacement completes the list`, {
      ...limit,
      ...longUnless(node === (phase === "nameless" ? 0 : 2)),
    }, async () => {
      const { run, pid } = await startHolding(() => start(3, "logging"), { node, phase });
      await listening(run, others(3, node));
      kill(pid);
      await allMeet(run, 3, 1);
    });
  }
}

test(
  "L5: a node is killed that listens and has been told nothing, and its replacement listens before the last",
  limit,
  async () => {
    const { run, pid: held } = await startHolding(() => start(3, "logging"), { node: 2, phase: "nameless" });
    const [first] = await listening(run, [0, 1]);
    kill(first!);
    await listeningNode(run, 0, first);
    process.kill(held, "SIGCONT");
    await allMeet(run, 3, 1);
  },
);

test("L5: two of four are killed at once, one that listens and one that has no name yet", {
  ...limit,
  ...long,
}, async () => {
  const { run, pid } = await startHolding(() => start(4, "logging"), { node: 3, phase: "nameless" });
  const [, second] = await listening(run, [0, 1, 2]);
  kill(pid, second!);
  await allMeet(run, 4, 2);
});

test("L5: all nodes are killed at once before any of them has a name", limit, async () => {
  const { run } = await startHolding(() => start(3, "logging"), { node: 2, phase: "nameless" });
  kill(...nodesOf(run).map(({ pid }) => pid));
  await allMeet(run, 3, 3);
});

/** How many have fallen. On a machine that is busy a replacement may be further before it can be stopped: then that one lives. */
async function killReplacements(): Promise<number> {
  const { run, pid } = await startHolding(() => start(3, "logging"), { node: 1, phase: "nameless" });
  await listening(run, [0, 2]);
  let falls = 1;
  let last = pid;
  kill(pid);
  for (const phase of ["nameless", "named"] as const) {
    const next = await stopIn(run, phase, (all) =>
      all.find((it) => it.pid > last && (it.node === null || it.node === 1)),
    );
    if (next === undefined) break;
    last = next;
    kill(next);
    falls++;
  }
  await allMeet(run, 3, falls);
  return falls;
}

test("L5: a replacement is killed before it has a name, and the next before it listens", limit, async () => {
  let falls = 1;
  for (let tries = 0; tries < 5 && falls === 1; tries++) falls = await killReplacements();
  assert(falls > 1, "no replacement was killed");
});

test("L5: the same with connections that a fault plan may slow down", { ...limit, ...long }, async () => {
  const slow = ["--faults", "delay link 0-1 by 1ms at 1h"];
  const { run, pid } = await startHolding(() => start(3, "logging", slow), { node: 2, phase: "nameless" });
  await listening(run, [0, 1]);
  kill(pid);
  await allMeet(run, 3, 1);
});

for (const phase of ["nameless", "named"] as const) {
  test(`V1: without a protocol that survives it, a node killed ${phase} ends the job with a line`, {
    ...limit,
    ...longUnless(phase === "named"),
  }, async () => {
    const { run, pid } = await startHolding(() => start(3, "none"), { node: 1, phase });
    kill(pid);
    const { code, stderr } = await run.ended;
    assert.equal(code, 137, stderr);
    assert.match(messages(stderr).join("\n"), /^banyan: node 1 \(rank 1\) failed after .*: killed by SIGKILL$/);
    run.assertNothingLeft();
  });
}
