/** Checkpoints when somebody wants them, and what cannot be wanted. Rows L3, L4, V4, X7. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch } from "banyan";
import { banyan, program, Run } from "./harness.ts";

/** A machine that compiles for the first time, and does other things as well. */
const timeoutMs = 120_000;
const limit = { timeout: timeoutMs };

/** Neighbours exchange numbers for a while; rank 1 computes without an MPI call at first, if it is told to. */
const steps = program(
  "steps.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, ranks, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) printf("under way\\n"), fflush(stdout);
  if (rank == 1 && argc > 2) {
    volatile double x = 0;
    for (double end = MPI_Wtime() + atof(argv[2]); MPI_Wtime() < end;) x += 1;
  }
  for (int i = 0; i < atoi(argv[1]); i++) {
    int got;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum += got;
    usleep(1000);
  }
  printf("%d: %d\\n", rank, sum);
  MPI_Finalize();
}
`,
);

test("V4: a job takes checkpoints of all its sets when it is told, and goes on", limit, async () => {
  const job = launch(steps, { ranks: 4, nodes: 2, protocol: "logging", args: ["1500"] });
  const sets = new Set<number>();
  for await (const event of job) {
    if (event.kind === "line" && event.text === "under way") job.checkpoint();
    if (event.kind === "checkpoint") sets.add(event.set);
  }
  const { code, logging } = await job.done;
  assert.equal(code, 0);
  assert.deepEqual([...sets].sort(), [0, 1]);
  assert.equal(logging!.checkpoints, 2);
});

test("V4: `banyan checkpoint` tells a job on this machine", limit, async () => {
  const run = new Run(["run", "-n", "2", "--protocol", "logging", steps, "1500"], { timeoutMs });
  await run.printed("under way");
  const told = await banyan(["checkpoint", String(run.child.pid)]);
  assert.deepEqual([told.code, told.stderr], [0, ""]);
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /; 1 checkpoint;/);
});

test("X7: `banyan checkpoint` signals nothing but a job", limit, async () => {
  for (const pid of ["1", "0", "x", String(process.pid)]) {
    const { code, stderr } = await banyan(["checkpoint", pid]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`Cannot reach job ${pid}: `));
  }
});

test("L3: sets from a file; only ranks of one node can be one", limit, async () => {
  const file = program("sets.txt", "0\n1\n2-3\n");
  const run = await banyan(["run", "-n", "4", "--nodes", "2", "--protocol", "logging", "--sets", file, steps, "10"], {
    timeoutMs,
  });
  assert.equal(run.code, 0, run.stderr);
  const split = program("split.txt", "1 2\n");
  const refused = await banyan([
    "run",
    "-n",
    "4",
    "--nodes",
    "2",
    "--protocol",
    "logging",
    "--sets",
    split,
    steps,
    "10",
  ]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Cannot use these sets: ranks 1, 2 are one set and not on one node/);
});

test("X7: what makes no sense under message logging is refused in one line", limit, async () => {
  const refusals: [string[], RegExp][] = [
    [["--checkpoint-every", "1s"], /Cannot take checkpoints: only --protocol logging does/],
    [["--protocol", "logging", "--sets", "nowhere.txt"], /Cannot read the sets from nowhere.txt: /],
    [["--protocol", "logging", "--checkpoint-every", "1ms"], /Cannot take a checkpoint every 1 ms/],
    [["--protocol", "logging", "--ranks-per-thread", "2"], /several ranks into a thread under --protocol logging/],
    [["--protocol", "logging", "--freeze-at", "1s", "--job-dir", "x"], /Cannot freeze a job under --protocol logging/],
  ];
  for (const [options, message] of refusals) {
    const { code, stderr } = await banyan(["run", "-n", "2", ...options, steps, "1"]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split("\n").length, 1, stderr);
  }
});
