/** Standard input exactly once: a life that begins again reads the bytes that the one before read, and then those behind them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const lineCount = 1 << 14;
/** 1 MB. */
const input = Array.from(
  { length: lineCount },
  (_, i) => `line ${String(i).padStart(6, "0")} ${"x".repeat(51)}\n`,
).join("");

const echoC = program(
  "echo.c",
  `
  #include <mpi.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, more = 1, lines = 0, sum;
    char line[100];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int every = atoi(argv[1]);
    if (argc > 3) setvbuf(stdin, NULL, _IOFBF, atoi(argv[3]));
    while (more) {
      if (argc > 2) usleep(1000 * atoi(argv[2]));
      if (rank == 0) {
        for (int i = 0; i < every && more; i++) {
          more = fgets(line, sizeof line, stdin) != NULL;
          if (more) { fputs(line, stdout); lines++; }
        }
      }
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      int mine = rank;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) fprintf(stderr, "%d lines\\n", lines);
    MPI_Finalize();
    return 0;
  }
`,
);

const echoTs = program(
  "echo.mts",
  `
  import { createInterface } from "node:readline";
  import { mpi } from "banyan";
  const { world } = mpi;
  const more = new Int32Array(1);
  if (world.rank === 0) {
    let lines = 0;
    for await (const line of createInterface({ input: process.stdin })) {
      console.log(line);
      if (++lines % 1000 === 0) world.bcast(Int32Array.of(1));
    }
    world.bcast(Int32Array.of(0));
    console.error(lines + " lines");
  } else {
    do world.bcast(more); while (more[0] === 1);
  }
`,
);

const logging = ["run", "-n", "2", "--nodes", "2", "--protocol", "logging"];

async function assertEcho(args: readonly string[], killAt: readonly number[]): Promise<void> {
  const run = new Run([...logging, ...args], { stdin: input, timeoutMs: 150_000 });
  for (const line of killAt) {
    await run.printed(`line ${String(line).padStart(6, "0")}`);
    process.kill(run.nodePid(0), "SIGKILL");
  }
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout === input, true, `${stdout.length} bytes of ${input.length}`);
  assert.match(stderr, new RegExp(`^${lineCount} lines$`, "m"));
  run.assertNothingLeft();
}

test(
  "X2 a C program reads 1 MB exactly once while its node is killed twice, with checkpoints",
  { ...limit, ...long },
  () => assertEcho(["--checkpoint-every", "300ms", echoC, "200"], [4000, 9000]),
);

test("X2 the same without checkpoints: it reads everything again", { ...limit, ...long }, () =>
  // In larger pieces: every piece is a choice, which what is printed waits for.
  assertEcho([echoC, "1000", "0", "8192"], [3000, 8000]),
);

test("X2 a TypeScript program reads 1 MB exactly once while its node is killed twice", { ...limit, ...long }, () =>
  assertEcho([echoTs], [4000, 9000]),
);

test("M6 images: what a rank was given of standard input and has not read is frozen with it", {
  ...limit,
  ...long,
}, async () => {
  const job = folderOf("echo-job");
  const little = input.slice(0, 1 << 15);
  const run = new Run(["run", "-n", "2", "--freeze-at", "0.3s", "--job-dir", job, echoC, "10", "20"], {
    stdin: little,
  });
  const first = await run.ended;
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /frozen/);
  const second = await new Run(["thaw", job], { stdin: "the input of the thawed job\n" }).ended;
  assert.equal(second.code, 0, second.stderr);
  const all = first.stdout + second.stdout;
  assert(all.endsWith("the input of the thawed job\n"));
  const old = all.slice(0, -"the input of the thawed job\n".length);
  assert(first.stdout.length > 0 && first.stdout.length < little.length, "it was frozen on the way");
  assert(old === little, `${old.length} bytes of ${little.length}`);
});
