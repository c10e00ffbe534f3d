/** Files exactly once: after kills a program has left on the disk what it leaves without them. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const logging = ["run", "-n", "4", "--nodes", "2", "--protocol", "logging"];

/** Everything below a folder, with its contents. */
function tree(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory())
      Object.assign(found, { [`${below}${name}/`]: "" }, tree(path, `${below}${name}/`));
    else found[below + name] = readFileSync(path, "latin1");
  }
  return found;
}

async function filesOf(args: readonly string[], name: string, kills: readonly [text: string, node: number][]) {
  const folder = folderOf(name);
  mkdirSync(folder);
  const [first, ...rest] = args.toReversed();
  const run = new Run([...rest.toReversed(), "--dir", folder, first!, folder, "200"], {
    stdin: "",
    timeoutMs: 150_000,
  });
  for (const [text, node] of kills) {
    await run.printed(text);
    process.kill(run.nodePid(node), "SIGKILL");
  }
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  run.assertNothingLeft();
  return tree(folder);
}

/**
 * Every rank appends lines to a log and turns it over now and then, makes and removes folders, creates files that must not be there,
 * counts in a file by reading, adding and writing, and overwrites a table in place.
 */
const journal = program(
  "journal.c",
  `
  #include <fcntl.h>
  #include <mpi.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>
  #include <sys/stat.h>
  #include <unistd.h>
  static char name[300], other[300], line[100];
  static const char *path(char *into, const char *folder, const char *what, int rank, int number) {
    sprintf(into, "%s/%s.%d.%d", folder, what, rank, number);
    return into;
  }
  static void fail(const char *what) { perror(what); MPI_Abort(MPI_COMM_WORLD, 3); }
  int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *folder = argv[1];
    int rounds = atoi(argv[2]), turned = 0, value, from;
    FILE *log = fopen(path(name, folder, "log", rank, 0), "a");
    FILE *table = fopen(path(name, folder, "table", rank, 0), "w+");
    if (log == NULL || table == NULL) fail("open");
    for (int i = 0; i < rounds; i++) {
      // Whoever comes first, so that there is something to replay.
      if (rank == 0) {
        for (int j = 1; j < size; j++) {
          MPI_Status status;
          MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
          MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
        }
        value = i;
      } else {
        value = i;
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      fprintf(log, "rank %d, round %d, value %d\\n", rank, i, value);
      fflush(log);
      fseek(table, 8 * (i % 16), SEEK_SET);
      fprintf(table, "%07d\\n", i);
      fflush(table);
      if (i % 20 == 19) {
        fclose(log);
        if (rename(path(name, folder, "log", rank, 0), path(other, folder, "old", rank, ++turned)) != 0) fail("rename");
        log = fopen(path(name, folder, "log", rank, 0), "a");
      }
      if (i % 25 == 10) {
        int file = open(path(name, folder, "once", rank, i), O_CREAT | O_EXCL | O_WRONLY, 0644);
        if (file < 0) fail("exclusive");
        write(file, "here\\n", 5);
        close(file);
        if (mkdir(path(name, folder, "folder", rank, i), 0755) != 0) fail("mkdir");
      }
      if (i % 25 == 20) {
        if (unlink(path(name, folder, "once", rank, i - 10)) != 0) fail("unlink");
        if (rmdir(path(name, folder, "folder", rank, i - 10)) != 0) fail("rmdir");
      }
      // What is read back decides what is written.
      int count = 0;
      FILE *counter = fopen(path(name, folder, "counter", rank, 0), "r");
      if (counter != NULL) { fscanf(counter, "%d", &count); fclose(counter); }
      counter = fopen(path(name, folder, "counter", rank, 0), "w");
      fprintf(counter, "%d\\n", count + 1);
      fclose(counter);
      if (i % 100 == 99) { truncate(path(name, folder, "log", rank, 0), 10); printf("%d after %d\\n", rank, i); fflush(stdout); }
      if (i % 25 == 0) { printf("%d at %d\\n", rank, i); fflush(stdout); }
    }
    fclose(log);
    fclose(table);
    MPI_Finalize();
    return 0;
  }
`,
);

test("X2 a program that appends, renames, creates, removes and counts in files leaves what it leaves without kills", {
  ...limit,
  ...long,
}, async () => {
  const plain = await filesOf(["run", "-n", "4", journal], "journal-plain", []);
  assert.equal(plain["counter.3.0"], "200\n");
  assert.equal(plain["old.2.10"]?.split("\n").length, 21);
  const killed = await filesOf([...logging, journal], "journal-killed", [
    ["0 at 50", 0],
    ["3 at 100", 1],
    ["1 at 150", 0],
  ]);
  assert.deepEqual(killed, plain);
  const captured = await filesOf([...logging, "--checkpoint-every", "1s", journal], "journal-captured", [
    ["2 at 75", 1],
    ["0 at 125", 0],
    ["3 at 175", 1],
  ]);
  assert.deepEqual(captured, plain);
});

/** All ranks write records to one file, at its shared pointer. */
const records = program(
  "records.c",
  `
  #include <mpi.h>
  #include <stdio.h>
  #include <stdlib.h>
  int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[300], line[16];
    sprintf(name, "%s/records", argv[1]);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < atoi(argv[2]); i++) {
      sprintf(line, "%03d %05d\\n", rank, i);
      MPI_File_write_shared(file, line, 10, MPI_CHAR, MPI_STATUS_IGNORE);
      if (i % 25 == 0) { printf("%d at %d\\n", rank, i); fflush(stdout); }
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
  }
`,
);

test("X2, M9 ADR 32: records at a shared pointer are there once, whichever rank was killed near the lock", {
  ...limit,
  ...long,
}, async () => {
  const left = await filesOf([...logging, records], "records-killed", [
    ["1 at 50", 0],
    ["2 at 75", 1],
    ["0 at 125", 0],
    ["3 at 150", 1],
  ]);
  // Neither lock nor pointer is left.
  assert.deepEqual(Object.keys(left), ["records"]);
  const lines = Array.from({ length: 4 }, (_, rank) =>
    Array.from({ length: 200 }, (_, i) => `00${rank} ${String(i).padStart(5, "0")}`),
  );
  assert.deepEqual(left["records"]!.trim().split("\n").sort(), lines.flat().sort());
});
