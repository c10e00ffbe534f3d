/** V1, V4: images of checkpoints with checkpoint servers, processes of their own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const timeoutMs = 100_000;

/** Neighbours add numbers, with a memory that has something in it; what is printed depends on every step. */
const ring = program(
  "ring.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, ranks, steps = atoi(argv[1]), got;
  unsigned sum = 1;
  enum { count = 1 << 18 };
  unsigned *state = malloc(count * sizeof *state);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < count; i++) state[i] = i * 2654435761u + rank;
  for (int i = 0; i < steps; i++) {
    MPI_Sendrecv(&sum, 1, MPI_UNSIGNED, (rank + 1) % ranks, 0, &got, 1, MPI_UNSIGNED, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum = 31 * sum + got + state[(i * 7919) % count];
    if (i == 100 && rank == 0) printf("under way\\n"), fflush(stdout);
    usleep(1000);
  }
  printf("%d: %u\\n", rank, sum);
  MPI_Finalize();
}
`,
);
const steps = 700;
const size = ["-n", "4", "--nodes", "2"];

/** What the ring prints, computed as its ranks do. */
const ringLines = ((): string[] => {
  const ranks = [0, 1, 2, 3];
  let sums = ranks.map(() => 1);
  for (let i = 0; i < steps; i++) {
    const place = (i * 7919) % 2 ** 18;
    sums = ranks.map((rank) => {
      const left = sums[(rank + 3) % 4]!;
      return (Math.imul(31, sums[rank]!) + left + Math.imul(place, 2654435761) + rank) >>> 0;
    });
  }
  return [...sums.map((sum, rank) => `${rank}: ${sum}`), "under way"].sort();
})();

test("V4: ranks go on from images that a checkpoint server kept", { ...limit, ...long }, async () => {
  const logging = ["--protocol", "logging", "--checkpoint-every", "150ms", "--checkpoint-servers", "2"];
  const faults = ["--faults", "kill node 1 at checkpoint 2 of set 1"];
  const { code, stdout, stderr } = await banyan(["run", ...size, ...logging, ...faults, ring, `${steps}`], {
    timeoutMs,
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ringLines);
  assert.match(stderr, /1 node lost, 2 ranks restarted/);
  assert.doesNotMatch(stderr, /given up|cannot go on/);
});

test("V1: a checkpoint server that is killed is started again, and has what it had", {
  ...limit,
  ...long,
}, async () => {
  const logging = ["--protocol", "logging", "--checkpoint-every", "150ms", "--checkpoint-servers", "1"];
  const run = new Run(["run", ...size, ...logging, ring, `${steps}`], { stdin: "", timeoutMs });
  await run.printed("under way");
  process.kill(run.pidOf("banyan-checkpoint-server 0"), "SIGKILL");
  const said = "checkpoint server 0 failed: killed by SIGKILL; it is started again";
  await until(() => run.stderr.includes(said), said);
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ringLines);
  run.assertNothingLeft();
});

test("X3: `kill service checkpoint-server` in a fault plan, with a node at the same moment", {
  ...limit,
  ...long,
}, async () => {
  const logging = ["--protocol", "logging", "--checkpoint-every", "150ms", "--checkpoint-servers", "2"];
  const plan = "kill service checkpoint-server at checkpoint 2 of set 0; kill node 0 at checkpoint 2 of set 0";
  const { code, stdout, stderr } = await banyan(["run", ...size, ...logging, "--faults", plan, ring, `${steps}`], {
    timeoutMs,
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ringLines);
  assert.match(stderr, /fault plan: killed the checkpoint-server/);
  assert.match(stderr, /1 node lost, 2 ranks restarted/);
});

test("V4: what a program in TypeScript gives to mpi.checkpoint, too", { ...limit, ...long }, async () => {
  const path = program(
    "served.ts",
    `
    import { mpi } from "banyan";
    const { world } = mpi;
    const state = (mpi.restored() as { step: number; sum: number } | undefined) ?? { step: 0, sum: 1 };
    if (state.step > 0) console.error("rank " + world.rank + " goes on");
    const got = new Float64Array(1);
    while (state.step < 40) {
      const ranks = world.size;
      world.sendrecv(Float64Array.of(state.sum), { dest: (world.rank + 1) % ranks }, got, { source: (world.rank + ranks - 1) % ranks });
      state.sum = (state.sum * 3 + got[0]! + world.rank) % 1000003;
      state.step++;
      if (state.step % 10 === 0) mpi.checkpoint(state);
      if (state.step === 25 && world.rank === 0) console.log("under way");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
    console.log(world.rank + ": " + state.sum);
  `,
  );
  const args = [...size, "--protocol", "logging", "--checkpoint-servers", "1", path];
  const plain = await banyan(["run", ...size, path], { timeoutMs });
  const run = new Run(["run", ...args], { stdin: "", timeoutMs });
  await run.printed("under way");
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), sorted(plain.stdout));
  assert.match(stderr, /rank 2 goes on/);
});

test("X7: checkpoint servers without checkpoints are refused", limit, async () => {
  const { code, stderr } = await banyan(["run", "--checkpoint-servers", "1", ring, "1"]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Cannot use checkpoint servers: only --protocol logging, replication or channel-memory takes checkpoints/,
  );
});
