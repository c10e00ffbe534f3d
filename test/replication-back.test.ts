/**
 * The last replica of a rank is lost, and there are checkpoints: the job goes back to the last one, of one world of replicas, and comes to the answer of a run without
 * failures; everything is printed once (row R8).
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, folderOf, messages, Run, sorted, until } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const source = resolve("test/programs/c/replicas.c");
const limit = timeLimit(180_000);
/** Of 20 ms at least: the job is not over before it has been lost, on a machine that is busy as well. */
const rounds = "250";

/** The newest checkpoint in the folder of a job; 0: none. */
function newest(folder: string): number {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return Math.max(0, ...names.map((name) => Number(/^world-(\d+)$/.exec(name)?.[1] ?? 0)));
}

const wentBack = (run: Run): number => run.stderr.split(/go(?:es)? on from checkpoint/).length - 1;

interface Case {
  readonly what: string;
  readonly size: readonly string[];
  /** Nodes that are killed, each group when there is a new checkpoint. */
  readonly kills: readonly (readonly number[])[];
  readonly backs: number;
}

const cases: readonly Case[] = [
  // Then the world that is left, which goes back again.
  { what: "two replicas", size: ["-n", "2", "--nodes", "2"], kills: [[0, 1], [0]], backs: 2 },
  {
    what: "three replicas of four ranks, one world after the other",
    size: ["-n", "4", "--nodes", "6", "--replicas", "3"],
    kills: [[0], [3, 4]],
    backs: 0,
  },
  {
    what: "three replicas of three ranks on nodes that hold parts of two worlds",
    size: ["-n", "3", "--nodes", "4", "--replicas", "3"],
    kills: [[0, 1, 2]],
    backs: 1,
  },
  {
    what: "partial replication, and the only process of a rank",
    size: ["-n", "2", "--nodes", "3", "--replicate-ranks", "0"],
    kills: [[1]],
    backs: 1,
  },
  // Where messages are compared all replicas are captured, and all are back.
  {
    what: "two replicas that compare messages",
    size: ["-n", "2", "--nodes", "2", "--compare", "hash"],
    kills: [
      [0, 1],
      [0, 1],
    ],
    backs: 2,
  },
];

for (const [index, { what, size, kills, backs }] of cases.entries()) {
  test(`R8 the last replica of a rank is lost, and the job goes back to a checkpoint: ${what}`, {
    ...limit,
    ...longUnless(index === 0),
  }, async () => {
    const folder = folderOf(`back-${index}`);
    const options = ["--protocol", "replication", "--checkpoint-every", "100ms", "--job-dir", folder];
    const run = new Run(["run", ...size, ...options, source, rounds, "20000"], { stdin: "3\n4\n", timeoutMs: 150_000 });
    for (const nodes of kills) {
      const [before, times] = [newest(folder), wentBack(run)];
      await until(() => newest(folder) > before, "a new checkpoint");
      for (const node of nodes) process.kill(run.nodePid(node), "SIGKILL");
      if (backs > 0) await until(() => wentBack(run) > times, "the job has gone back");
    }
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    const { stdout: calm } = await banyan(["run", ...size.slice(0, 2), source, rounds], { stdin: "3\n4\n" });
    const numbers = (text: string): string[] => sorted(text.replaceAll(/, pid \d+/g, ""));
    assert.deepEqual(numbers(stdout), numbers(calm));
    assert.equal(wentBack(run), backs, stderr);
    if (backs > 0) {
      assert.match(
        stderr,
        /no replica of ranks? [0-9, ]+ is left, and the job goes back to checkpoint \d+, [\d.]+ s ago/,
      );
      const times = backs === 1 ? "once" : `${backs} times`;
      assert.match(messages(stderr).at(-1)!, new RegExp(`exit 0; (?:.*; )?went back to a checkpoint ${times}$`));
    }
    // A job that ends well leaves nothing.
    assert.equal(newest(folder), 0);
    run.assertNothingLeft();
  });
}

test("D1 two replicas differ, the job goes back to a checkpoint of both, and comes to the right answer", {
  ...limit,
  ...long,
}, async () => {
  const program = resolve("test/programs/c/compared.c");
  // At least one checkpoint is there when bits flip, in the array that all later messages are of. If one is taken before the next message is judged it is wrong, and does not help.
  const flip = "seed 7; flip 8 bits in rank 1 replica 1 at call 150";
  const replicated = ["run", "-n", "2", "--nodes", "2", "--protocol", "replication"];
  const compared = ["--compare", "hash", "--checkpoint-every", "30ms", "--faults", flip];
  const { code, stdout, stderr } = await banyan([...replicated, ...compared, program, "160"]);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /^banyan: replicas 0 and 1 of rank 1 send different messages, message \d+ of rank 1 to rank 0 \(communicator \d+, tag 6, 1048576 bytes\); the job goes back to checkpoint \d+, [\d.]+ m?s ago$/m,
  );
  assert.match(stderr, /^banyan: all replicas go on from checkpoint \d+, [\d.]+ m?s after the stop$/m);
  assert.match(messages(stderr).at(-1)!, /exit 0; went back to a checkpoint (?:once|\d+ times)$/);
  const { stdout: calm } = await banyan(["run", "-n", "2", program, "160"]);
  assert.deepEqual(sorted(stdout), sorted(calm));
});

test("R8 a job that is lost before its first checkpoint ends, and says so", { ...limit, ...long }, async () => {
  const options = ["--protocol", "replication", "--checkpoint-every", "1h"];
  const run = new Run(["run", "-n", "1", "--nodes", "2", ...options, source, "500", "20000"], { stdin: "" });
  await run.printed("at work");
  for (const node of [0, 1]) process.kill(run.nodePid(node), "SIGKILL");
  const { code, stderr } = await run.ended;
  assert.equal(code, 137, stderr);
  assert.match(stderr, /the job cannot go on: no replica of rank 0 is left, and there is no checkpoint to go back to/);
});

test("R8 what has no checkpoints says so before the job starts", limit, async () => {
  const typescript = "examples/pi.ts";
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--replication", "leader", source], /^banyan: Cannot take checkpoints under --replication leader: /m],
    [["--replication", "mirror", source], /^banyan: Cannot take checkpoints under --replication mirror: /m],
    [["--sustain", source], /^banyan: Cannot take checkpoints with --sustain: /m],
    [["--compare", "hash", "--sustain", source], /^banyan: Cannot take checkpoints with --sustain: /m],
    [["--checkpoint-servers", "1", source], /^banyan: Cannot use checkpoint servers under --protocol replication: /m],
    [
      [typescript],
      /^banyan: Cannot take checkpoints of examples\/pi\.ts: only programs in C and C\+\+ can be captured$/m,
    ],
  ];
  for (const [options, message] of wrong) {
    const start = ["run", "-n", "2", "--nodes", "2", "--protocol", "replication", "--checkpoint-every", "1s"];
    const { code, stderr } = await banyan([...start, ...options]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});
