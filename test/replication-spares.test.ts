/** D5 on real processes: lost replicas are cloned onto spares, as long as there are any. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messages, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const exchange = "test/programs/c/replicas.c";

const sustained = (ranks: number, nodes: number, ...more: readonly string[]): string[] => [
  ...["run", "-n", `${ranks}`, "--nodes", `${nodes}`, "--protocol", "replication", "--sustain"],
  ...more,
];

const timesBack = (run: Run): number => run.stderr.split(" came back, ").length - 1;
const idleSpares = (run: Run): number => run.processes().filter(({ name }) => name === "banyan-node spare").length;

/** The node is killed; returns when its ranks are back. */
async function loseAndRegain(run: Run, node: number): Promise<void> {
  const before = timesBack(run);
  process.kill(run.nodePid(node), "SIGKILL");
  await until(() => timesBack(run) > before || run.child.exitCode !== null, "the lost came back");
}

/** Of a program that has come to its end, whatever happened: each line once. */
function assertRight(stdout: string, ranks: number, rounds: number): void {
  const lines = Array.from({ length: rounds / 10 }, (_, i) => `round ${i * 10}`);
  assert.deepEqual(
    stdout.match(/^round \d+/gm)?.sort(),
    lines.flatMap((line) => new Array<string>(ranks).fill(line)).sort(),
  );
}

test("D5 four spares and a kill every three seconds: redundancy comes back each time, then in place", {
  ...limit,
  ...long,
}, async () => {
  const rounds = 1_600;
  const run = new Run(sustained(2, 2, "--spares", "4", exchange, `${rounds}`, "20000"), {
    stdin: "3\n4\n",
    timeoutMs: 170_000,
  });
  await run.printed("at work", 2);
  await until(() => idleSpares(run) === 4, "the spares are there");
  for (const [turn, node] of [0, 1, 0, 1, 0, 1].entries()) {
    const nextMs = performance.now() + 3_000;
    await loseAndRegain(run, node);
    assert.equal(run.stderr.split(", on spare ").length - 1, Math.min(turn + 1, 4), run.stderr);
    await until(() => performance.now() >= nextMs, "three seconds are over");
  }
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assertRight(stdout, 2, rounds);
  const last = messages(stderr).at(-1)!;
  assert.match(last, /exit 0; 12 replicas lost/);
  for (const spare of [1, 2, 3, 4]) assert.match(last, new RegExp(`onto spare ${spare}, `));
  run.assertNothingLeft();
});

test("D4 clones, spares and those who take their places are killed at random while clones are made: the answer is right", {
  ...limit,
  ...long,
}, async () => {
  const rounds = 2_500;
  const run = new Run(sustained(2, 2, "--spares", "6", exchange, `${rounds}`, "20000"), {
    stdin: "3\n4\n",
    timeoutMs: 170_000,
  });
  await run.printed("at work", 2);
  await until(() => idleSpares(run) === 6, "the spares are there");
  let state = 20_261_117;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const isOver = (): boolean => run.child.exitCode !== null;
  for (let turn = 0; turn < 16 && !isOver(); turn++) {
    const node = below(2);
    const before = timesBack(run);
    process.kill(run.nodePid(node), "SIGKILL");
    // The one that takes its place, at some moment of the clone; or one in reserve.
    const afterMs = performance.now() + below(600);
    await until(() => performance.now() >= afterMs, "a moment");
    const victims = run
      .processes()
      .filter(({ name }) => name === (turn % 3 === 2 ? "banyan-node spare" : `banyan-node ${node}`));
    if (victims.length > 0 && !isOver()) process.kill(victims[0]!.pid, "SIGKILL");
    // It may have been back already when it was killed, which is told by then.
    const toldMs = performance.now() + 1_000;
    await until(() => performance.now() >= toldMs, "a second");
    const isWhole = (): boolean => run.stderr.lastIndexOf(" came back, ") > run.stderr.lastIndexOf(" failed after ");
    await until(() => (timesBack(run) > before && isWhole()) || isOver(), "the lost came back");
  }
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert(timesBack(run) > 6, stderr);
  assertRight(stdout, 2, rounds);
  run.assertNothingLeft();
});
