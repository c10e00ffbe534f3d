/** Programs in C, run as users run them: compiled by the first command, cached for the second. Row M6. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, program, sorted } from "./harness.ts";
import { longUnless } from "./long.ts";

const sweep = resolve("test/programs/c/sweep.c");
const processes = resolve("test/programs/c/process.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

for (const [ranks, nodes] of [
  [1, 1],
  [2, 1],
  [5, 1],
  [4, 2],
] as const) {
  test(
    `M6: messages, operations, callbacks, datatypes and files on ${ranks} ranks, nodes: ${nodes}`,
    longUnless(ranks > 2),
    async () => {
      const { code, stdout, stderr } = await banyan(["run", "-n", `${ranks}`, "--nodes", `${nodes}`, sweep], patient);
      assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
      assert.equal(code, 0);
    },
  );
}

test("M6: arguments, environment, standard streams", async () => {
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", processes, "echo", "word"], {
    ...patient,
    stdin: "one\ntwo\n",
    env: { BANYAN_TEST_WORD: "from outside" },
  });
  assert.equal(code, 0, stderr);
  const lines = ["read one", "read two", "word from outside 3", "word from outside 3"];
  assert.deepEqual(sorted(stdout), lines);
  assert.match(stderr, /to stderr from 0/);
  assert.match(stderr, /to stderr from 1/);
});

test("M6: setjmp, deep recursion, sleep, and memory that comes to an end", async () => {
  const run = async (what: string, ...options: string[]) =>
    (await banyan(["run", ...options, processes, what], patient)).stdout;
  assert.equal(await run("jump"), "jumped 3, deep 100000\n");
  assert.equal(await run("time"), "slept well\n");
  assert.equal(await run("memory", "--memory", "256"), "got enough, errno ENOMEM\n");
});

for (const [what, wanted, words] of [
  ["exit", 7, /rank 1 .*exited with code 7/],
  ["abort", 9, /rank 1 .*MPI_Abort/],
  ["raise", 137, /rank 1 .*SIGKILL/],
  ["trap", 136, /rank 1 .*SIGFPE: integer division by zero in main/],
  ["missing", 55, /MPI_Win_create/],
] as const) {
  test(`M6 M10: a program that ends by ${what} ends the job, and the message says how`, async () => {
    const { code, stderr } = await banyan(["run", "-n", "2", processes, what], patient);
    assert.equal(code, wanted, stderr);
    assert.match(stderr, words);
  });
}

for (const [ranks, nodes, together] of [
  [5, 1, 5],
  [6, 2, 2],
] as const) {
  test(`M6: ${ranks} ranks on ${nodes} nodes, ${together} in a thread, take turns`, async () => {
    const size = ["-n", `${ranks}`, "--nodes", `${nodes}`, "--ranks-per-thread", `${together}`];
    const { code, stdout, stderr } = await banyan(["run", ...size, sweep], patient);
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0);
  });
}

test("M6: with more ranks than cores, one that looks without end lets the others work", async (t) => {
  const ranks = 2 * availableParallelism() + 1;
  if (ranks > 33) return t.skip("too many cores");
  const path = program(
    "looks.c",
    `#include <mpi.h>
    #include <stdio.h>
    int main(int argc, char **argv) {
      int rank, size, there, word = 0;
      double looks = 0, all;
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      for (int round = 0; round < 50; round++) {
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        do {
          MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
          looks++;
        } while (!there);
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank > 0) MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
      }
      MPI_Reduce(&looks, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("%.0f\\n", all / 50 / size);
      return MPI_Finalize();
    }`,
  );
  const { code, stdout, stderr } = await banyan(["run", "-n", `${ranks}`, path], patient);
  assert.equal(code, 0, stderr);
  // Some hundred when cores are given away; tens of thousands when the system has to take them.
  assert.ok(Number(stdout) < 8000, `${stdout.trim()} looks for each message`);
});

test("M6: ranks that share a thread: one that tests without end, one that sleeps and one that fails", async () => {
  const path = program(
    "turns.c",
    `#include <mpi.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      int rank, flag = 0, word = 7;
      MPI_Request request;
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0) {
        MPI_Irecv(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        printf("got %d\\n", word);
      }
      if (rank == 1) usleep(200000);
      if (rank == 2) MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Finalize();
      return rank == 1 ? 3 : 0;
    }`,
  );
  const { code, stdout, stderr } = await banyan(["run", "-n", "3", "--ranks-per-thread", "3", path], patient);
  assert.equal(stdout, "got 7\n");
  assert.equal(code, 3, stderr);
  assert.match(stderr, /rank 1 on node 0 failed .* exited with code 3/);
});

test("M6: who ends with an error after MPI_Finalize cuts nobody short", async () => {
  const path = program(
    "all-say-why.c",
    `#include <mpi.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      int rank;
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0) {
        usleep(300000);
        fprintf(stderr, "rank 0 says why\\n");
      }
      MPI_Finalize();
      return 2;
    }`,
  );
  const { code, stderr } = await banyan(["run", "-n", "3", path], patient);
  assert.equal(code, 2);
  assert.match(stderr, /rank 0 says why\n/);
});

test("M6: the current folder is given, others are not unless named, and --sandbox gives none", async () => {
  const run = async (file: string, ...options: string[]) =>
    (await banyan(["run", ...options, processes, "file", file], patient)).stdout.trim();
  assert.equal(await run("package.json"), "opened");
  assert.equal(await run(resolve("package.json")), "opened");
  assert.notEqual(await run("/etc/hostname"), "opened");
  assert.equal(await run("/etc/hostname", "--dir", "/etc"), "opened");
  assert.notEqual(await run("package.json", "--sandbox"), "opened");
});

test("M6: what does not compile is reported as clang does, and nothing runs", async () => {
  const path = program("c/wrong.c", "#include <mpi.h>\nint main(void) { retrun 0; }\n");
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", path], patient);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /wrong\.c:2:18: error: use of undeclared identifier 'retrun'/);
});
