/** Checkpoints when somebody wants them, and what cannot be wanted. Rows L3, L4, V4, X7. */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { banyan, program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

/** A machine that compiles for the first time, and does other things as well. */
const timeoutMs = 120_000;
const limit = timeLimit(timeoutMs);

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

test("V4: a job takes checkpoints of all its sets when it is told, and goes on", { ...limit, ...long }, async () => {
  const job = launch(steps, { ranks: 4, nodes: 2, protocol: "logging", args: ["1500"] });
  const sets = new Set<number>();
  for await (const event of job) {
    if (event.kind === "line" && event.text === "under way") job.checkpoint();
    if (event.kind === "checkpoint") sets.add(event.set);
  }
  const { code, recovery } = await job.done;
  assert.equal(code, 0);
  assert.deepEqual([...sets].sort(), [0, 1]);
  assert.equal(recovery!.checkpoints, 2);
});

/** Goes on until a file is there that its first argument names. */
const patient = program(
  "patient.c",
  `#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, isOver = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("under way\\n"), fflush(stdout);
  while (!isOver) {
    usleep(1000);
    isOver = rank == 0 && access(argv[1], F_OK) == 0;
    MPI_Bcast(&isOver, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
`,
);

test("V4: `banyan checkpoint` tells a job on this machine", limit, async () => {
  const folder = dirname(patient);
  const [job, over] = [join(folder, "job"), join(folder, "over")];
  const options = ["--protocol", "logging", "--job-dir", job, "--dir", folder];
  const run = new Run(["run", "-n", "2", ...options, patient, over], { timeoutMs });
  await run.printed("under way");
  const told = await banyan(["checkpoint", String(run.child.pid)]);
  assert.deepEqual([told.code, told.stderr], [0, ""]);
  const journal = join(job, "journal");
  await until(() => readFileSync(journal, "latin1").includes("checkpoint-committed"), "the checkpoint is committed");
  writeFileSync(over, "");
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

test("L3: sets from a file, placed whole; what no node has room for is refused", { ...limit, ...long }, async () => {
  const run = (sets: string) =>
    banyan(
      ["run", "-n", "4", "--nodes", "2", "--protocol", "logging", "--sets", program("sets.txt", sets), steps, "10"],
      {
        timeoutMs,
      },
    );
  const divided = await run("0\n1\n2-3\n");
  assert.equal(divided.code, 0, divided.stderr);
  const across = await run("1 2\n");
  assert.equal(across.code, 0, across.stderr);
  const refused = await run("1-3\n");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Cannot use these sets: ranks 1, 2, 3 are one set, and no node has room for them all; /);
});

/** Ranks of equal parity speak with each other, and with nobody else. */
const parity = program(
  "parity.c",
  `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, ranks, sum = 0, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 100; i++) {
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 2) % ranks, 0, &got, 1, MPI_INT, (rank + 2) % ranks, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum += got;
  }
  printf("%d: %d\\n", rank, sum);
  MPI_Finalize();
}
`,
);

test("L3 §6: --sets traffic measures once, then those who speak with each other are one set", {
  ...limit,
  ...long,
}, async () => {
  const file = join(dirname(parity), "traffic.json");
  const run = async () => {
    const sets = ["--sets", "traffic", "--traffic", file, "--faults", "kill node 1 at call 50"];
    const args = ["run", "-n", "4", "--nodes", "2", "--protocol", "logging", ...sets, parity];
    const { code, stdout, stderr } = await banyan(args, { timeoutMs });
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), ["0: 4950", "1: 4950", "2: 4950", "3: 4950"]);
    assert.match(stderr, /2 ranks restarted/);
    return stderr;
  };
  rmSync(file, { force: true });
  assert.match(await run(), /the traffic of this program is not known yet: every rank is a set in this run/);
  const { bytes } = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual([bytes.length, bytes[0][1], bytes[1][0], bytes[0][0]], [4, 0, 0, 0]);
  assert(bytes[0][2] >= 400 && bytes[3][1] >= 400, JSON.stringify(bytes));
  const again = await run();
  assert.match(again, / 0 B of messages/);
  assert.doesNotMatch(again, /not known yet/);
  writeFileSync(file, '{"bytes":[[1]]}');
  const refused = await banyan([
    "run",
    "-n",
    "4",
    "--protocol",
    "logging",
    "--sets",
    "traffic",
    "--traffic",
    file,
    parity,
  ]);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /Cannot use the traffic in .*: it is of 1 ranks, and the job has 4; remove it to measure again/,
  );
});

test(
  "X7: what makes no sense under message logging or with channel memories is refused in one line",
  limit,
  async () => {
    const refusals: [string[], RegExp][] = [
      [
        ["--checkpoint-every", "1s"],
        /Cannot take checkpoints: only --protocol logging, replication or channel-memory does/,
      ],
      [["--protocol", "logging", "--sets", "nowhere.txt"], /Cannot read the sets from nowhere.txt: /],
      [["--protocol", "logging", "--checkpoint-every", "1ms"], /Cannot take a checkpoint every 1 ms/],
      [
        ["--protocol", "channel-memory", "--ranks-per-thread", "2"],
        /several ranks into a thread under --protocol channel-memory/,
      ],
      [
        ["--protocol", "logging", "--freeze-at", "1s", "--job-dir", "x"],
        /Cannot freeze a job under --protocol logging/,
      ],
    ];
    for (const [options, message] of refusals) {
      const { code, stderr } = await banyan(["run", "-n", "2", ...options, steps, "1"]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
  },
);
