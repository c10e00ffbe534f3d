/** A disk without room for a checkpoint: the job goes on with the one before, and says so. Needs namespaces of Linux for a small disk. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { newFolder, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

/** Rounds of messages; from a third of them on each rank has more memory than the disk has room for. */
const growing = program(
  "full-disk-growing.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, rounds = atoi(argv[1]), value = 0;
  unsigned noise = 1;
  unsigned *much = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < rounds; i++) {
    if (i == rounds / 3) {
      much = malloc(24 << 20);
      for (int j = 0; j < 6 << 20; j++) much[j] = noise = noise * 1664525u + 1013904223u;
    }
    // No clock: each reading of one is an event, which is written down.
    for (volatile int work = 0; work < 4000000; work++);
    int other = 1 - rank;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value = value * 3 + rank + i;
  }
  if (rank == 0) printf("%d %u\\n", value, much[12345]);
  MPI_Finalize();
}
`,
);

const smallDisk = (folder: string): string[] => [
  "unshare",
  "-rm",
  "sh",
  "-c",
  `mount -t tmpfs -o size=12m none ${folder} && exec "$0" "$@"`,
];
const isPossible = spawnSync("unshare", ["-rm", "true"]).status === 0;

test("V4 V7: a disk that is full for a checkpoint: the job goes on with the one before and says so", {
  ...timeLimit(240_000),
  ...(isPossible ? long : { skip: "this system gives no namespaces" }),
}, async () => {
  const size = ["-n", "2", "--nodes", "2"];
  const plain = await new Run(["run", "-q", ...size, growing, "400"], { stdin: "", timeoutMs: 100_000 }).ended;
  assert.equal(plain.code, 0, plain.stderr);
  for (const protocol of ["logging", "channel-memory"]) {
    const folder = newFolder(`full-${protocol}`);
    const options = ["--protocol", protocol, "--checkpoint-every", "1s", "--job-dir", join(folder, "job")];
    const command = [...smallDisk(folder), process.execPath, join(process.cwd(), "bin/banyan.js")];
    const faults = ["--faults", "kill node 1 at call 300 of rank 1"];
    const run = new Run(["run", ...size, ...options, ...faults, growing, "400"], {
      stdin: "",
      timeoutMs: 100_000,
      command,
    });
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.equal(stdout, plain.stdout);
    assert.match(stderr, /checkpoint \d+ of set \d was given up: .*the disk is full/);
    assert.match(stderr, /node 1 \(rank 1\) failed after .*; it is started again/);
  }
});
