/** X2: what every rank prints is, byte for byte, what it prints when nobody is killed. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, folderOf, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const logging = ["run", "-n", "4", "--nodes", "2", "--label", "--protocol", "logging"];

/** Lines in pieces, with and without flushes, on both streams, long ones among them. */
const talker = program(
  "talker.c",
  `
  #include <mpi.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 150; i++) {
      printf("round %d of rank %d ", i, rank);
      if (i % 3 == 0) fflush(stdout);
      MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("heard %d\\n", value);
      // So that the job is not over before it is disturbed.
      usleep(5000);
      if (i % 10 == 0) for (int j = 0; j < 3000; j++) putchar('a' + (i + j) % 26);
      if (i % 10 == 0) printf(" end\\n\\n");
      if (i % 7 == 0) fprintf(stderr, "error %d of rank %d", i, rank);
      if (i % 14 == 0) fprintf(stderr, ", whole\\n");
    }
    fprintf(stderr, "\\n");
    printf("no line end");
    MPI_Finalize();
    return 0;
  }
`,
);

const talkerTs = program(
  "talker.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const { rank, size } = world;
  const value = new Int32Array(1);
  for (let i = 0; i < 150; i++) {
    process.stdout.write("round " + i + " of rank " + rank + " ");
    world.sendrecv(Int32Array.of(i), { dest: (rank + 1) % size }, value, { source: (rank + size - 1) % size });
    console.log("heard", value[0]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    if (i % 10 === 0) console.log("x".repeat(3000) + "\\n");
    if (i % 7 === 0) process.stderr.write("error " + i + " of rank " + rank);
    if (i % 14 === 0) console.error(", whole");
  }
  console.error();
  process.stdout.write("no line end");
`,
);

/** Of each rank, what it printed on each stream; without what we say ourselves. */
function byRank({ stdout, stderr }: Ended): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [stream, text] of Object.entries({ stdout, stderr })) {
    for (const line of text.split("\n")) {
      const rank = /^\[(\d)\] /.exec(line)?.[1];
      if (rank !== undefined) found[`${stream} ${rank}`] = `${found[`${stream} ${rank}`] ?? ""}${line}\n`;
    }
  }
  return found;
}

/**
 * Kills nodes, each when a round that the seed chooses has been printed: three times, or fewer where the job is over by then. Where
 * others keep the processors busy the job may be over before anybody looks: then it is tried again.
 */
async function killed(args: readonly string[], seed: number): Promise<Ended> {
  for (let trial = 1; ; trial++) {
    const ended = await tryToKill(args, seed);
    if (/^banyan: node \d \(.*\) failed .*: killed by SIGKILL; it is started again$/m.test(ended.stderr)) return ended;
    assert(trial < 3, `no node was killed: ${ended.stderr}`);
  }
}

async function tryToKill(args: readonly string[], seed: number): Promise<Ended> {
  const run = new Run(args, { stdin: "", timeoutMs: 100_000 });
  let isOver = false;
  void run.ended.then(() => {
    isOver = true;
  });
  let state = seed;
  for (const from of [3, 45, 90]) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    await run.printed(`[0] round ${from + 3 * ((state >>> 8) % 10)} `);
    const node = run.processes().find(({ name }) => name === `banyan-node ${(state >>> 4) % 2}`);
    if (!isOver && node !== undefined) process.kill(node.pid, "SIGKILL");
  }
  const ended = await run.ended;
  run.assertNothingLeft();
  return ended;
}

for (const [name, path, more, which] of [
  ["C, with checkpoints", talker, ["--checkpoint-every", "500ms"], limit],
  ["C, without", talker, [], { ...limit, ...long }],
  ["TypeScript", talkerTs, [], { ...limit, ...long }],
] as const) {
  test(`X2 output after random kills is that of a run without: ${name}`, which, async () => {
    const plain = await new Run([...logging.slice(0, 3), "--nodes", "2", "--label", path], {
      stdin: "",
      timeoutMs: 100_000,
    }).ended;
    assert.equal(plain.code, 0, plain.stderr);
    const expected = byRank(plain);
    assert.equal(Object.keys(expected).length, 8);
    for (const seed of long.skip === undefined ? [1, 2] : [1]) {
      const ended = await killed([...logging, ...more, path], seed);
      assert.equal(ended.code, 0, ended.stderr);
      const found = byRank(ended);
      for (const [which, text] of Object.entries(expected)) {
        assert(
          found[which] === text,
          `${which}, seed ${seed}: ${found[which]?.length} bytes instead of ${text.length}`,
        );
      }
    }
  });
}

test("X2 MPI's files too: collective writes, a shared pointer and what is read back", {
  ...limit,
  ...long,
}, async () => {
  const path = program(
    "mpi-files.c",
    `
    #include <mpi.h>
    #include <stdio.h>
    #include <stdlib.h>
    int main(int argc, char **argv) {
      MPI_Init(&argc, &argv);
      int rank, size, sum = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      char name[300];
      MPI_File table, log;
      sprintf(name, "%s/table", argv[1]);
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &table);
      sprintf(name, "%s/log", argv[1]);
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &log);
      for (int i = 0; i < 40; i++) {
        int mine = 100 * i + rank, next = 0;
        MPI_File_write_at_all(table, 4 * ((i % 5) * size + rank), &mine, 4, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_sync(table);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(table);
        MPI_File_read_at_all(table, 4 * ((i % 5) * size + (rank + 1) % size), &next, 4, MPI_BYTE, MPI_STATUS_IGNORE);
        if (next != 100 * i + (rank + 1) % size) { printf("%d instead of %d\\n", next, 100 * i + (rank + 1) % size); MPI_Abort(MPI_COMM_WORLD, 4); }
        sum += next;
        char line[32];
        int length = sprintf(line, "round %4d of rank %d\\n", i, rank);
        MPI_File_write_ordered(log, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i % 10 == 5) { printf("%d at %d\\n", rank, i); fflush(stdout); }
      }
      MPI_File_close(&table);
      MPI_File_close(&log);
      printf("%d ends with %d\\n", rank, sum);
      MPI_Finalize();
      return 0;
    }
  `,
  );
  const [plainFolder, folder] = [folderOf("mpi-files-plain"), folderOf("mpi-files")];
  mkdirSync(plainFolder);
  mkdirSync(folder);
  const plain = await new Run(["run", "-n", "4", "--dir", plainFolder, path, plainFolder], {
    stdin: "",
    timeoutMs: 100_000,
  }).ended;
  assert.equal(plain.code, 0, plain.stderr);
  const run = new Run([...logging, "--checkpoint-every", "1s", "--dir", folder, path, folder], {
    stdin: "",
    timeoutMs: 100_000,
  });
  await run.printed("0 at 15");
  process.kill(run.nodePid(1), "SIGKILL");
  await run.printed("3 at 25");
  process.kill(run.nodePid(0), "SIGKILL");
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  for (const name of ["table", "log"]) {
    assert.equal(readFileSync(join(folder, name), "latin1"), readFileSync(join(plainFolder, name), "latin1"));
  }
  run.assertNothingLeft();
});
