/** L6: payload logs that outgrow their memory, on real processes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messages, program, Run, sorted } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const logging = ["run", "-n", "2", "--nodes", "2", "--protocol", "logging", "--log-memory", "4"];

test(
  "L6 a program in TypeScript that takes no checkpoints: its log goes to the disk, is read again, and it is told once",
  limit,
  async () => {
    const path = program(
      "log-memory.ts",
      `
    import { mpi } from "banyan";
    const { world } = mpi;
    const rounds = 200;
    // 40 MB: large ones and many small ones.
    const large = new Int32Array(50_000);
    const small = new Int32Array(10);
    let sum = 0;
    for (let i = 0; i < rounds; i++) {
      if (world.rank === 0) {
        world.send(large.fill(i), { dest: 1 });
        for (let j = 0; j < 10; j++) world.send(small.fill(i + j), { dest: 1 });
        world.recv(small, { source: 1 });
      } else {
        world.recv(large, { source: 0 });
        sum += large[0]! + large[49_999]!;
        for (let j = 0; j < 10; j++) {
          world.recv(small, { source: 0 });
          sum += small[9]!;
        }
        world.send(small, { dest: 0 });
      }
      if (i % 50 === 0) console.log(world.rank + " after " + i);
    }
    console.log(world.rank + " " + sum);
  `,
    );
    const run = new Run([...logging, path], { stdin: "", timeoutMs: 100_000 });
    await run.printed("1 after 100");
    process.kill(run.nodePid(1), "SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    const sum = Array.from({ length: 200 }, (_, i) => 2 * i + 10 * i + 45).reduce((a, b) => a + b);
    const expected = [0, 1].flatMap((rank) => [0, 50, 100, 150].map((i) => `${rank} after ${i}`));
    assert.deepEqual(sorted(stdout), [...expected, "0 0", `1 ${sum}`].sort());
    const warnings = messages(stderr).filter((line) => line.includes("the payload logs of"));
    assert.equal(warnings.length, 1, stderr);
    assert.match(warnings[0]!, /sent to ranks 1 grow, .* because the program takes no checkpoints/);
    run.assertNothingLeft();
  },
);

test("L6 a C program whose log is full is asked for checkpoints, and its log is trimmed", {
  ...limit,
  ...long,
}, async () => {
  const path = program(
    "log-memory.c",
    `
    #include <mpi.h>
    #include <stdio.h>
    #include <stdlib.h>
    int main(int argc, char **argv) {
      MPI_Init(&argc, &argv);
      int rank;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      static int large[50000];
      long sum = 0;
      for (int i = 0; i < 300; i++) {
        if (rank == 0) {
          for (int j = 0; j < 50000; j++) large[j] = i;
          MPI_Send(large, 50000, MPI_INT, 1, 0, MPI_COMM_WORLD);
          MPI_Recv(large, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(large, 50000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          sum += large[0] + large[49999];
          MPI_Send(large, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
        if (i % 100 == 0) { printf("%d after %d\\n", rank, i); fflush(stdout); }
      }
      printf("%d %ld\\n", rank, sum);
      MPI_Finalize();
      return 0;
    }
  `,
  );
  const run = new Run([...logging, "--memory", "64", path], { stdin: "", timeoutMs: 100_000 });
  await run.printed("1 after 200");
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  const lines = [0, 1].flatMap((rank) => [0, 100, 200].map((i) => `${rank} after ${i}`));
  assert.deepEqual(sorted(stdout), [...lines, "0 0", "1 89700"].sort());
  run.assertNothingLeft();
  assert.match(stderr, / [1-9]\d* checkpoints?/, stderr);
});

/** 120 MB under way between ranks of 64 MB, taken last first, a kill among them. */
for (const sets of ["node", "rank"]) {
  const when = { ...limit, ...longUnless(false) };
  test(
    `L6 messages that nobody takes for long leave memory: taken in the opposite order, --sets ${sets}`,
    when,
    async () => {
      const path = program(
        "log-flood.c",
        `
      #include <mpi.h>
      #include <stdio.h>
      int main(int argc, char **argv) {
        enum { messages = 600, count = 50000 };
        static int block[count];
        int rank;
        long sum = 0;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) {
          for (int i = 0; i < messages; i++) {
            for (int j = 0; j < count; j++) block[j] = i + j;
            MPI_Send(block, count, MPI_INT, 1, i, MPI_COMM_WORLD);
          }
          printf("all sent\\n");
          fflush(stdout);
        } else {
          for (int i = messages - 1; i >= 0; i--) {
            MPI_Recv(block, count, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int j = 0; j < count; j++) sum += block[j] == i + j;
            if (i == messages / 2) { printf("half\\n"); fflush(stdout); }
          }
          printf("%ld of %d right\\n", sum, messages * count);
        }
        MPI_Finalize();
        return 0;
      }
    `,
      );
      const where = sets === "rank" ? ["--nodes", "1"] : ["--nodes", "2"];
      const protocol = ["--protocol", "logging", "--sets", sets, "--log-memory", "4", "--memory", "64"];
      const victim = sets === "rank" ? "rank" : "node";
      const args = ["run", "-n", "2", ...where, ...protocol, "--faults", `kill ${victim} 1 at call 300`, path];
      const run = new Run(args, { stdin: "", timeoutMs: 100_000 });
      const { code, stdout, stderr } = await run.ended;
      assert.equal(code, 0, stderr);
      assert.deepEqual(sorted(stdout), ["30000000 of 30000000 right", "all sent", "half"]);
      assert.match(stderr, /1 rank restarted/);
      run.assertNothingLeft();
    },
  );
}
