/** `banyan move` under replication, on real processes: a living replica is copied to its new place, alone, and nobody is lost (D2, D5). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, type Ended, messages, program, Run, until } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const exchange = "test/programs/c/replicas.c";

const start = (rounds: number, ...more: readonly string[]): Run =>
  new Run(
    [
      "run",
      "-n",
      "2",
      "--nodes",
      "2",
      "--protocol",
      "replication",
      "--sustain",
      ...more,
      exchange,
      `${rounds}`,
      "10000",
    ],
    { stdin: "3\n4\n", timeoutMs: 100_000 },
  );

const moveOf =
  (run: Run) =>
  (...words: string[]): Promise<Ended> =>
    banyan(["move", `${run.child.pid}`, ...words]);

const said = (run: Run, what: string): Promise<void> =>
  until(() => run.stderr.includes(what) || run.child.exitCode !== null, what);

const idleSpares = (run: Run): number[] =>
  run
    .processes()
    .filter(({ name }) => name === "banyan-node spare")
    .map(({ pid }) => pid);

const roundsOf = (stdout: string): string[] => stdout.match(/^round \d+/gm) ?? [];

/** At work, for longer than a test takes, with a spare that is there. */
async function startWithSpare(): Promise<{ run: Run; move: ReturnType<typeof moveOf> }> {
  const run = start(100_000, "--spares", "1");
  await run.printed("at work", 2);
  await until(() => idleSpares(run).length === 1, "the spare is there");
  return { run, move: moveOf(run) };
}

/** Both ranks have printed each of their lines once. */
function assertRounds(stdout: string, rounds: number): void {
  const lines = Array.from({ length: rounds / 10 }, (_, i) => `round ${i * 10}`);
  assert.deepEqual(roundsOf(stdout).sort(), lines.flatMap((line) => [line, line]).sort());
}

test(
  "D5 a replica goes alone to a spare, then to a node that is started; the one beside it stays in its process, and nobody is lost",
  limit,
  async () => {
    const { run, move } = await startWithSpare();
    const beside = run.nodePid(1);
    assert.equal((await move("--rank", "1")).code, 0);
    await said(run, "replica 1 of rank 1 is on node 2 now");
    assert.equal(run.nodePid(1), beside);
    // It knows its new neighbours by now: none.
    assert.equal((await move("--rank", "1", "--from", "2", "--node", "3")).code, 0);
    await said(run, "replica 1 of rank 1 is on node 3 now");
    assert.equal(run.nodePid(1), beside);
    // Both of its replicas go on.
    const rounds = roundsOf(run.stdout).length;
    await until(() => roundsOf(run.stdout).length > rounds + 6, "the ranks go on");
    run.child.kill("SIGINT");
    const { stdout, stderr } = await run.ended;
    const counted = new Map<string, number>();
    for (const line of roundsOf(stdout)) counted.set(line, (counted.get(line) ?? 0) + 1);
    const lines = Array.from({ length: counted.size }, (_, i) => `round ${i * 10}`);
    assert.deepEqual([...counted.keys()].sort(), lines.sort());
    assert.ok([...counted.values()].every((times) => times <= 2));
    assert.match(stderr, /replica 1 of rank 1 will go on on node 2, spare 1: copied there while it runs/);
    assert.match(stderr, /is on node 3 now; it stood still for [\d.]+ s; node 2 has no ranks any more, and is gone/);
    assert.match(stderr, /2 replicas moved \([\d.]+ MB, each stood still for \d+ ms at most\)/);
    run.assertNothingLeft();
  },
);

test(
  "D5 a node that is lost before its replica has come is told of in one line, and the replica stays; what cannot be is refused",
  limit,
  async () => {
    const { run, move } = await startWithSpare();
    const [spare] = idleSpares(run);
    process.kill(spare!, "SIGSTOP");
    assert.equal((await move("--rank", "0", "--node", "2")).code, 0);
    const refusals: string[] = [];
    const refused = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await move(...words);
      refusals.push(`${code} ${stderr}`);
    };
    await refused("--rank", "1");
    process.kill(spare!, "SIGKILL");
    await said(run, "it stays on node 1");
    await refused("--rank", "4");
    await refused("--rank", "0", "--node", "0");
    await refused("--rank", "0", "--replica", "0", "--from", "1");
    await refused("--drain", "0", "--node", "2");
    await refused("--rank", "0", "--node", "9");
    run.child.kill("SIGINT");
    const { stderr } = await run.ended;
    assert.match(stderr, /^banyan: Cannot move replica 1 of rank 0 to node 2: node 2 was lost; it stays on node 1$/m);
    assert.deepEqual(refusals, [
      "1 banyan: Cannot move rank 1: replicas are being moved; try again when they are there\n",
      "1 banyan: Cannot move rank 4: the job has ranks 0 to 1\n",
      "1 banyan: Cannot move rank 0: node 0 has replica 0 of rank 0, and one loss would take both\n",
      "1 banyan: Cannot move replica 0 of rank 0: replica 0 of rank 0 is not on node 1\n",
      "1 banyan: Cannot drain node 0: spare 1 is not in reserve; spares in reserve: none\n",
      "1 banyan: Cannot move rank 0: the next node that can be started is 3\n",
    ]);
    run.assertNothingLeft();
  },
);

test("D5 SIGTERM to a node drains it: its replicas are copied elsewhere before it goes", limit, async () => {
  const rounds = 350;
  const run = start(rounds);
  await run.printed("at work", 2);
  process.kill(run.nodePid(1), "SIGTERM");
  await said(run, "node 1 has no ranks any more, and is gone");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assertRounds(stdout, rounds);
  assert.match(
    stderr,
    /replica 1 of ranks 0 and 1 will go on on node 2, which is started: copied there while they run/,
  );
  assert.doesNotMatch(stderr, /failed|lost/);
  run.assertNothingLeft();
});

test(
  "D5 replicas that compare read one clock: the one that reads it for both is moved, and goes on",
  limit,
  async () => {
    const clock = program(
      "moved-clock.c",
      `
    #include <mpi.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      int rank;
      double last = 0;
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      for (int i = 0; i < 300; i++) {
        double now = MPI_Wtime(), sent = now;
        MPI_Sendrecv_replace(&sent, 1, MPI_DOUBLE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (now < last) printf("the clock goes back\\n");
        last = now;
        if (i == 0) printf("at work\\n"), fflush(stdout);
        usleep(10000);
      }
      printf("rank %d is done\\n", rank);
      MPI_Finalize();
      return 0;
    }
  `,
    );
    const words = ["run", "-n", "2", "--nodes", "2", "--protocol", "replication", "--sustain", "--compare", "hash"];
    const run = new Run([...words, clock], { timeoutMs: 100_000 });
    await run.printed("at work", 2);
    assert.equal((await moveOf(run)("--rank", "1", "--replica", "0")).code, 0);
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /replica 0 of rank 1 is on node 2 now/);
    assert.deepEqual(stdout.trim().split("\n").sort(), ["at work", "at work", "rank 0 is done", "rank 1 is done"]);
    run.assertNothingLeft();
  },
);

test("D5 a replica that has come to a node with ranks sends them large messages", limit, async () => {
  const rounds = 300;
  const run = new Run(
    [
      ...["run", "-n", "2", "--nodes", "3", "--protocol", "replication", "--sustain", "--replicate-ranks", "0"],
      ...[exchange, `${rounds}`, "10000"],
    ],
    { stdin: "3\n4\n", timeoutMs: 100_000 },
  );
  await run.printed("at work", 2);
  // Rank 1 has one replica: both of rank 0 get its messages, one of them through memory from now on.
  assert.equal((await moveOf(run)("--rank", "1", "--node", "0")).code, 0);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assertRounds(stdout, rounds);
  assert.match(stderr, /replica 0 of rank 1 is on node 0 now/);
  run.assertNothingLeft();
});

for (const [variant, ...how] of [["parallel"], ["parallel", "--compare", "hash"], ["mirror"]] as const) {
  const what = [variant, ...how].join(" ");
  test(`D5 ${what}: replicas are moved one after the other, also onto nodes that have ranks, and each node is killed once in between`, {
    ...limit,
    ...longUnless(false),
  }, async () => {
    const rounds = 2_000;
    const named = variant === "mirror" ? ["named"] : [];
    const run = new Run(
      [
        ...[
          "run",
          "-n",
          "2",
          "--nodes",
          "4",
          "--protocol",
          "replication",
          "--sustain",
          "--replication",
          variant,
          ...how,
        ],
        ...[exchange, `${rounds}`, "10000", ...named],
      ],
      { stdin: "3\n4\n", timeoutMs: 110_000 },
    );
    await run.printed("at work", 2);
    const move = moveOf(run);
    const isOver = (): boolean => run.child.exitCode !== null;
    const times = (what: string): number => run.stderr.split(what).length - 1;
    for (const [turn, words] of [
      ["--rank", "0", "--replica", "1", "--node", "1"],
      ["--rank", "1", "--replica", "0", "--node", "4"],
      ["--drain", "1"],
      ["--rank", "0", "--replica", "0", "--node", "3"],
    ].entries()) {
      const before = times(" now; ");
      const { code, stderr } = await move(...words);
      if (isOver()) break;
      assert.equal(code, 0, stderr);
      await until(() => times(" now; ") > before || isOver(), "it has been moved");
      if (isOver()) break;
      const back = times(" came back, ");
      const [victim] = run.processes().filter(({ name }) => /^banyan-node \d+$/.test(name));
      if (turn % 2 === 1 && victim !== undefined) {
        process.kill(victim.pid, "SIGKILL");
        await until(() => times(" came back, ") > back || isOver(), "the lost came back");
      }
    }
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assertRounds(stdout, rounds);
    assert.match(messages(stderr).at(-1)!, /replicas? moved/);
    run.assertNothingLeft();
  });
}

test("D5 a replica of a program in TypeScript moves where it calls mpi.checkpoint, and says how long it stood still", {
  ...limit,
  ...longUnless(false),
}, async () => {
  const counting = program(
    "moved-replica.ts",
    `
    import { mpi } from "banyan";
    const { world } = mpi;
    let { i, sum } = (mpi.restored() as { i: number; sum: number } | null) ?? { i: 0, sum: 0 };
    const got = new Int32Array(1);
    const other = 1 - world.rank;
    for (; i < 600; i++) {
      mpi.checkpoint({ i, sum });
      world.sendrecv(Int32Array.of(i * (world.rank + 1)), { dest: other }, got, { source: other });
      sum += got[0]!;
      if (i === 0) console.log("at work");
      const until = performance.now() + 10;
      while (performance.now() < until);
    }
    console.log("sum " + sum);
  `,
  );
  const words = ["run", "-n", "2", "--nodes", "2", "--protocol", "replication", "--sustain", counting];
  const run = new Run(words, { timeoutMs: 100_000 });
  await run.printed("at work", 2);
  assert.equal((await moveOf(run)("--rank", "1")).code, 0);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.match(/sum \d+/g)?.sort(), ["sum 179700", "sum 359400"]);
  assert.match(stderr, /replica 1 of rank 1 is on node 2 now; it stood still for \d/);
  assert.match(stderr, /1 replica moved \([\d.]+ MB, stood still for \d+ ms\)/);
  run.assertNothingLeft();
});
