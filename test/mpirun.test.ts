/** The habits of those who come from other MPIs: words of mpirun, several programs, names in the environment. Row M7. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { messages, newFolder, program, Run, type StartOptions, sorted } from "./harness.ts";

const bin = (name: string): string[] => [process.execPath, join(process.cwd(), "bin", name)];
const mpirun: StartOptions = { stdin: "", command: bin("mpirun.js"), timeoutMs: 60_000 };

const who = program(
  "who.ts",
  `const { OMPI_COMM_WORLD_RANK: r, OMPI_COMM_WORLD_SIZE: s, OMPI_COMM_WORLD_LOCAL_RANK: l, PMI_RANK, MPI_LOCALNRANKS, WORD } = process.env;
  console.log(r, s, l, PMI_RANK, MPI_LOCALNRANKS, WORD, process.argv[2] ?? "-");`,
);
const whoInC = program(
  "who.c",
  `#include <mpi.h>
  #include <stdio.h>
  #include <stdlib.h>
  int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%s %s %s %s %s %s %s\\n", getenv("OMPI_COMM_WORLD_RANK"), getenv("OMPI_COMM_WORLD_SIZE"),
           getenv("OMPI_COMM_WORLD_LOCAL_RANK"), getenv("PMI_RANK"), getenv("MPI_LOCALNRANKS"), getenv("WORD"),
           argc > 1 ? argv[1] : "-");
    if (rank != atoi(getenv("PMI_RANK")) || size != atoi(getenv("PMI_SIZE"))) return 1;
    MPI_Finalize();
    return 0;
  }`,
);

for (const [language, path] of [
  ["TypeScript", who],
  ["C", whoInC],
] as const) {
  test(`M7: mpirun's words, and rank and size in the environment: ${language}`, async () => {
    const words = ["-np", "3", "-npernode", "2", "-H", "localhost:8", "--oversubscribe", "-x", "WORD=hello"];
    const run = new Run([...words, "--bind-to", "core", path, "-np"], mpirun);
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), ["0 3 0 0 2 hello -np", "1 3 1 1 2 hello -np", "2 3 0 2 1 hello -np"]);
    assert.match(messages(stderr)[0]!, /^banyan: --bind-to core has no effect/);
  });

  test(`M7: several programs are one world: ${language}`, async () => {
    const other = program(
      path === who ? "other.ts" : "other.c",
      path === who
        ? `import { mpi } from "banyan"; console.log("other", mpi.world.rank, mpi.world.size, process.argv[2]);`
        : `#include <mpi.h>
          #include <stdio.h>
          int main(int argc, char **argv) {
            int rank, size;
            MPI_Init(&argc, &argv);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            printf("other %d %d %s\\n", rank, size, argv[1]);
            MPI_Finalize();
            return 0;
          }`,
    );
    const words = ["-np", "1", "--nodes", "2", "-x", "WORD=w", path, "a", ":", "-np", "2", other, "b", ":", path, "c"];
    const { code, stdout, stderr } = await new Run(words, mpirun).ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), ["0 4 0 0 2 w a", "3 4 1 3 2 w c", "other 1 4 b", "other 2 4 b"]);
  });
}

test("M7: --output-filename, -wdir and --tag-output", async () => {
  const folder = newFolder("wdir");
  const words = ["-np", "2", "-wdir", folder, "--tag-output", "--output-filename", "out", who];
  const { code, stdout, stderr } = await new Run(words, mpirun).ended;
  assert.equal(code, 0, stderr);
  assert.match(sorted(stdout)[1]!, /^\[1\] 1 2 /);
  assert.match(readFileSync(join(folder, "out/1/rank.1/stdout"), "utf8"), /^1 2 1 /);
});

for (const [why, words, expected] of [
  ["another machine", ["-H", "far", who], /^banyan: Cannot use host far: jobs run on this machine so far/],
  ["a native program", [process.execPath], /it is a native program.*compile it with banyan cc/],
  ["programs in two languages", [who, ":", whoInC], /either all programs are in C, or all are in TypeScript/],
  ["no program behind a colon", [who, ":", "-np", "2"], /^banyan: Cannot understand "-np 2" behind a ":"/],
] as const) {
  test(`M7: one line refuses ${why}`, async () => {
    const { code, stderr } = await new Run(words, mpirun).ended;
    assert.equal(code, 2);
    assert.match(stderr, expected);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  });
}

test("M7: mpicc and mpicxx are names of banyan cc and banyan c++", async () => {
  for (const name of ["mpicc", "mpicxx"]) {
    const { code, stdout } = await new Run(["--help"], { stdin: "", command: bin(`${name}.js`) }).ended;
    assert.equal(code, 0);
    assert.match(stdout, name === "mpicc" ? /^Usage: banyan cc / : /^Usage: banyan c\+\+ /);
  }
  const { bin: names } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.deepEqual(Object.keys(names), ["banyan", "mpirun", "mpiexec", "mpicc", "mpicxx"]);
});
