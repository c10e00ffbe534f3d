/**
 * V4: images that hold only what has changed since an earlier one: what is kept of them, and ranks that go on from such an image and all
 * that it builds upon.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-chains-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/**
 * A large table, of which each step changes a little: what is printed depends on all of it. It is there before the first MPI call, and so
 * in the first image.
 */
const table = program(
  "chain-table.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  enum { count = 1 << 18 };
  int rank, ranks, steps = atoi(argv[1]);
  unsigned *table = malloc(count * sizeof *table), sum, got;
  for (int i = 0; i < count; i++) table[i] = i * 2654435761u;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sum = rank;
  for (int i = 0; i < steps; i++) {
    MPI_Sendrecv(&sum, 1, MPI_UNSIGNED, (rank + 1) % ranks, 0, &got, 1, MPI_UNSIGNED, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum = table[i % 50 * 5000] = 31 * sum + got + table[i * 7919 % count];
    usleep(1000);
  }
  for (int i = 0; i < count; i++) sum = 31 * sum + table[i];
  printf("%d: %u\\n", rank, sum);
  MPI_Finalize();
}
`,
);
const steps = 1500;

/** What the ranks print, computed as they do. */
const lines = ((): string[] => {
  const ranks = [0, 1, 2, 3];
  const count = 2 ** 18;
  const tables = ranks.map(() => Uint32Array.from({ length: count }, (_, i) => Math.imul(i, 2654435761)));
  let sums = Uint32Array.from(ranks);
  for (let step = 0; step < steps; step++) {
    const next = sums.map((sum, rank) => {
      const left = sums[(rank + 3) % 4]!;
      return Math.imul(31, sum) + left + tables[rank]![(step * 7919) % count]!;
    });
    for (const rank of ranks) tables[rank]![(step % 50) * 5000] = next[rank]!;
    sums = next;
  }
  return ranks.map((rank) => {
    const sum = tables[rank]!.reduce((all, word) => (Math.imul(31, all) + word) >>> 0, sums[rank]!);
    return `${rank}: ${sum}`;
  });
})();

const versionOf = (image: string): number => readFileSync(image).readUInt32LE(8);

for (const { where, options, images } of [
  { where: "the job's folder", options: [], images: "checkpoints" },
  { where: "a checkpoint server", options: ["--checkpoint-servers", "1"], images: "checkpoint-server-0" },
]) {
  const when = { ...timeLimit(120_000), ...long };
  test(`V4: ranks go on from an image and those that it builds upon, in ${where}`, when, async () => {
    const job = mkdtempSync(join(folder, "job-"));
    const logging = ["--protocol", "logging", "--checkpoint-every", "60ms", "--patience", "3600000", ...options];
    const faults = ["--faults", "stop node 1 at checkpoint 6 of set 1"];
    const run = new Run(
      ["run", "-n", "4", "--nodes", "2", "--job-dir", job, ...logging, ...faults, table, `${steps}`],
      { stdin: "", timeoutMs: 100_000 },
    );
    const stopped = "fault plan: stopped node 1";
    await until(() => run.stderr.includes(stopped), stopped);
    const ofSet = join(job, images, "set-1");
    const numbers = readdirSync(ofSet)
      .map(Number)
      .sort((a, b) => a - b);
    const versions = numbers.map((number) => versionOf(join(ofSet, `${number}`, "2.image")));
    process.kill(run.nodePid(1), "SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), lines);
    assert.match(stderr, /1 node lost, 2 ranks restarted/);
    assert.doesNotMatch(stderr, /given up|cannot go on/);
    // Two whole ones, and four that build upon them.
    assert.deepEqual(
      [numbers, versions],
      [
        [1, 2, 3, 4, 5, 6],
        [1, 1, 2, 2, 2, 2],
      ],
    );
  });
}
