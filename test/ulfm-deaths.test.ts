/** Protocol ulfm with real processes and real deaths: ranks, nodes, several at once, by a signal or by the program's own doing. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, messages, Run } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const deaths = resolve("test/programs/c/deaths.c");
const limit = timeLimit(180_000);
const patient = { stdin: "", timeoutMs: 90_000 };

const ulfm = (ranks: number, nodes: number, ...more: string[]): string[] => [
  "run",
  "-n",
  `${ranks}`,
  "--nodes",
  `${nodes}`,
  "--protocol",
  "ulfm",
  ...more,
];

const summary = (stderr: string): string => stderr.trimEnd().split("\n").at(-1)!;

/** All that live went on together, and the job's code is theirs. */
function wentOn(
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
  alive: number,
): void {
  assert.match(stdout, new RegExp(`^(at work\n)?${alive} of ${alive} go on\n$`), stderr);
  assert.equal(code, 0, stderr);
}

/** Nodes are killed when all ranks are at work. */
async function killed(args: string[], nodes: readonly number[], program = [deaths, "allreduce"]): Promise<Run> {
  const run = new Run([...args, ...program], patient);
  await run.printed("at work");
  const pids = nodes.map((node) => run.nodePid(node));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return run;
}

for (const [which, nodes, alive] of [
  [[1], 4, 6],
  [[0], 4, 6],
  [[0, 1, 3], 4, 2],
] as const) {
  const isTheOne = which[0] === 0 && which.length === 1;
  test(`U1 death: nodes ${which.join(", ")} of ${nodes} are killed at once, and the others go on`, {
    ...limit,
    ...longUnless(isTheOne),
  }, async () => {
    const run = await killed(ulfm(8, nodes), which);
    const ended = await run.ended;
    wentOn(ended, alive);
    for (const node of which) assert.match(ended.stderr, new RegExp(`node ${node} \\(.*\\) failed after .*SIGKILL`));
    assert.match(summary(ended.stderr), new RegExp(`exit 0; ${8 - alive} ranks failed, and the program went on$`));
    run.assertNothingLeft();
  });
}

for (const [work, ranks, nodes, which] of [
  ["allreduce", 4, 2, {}],
  ["barrier", 4, 1, long],
  ["ring", 4, 1, long],
  ["send", 4, 1, long],
  ["large", 3, 1, {}],
  ["large", 3, 3, long],
] as const) {
  for (const victim of [0, 2]) {
    const where = `${ranks} ranks on ${nodes} node${nodes === 1 ? "" : "s"}`;
    test(`U1 death: the thread of rank ${victim} is killed in the middle of ${work}, ${where}`, {
      ...limit,
      ...(victim === 0 ? long : which),
    }, async () => {
      const faults = `kill rank ${victim} at 500ms`;
      const ended = await banyan([...ulfm(ranks, nodes, "--faults", faults), deaths, work], patient);
      wentOn(ended, ranks - 1);
      assert.match(ended.stderr, new RegExp(`rank ${victim} on node \\d failed after .*: its thread was terminated`));
      assert.match(summary(ended.stderr), /exit 0; 1 rank failed, and the program went on$/);
    });
  }
}

for (const [how, what] of [
  ["exit3", "exited with code 3"],
  ["exit0", "it ended without MPI_Finalize"],
  ["abort", "ended by SIGABRT"],
  ["kill", "ended by SIGKILL"],
  ["trap", "SIGILL: a trap instruction"],
] as const) {
  test(`U1 death: a rank that ends by its own doing without MPI_Finalize is a failed member: ${how}`, {
    ...limit,
    ...longUnless(how === "trap"),
  }, async () => {
    const ended = await banyan([...ulfm(4, 2), deaths, "allreduce", "1", how], patient);
    wentOn(ended, 3);
    assert.match(messages(ended.stderr).join("\n"), new RegExp(`rank 1 on node 0 failed after .*: .*${what}`));
  });
}

test("U1 death: neighbours in the thread of a rank that ends by its own doing go on", limit, async () => {
  const args = [...ulfm(4, 1, "--ranks-per-thread", "4"), deaths, "allreduce", "2", "exit3"];
  wentOn(await banyan(args, patient), 3);
});

test("U1 death: ranks that share a thread that is killed die together, which is said before", limit, async () => {
  const faults = ["--ranks-per-thread", "2", "--faults", "kill rank 3 at 500ms"];
  const ended = await banyan([...ulfm(4, 1, ...faults), deaths, "allreduce"], patient);
  wentOn(ended, 2);
  assert.match(ended.stderr, /^banyan: ranks that share a thread \(2 each\) die together/);
  assert.match(summary(ended.stderr), /2 ranks failed/);
});

test(
  "U1 exit code: that of the survivors, also where one of them ends with a code after MPI_Finalize",
  limit,
  async () => {
    const ended = await banyan([...ulfm(4, 2), deaths, "allreduce", "-2", ""], patient);
    assert.equal(ended.code, 0, ended.stderr);
    const failing = await banyan(
      [...ulfm(4, 2, "--faults", "kill rank 2 at 500ms"), deaths, "ring", "1", "finalize4"],
      patient,
    );
    assert.equal(failing.code, 4, failing.stderr);
    assert.match(failing.stderr, /rank 1 on node 0 failed after .*: exited with code 4 after MPI_Finalize/);
    assert.match(failing.stdout, /3 of 3 go on/);
  },
);

test("U1 exit code: MPI_Abort ends the job", limit, async () => {
  const { code, stderr } = await banyan([...ulfm(4, 2), deaths, "allreduce", "1", "mpi-abort"], patient);
  assert.equal(code, 5, stderr);
  assert.match(stderr, /rank 1 on node 0 aborted the job after/);
});

test("U1 detection: a node that is stopped is suspected and killed, and the others go on", limit, async () => {
  const run = new Run([...ulfm(4, 2), deaths, "ring"], patient);
  await run.printed("at work");
  const pid = run.nodePid(1);
  process.kill(pid, "SIGSTOP");
  const ended = await run.ended;
  wentOn(ended, 2);
  assert.match(ended.stderr, /node 1 \(ranks 2 to 3\) failed after .*: no sign of life for/);
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
  run.assertNothingLeft();
});
