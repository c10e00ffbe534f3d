/** Flags of V8, seen from outside: whatever Node runs a job, it prints the program's lines and the summary, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program } from "./harness.ts";
import { codeOf, lineOf, sourceFiles } from "./source-files.ts";

const summary = /^banyan: 2 ranks on 2 nodes, [\d.]+ s, exit 0\n$/;

test("X9 a job in TypeScript says nothing about flags", async () => {
  const hello = program("hello.ts", 'import { mpi } from "banyan"; mpi.world.barrier(); console.log("hello");');
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", "--nodes", "2", hello]);
  assert.match(stderr, summary);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: "hello\nhello\n" });
});

test("X9 a job in C runs, indirect calls included, and says nothing about flags", async () => {
  const hello = program(
    "hello.c",
    `#include <mpi.h>
     #include <stdio.h>
     static int once(int x) { return x; }
     static int twice(int x) { return 2 * x; }
     int main(int argc, char **argv) {
       int rank, sum;
       int (*volatile pick[])(int) = {once, twice};
       MPI_Init(&argc, &argv);
       MPI_Comm_rank(MPI_COMM_WORLD, &rank);
       int mine = pick[rank](rank + 1);
       MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
       printf("sum %d\\n", sum);
       MPI_Finalize();
       return 0;
     }`,
  );
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", "--nodes", "2", hello]);
  assert.match(stderr, summary);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: "sum 5\nsum 5\n" });
});

test("X9 flags are set in one place", () => {
  const offenders = sourceFiles()
    .filter(({ path }) => path !== "v8/flags.ts")
    .flatMap(({ path, text }) =>
      [
        ...codeOf(text).matchAll(/\bsetFlagsFromString\b/g),
        ...text.matchAll(/"--[a-z-]*(liftoff|interrupt-budget|wasm-)/g),
      ].map((match) => `src/${path}:${lineOf(text, match.index)}: ${match[0]}`),
    );
  assert.deepEqual(offenders, []);
});
