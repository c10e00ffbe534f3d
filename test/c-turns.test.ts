/** Ranks of a C program that share a thread: none of them keeps it from another one that it waits for. Row M6, ADR 22. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { launch } from "banyan";
import { inFolder, newFolder, program } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);

const main = (body: string): string => `#include <mpi.h>
  #include <stdio.h>
  #include <time.h>
  #include <sys/stat.h>
  int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ${body}
    return MPI_Finalize();
  }`;

/** What the three ranks of one thread print; `answer` may write to their standard input. */
async function linesOf(
  name: string,
  source: string,
  answer: (text: string, input: PassThrough) => void = () => {},
): Promise<string[]> {
  const path = program(`${name}.c`, source);
  const stdin = new PassThrough();
  const lines: string[] = [];
  await inFolder(newFolder(name), async () => {
    const job = launch(path, { ranks: 3, ranksPerThread: 3, stdin });
    for await (const event of job) {
      if (event.kind !== "line") continue;
      lines.push(event.text);
      answer(event.text, stdin);
    }
    assert.equal((await job.done).code, 0);
  });
  return lines;
}

for (const [name, look] of [
  ["stat", '!stat("there", &status)'],
  ["fopen", '(file = fopen("there", "r")) != NULL'],
] as const) {
  test(`M6 a rank that looks for a file with ${name} lets those run that make it`, {
    ...limit,
    ...longUnless(name === "fopen"),
  }, async () => {
    const source = main(`
      struct stat status;
      FILE *file;
      if (rank < 2) {
        while (!(${look})) {}
        printf("rank %d has found it\\n", rank);
      } else fclose(fopen("there", "w"));`);
    assert.equal((await linesOf(`look-${name}`, source)).length, 2);
  });
}

for (const [name, clock, seconds] of [
  ["MPI_Wtime", "MPI_Wtime()", 1],
  // Its first second may be over at once.
  ["time", "(double)time(NULL)", 2],
] as const) {
  test(`M6 a rank that reads ${name} until its time has come lets others run`, {
    ...limit,
    ...longUnless(name === "time"),
  }, async () => {
    const source = main(`
      double begin = ${clock};
      while (rank == 0 && ${clock} - begin < ${seconds}) {}
      if (rank != 1) printf("rank %d\\n", rank);
      fflush(stdout);`);
    assert.deepEqual(await linesOf(`clock-${name}`, source), ["rank 2", "rank 0"]);
  });
}

test("M6 a rank that waits for standard input lets others ask for it", limit, async () => {
  const source = main(`
    int number = 0;
    if (rank == 0) {
      if (scanf("%d", &number) != 1) return 1;
      printf("%d\\n", number);
    } else if (rank == 2) {
      printf("which number?\\n");
      fflush(stdout);
    }`);
  const lines = await linesOf("input", source, (text, input) => {
    if (text === "which number?") input.end("42\n");
  });
  assert.deepEqual(lines, ["which number?", "42"]);
});

test("X7 hundreds of ranks of a C program on a node, whose memory is their own", { ...limit, ...long }, async () => {
  const source = main(`
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\\n", sum);`);
  const job = launch(program("many.c", source), { ranks: 600, ranksPerThread: 300, memoryMb: 16 });
  const lines: string[] = [];
  for await (const event of job) if (event.kind === "line") lines.push(event.text);
  assert.deepEqual([(await job.done).code, lines], [0, ["179700"]]);
});
