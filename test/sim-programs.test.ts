/** Programs in C on simulated ranks, as users run them: `banyan sim program.c`. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, program, sorted } from "./harness.ts";
import { long, tries } from "./long.ts";

const processes = resolve("test/programs/c/process.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

/** Who sends first is received first: what rank 0 prints is the order of messages. */
const race = program(
  "c/race.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
        else for (int i = 1; i < size; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf(" %d", value);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    srand(0);
    unsigned char bytes[4];
    extern int getentropy(void *, size_t);
    getentropy(bytes, sizeof bytes);
    printf("rank %d: %02x%02x at %.9f\\n", rank, bytes[0], bytes[1], MPI_Wtime());
    MPI_Finalize();
    return 0;
}
`,
);

async function sim(...args: string[]) {
  return await banyan(["sim", ...args], patient);
}

test("M6 sim: the same seed gives the same run, another one another order of messages", long, async () => {
  const first = await sim("-n", "12", "--nodes", "3", "--seed", "7", race);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /12 simulated ranks, seed 7, .* of virtual time, \d+ messages, \d+ events, exit 0/);
  const again = await sim("-n", "12", "--nodes", "3", "--seed", "7", race);
  assert.deepEqual([again.stdout, again.stderr], [first.stdout, first.stderr]);
  const other = await sim("-n", "12", "--nodes", "3", "--seed", "8", race);
  assert.equal(other.code, 0, other.stderr);
  const orderOf = (stdout: string) => /^( \d+)+/m.exec(stdout)![0];
  assert.notEqual(orderOf(other.stdout), orderOf(first.stdout));
});

test("M6 sim: many ranks, each heard of", async () => {
  const ranks = tries(64, 256);
  const { code, stdout, stderr } = await sim("-n", `${ranks}`, "--seed", "3", race);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/rank \d+: /g)?.length, ranks);
});

test("M6 sim: arguments, no standard input, sleep in virtual time, deep recursion", async () => {
  const echo = await sim("-n", "2", processes, "echo", "word");
  assert.deepEqual(sorted(echo.stdout), ["word (null) 3", "word (null) 3"]);
  assert.match(echo.stderr, /to stderr from 1/);
  const time = await sim(processes, "time");
  assert.equal(time.stdout, "slept well\n");
  assert.match(time.stderr, /50\.\d+ ms of virtual time/);
  assert.equal((await sim(processes, "jump")).stdout, "jumped 3, deep 100000\n");
});

for (const [what, wanted, words] of [
  ["exit", 7, /rank 1 failed after .*: exited with code 7/],
  ["abort", 9, /rank 1 aborted the job after .*MPI_Abort/],
  ["raise", 137, /rank 1 failed after .*SIGKILL/],
  ["trap", 136, /rank 1 failed after .*SIGFPE: integer division by zero in main/],
] as const) {
  test(`M6 sim: a program that ends by ${what} ends the world, and the message says how`, async () => {
    const { code, stderr } = await sim("-n", "2", processes, what);
    assert.equal(code, wanted, stderr);
    assert.match(stderr, words);
  });
}

test("M6 sim: no files, unless a folder is given", async () => {
  assert.notEqual((await sim(processes, "file", "package.json")).stdout.trim(), "opened");
  assert.equal((await sim("--dir", ".", processes, "file", "package.json")).stdout.trim(), "opened");
});

test("M6 sim: ranks that wait for each other for ever are named, with the calls they are in", async () => {
  const path = program(
    "c/stuck.c",
    `#include <mpi.h>
int main(int argc, char **argv) {
    int rank, value;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (rank == 0) MPI_Barrier(pair);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) return 0;
    MPI_Finalize();
    return 0;
}
`,
  );
  const { code, stderr } = await sim("-n", "3", path);
  assert.equal(code, 1);
  assert.match(stderr, /rank 0 waits in MPI_Barrier\n.*rank 1 waits in MPI_Recv\n.*rank 2 waits for the others/);
});

test("M6 sim: who only looks, at messages or at the clock, does not keep the others from running", async () => {
  const path = program(
    "c/polling.c",
    `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, value = 41, flag = 0, looks = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE), looks++;
        printf("%d after %s looks\\n", value, looks > 100 ? "many" : "few");
    } else {
        double start = MPI_Wtime();
        while (MPI_Wtime() < start + 1e-3) {}
        value++;
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
`,
  );
  const { code, stdout, stderr } = await sim("-n", "2", path);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "42 after many looks\n");
});

test("M6 sim: what cannot be simulated is refused in one line", async () => {
  const typescript = await sim("examples/pi.ts");
  assert.deepEqual([typescript.code, typescript.stdout], [2, ""]);
  assert.match(typescript.stderr, /Cannot simulate examples\/pi\.ts: only programs in C and C\+\+ can be/);
  const module = await banyan(["cc", "--no-capture", race, "-o", `${race}.wasm`], patient);
  assert.equal(module.code, 0, module.stderr);
  const plain = await sim(`${race}.wasm`);
  assert.equal(plain.code, 2);
  assert.match(plain.stderr, /compiled with --no-capture/);
});

/** The probe waits: nothing may be taken while the rank does not run. */
const setAside = program(
  "c/set-aside.c",
  `#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, value = 0;
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        printf("%d\\n", value);
    } else {
        usleep(1000);
        value = 7;
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
`,
);

test("M6: a matched probe that has to wait finds its message, in the simulator and where ranks take turns", async () => {
  for (const command of [["sim"], ["run", "--ranks-per-thread", "2"]]) {
    const { code, stdout, stderr } = await banyan([...command, "-n", "2", setAside], patient);
    assert.equal(stdout, "7\n", stderr);
    assert.equal(code, 0);
  }
});
