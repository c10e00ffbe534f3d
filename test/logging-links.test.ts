/** X3: slow links, and faults while a log is full, on real processes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program, sorted } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const timeoutMs = 100_000;

/** The answer, and whether a message ever took longer than 25 ms. */
const path = program(
  "back-and-forth.c",
  `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, x = 1;
  double longest = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 200; i++) {
    double began = MPI_Wtime();
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x = (31 * x + rank) % 65521;
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (MPI_Wtime() - began > longest) longest = MPI_Wtime() - began;
  }
  printf("%d: %d\\n", rank, x);
  if (rank == 0 && longest > 0.025) printf("slow\\n");
  MPI_Finalize();
}
`,
);

for (const protocol of ["none", "logging"]) {
  test(`X3: a link that is delayed and restored loses nothing, protocol ${protocol}`, {
    ...limit,
    ...long,
  }, async () => {
    const kill = protocol === "none" ? "" : "; kill node 1 at call 150 of rank 0";
    const faults = `delay link 0-1 by 15ms at call 100 of rank 0 for 200ms${kill}`;
    const args = ["run", "-n", "2", "--nodes", "2", "--protocol", protocol, "--faults", faults, path];
    const { code, stdout, stderr } = await banyan(args, { timeoutMs });
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), await answer());
    assert.match(stderr, /fault plan: delayed link 0-1 by 15 ms, .* after the ranks began/);
    assert.match(stderr, /fault plan: restored link 0-1, /);
    if (kill !== "") assert.match(stderr, /1 rank restarted/);
  });
}

async function answer(): Promise<string[]> {
  const { stdout } = await banyan(["run", "-n", "2", path], { timeoutMs });
  return [...sorted(stdout).filter((line) => line !== "slow"), "slow"];
}

test("X3 L6: a node falls while its log is full", { ...limit, ...long }, async () => {
  const full = program(
    "full-log.c",
    `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  static int block[50000];
  int rank;
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 60; i++) {
    for (int j = 0; j < 50000; j++) block[j] = i + j;
    if (rank == 0) MPI_Send(block, 50000, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(block, 50000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += block[i];
  }
  printf("%d: %ld\\n", rank, sum);
  MPI_Finalize();
}
`,
  );
  const logging = ["--protocol", "logging", "--log-memory", "4"];
  const args = ["run", "-n", "2", "--nodes", "2", ...logging, "--faults", "kill node 0 at log full", full];
  const { code, stdout, stderr } = await banyan(args, { timeoutMs });
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ["0: 3540", "1: 3540"]);
  assert.match(stderr, /fault plan: killed node 0, /);
  assert.match(stderr, /1 rank restarted/);
});
