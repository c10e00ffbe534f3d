/** MPI's files in programs in C, with real processes and disks. Row M9. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { launch, type RunningJob, thaw } from "banyan";
import { banyan, inFolder, newFolder, program } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const files = resolve("test/programs/c/files.c");
const frozen = resolve("test/programs/c/frozen-files.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };
const limit = timeLimit(120_000);

for (const [name, ranks, ...options] of [
  ["alone", 1],
  ["on one node", 3],
  ["on two nodes", 4, "--nodes", "2"],
  ["taking turns in two threads", 4, "--ranks-per-thread", "2"],
] as const) {
  const when = longUnless(options[0] === "--nodes");
  test(`M9 files: ways to access, views, pointers, errors on ${ranks} ranks ${name}`, when, async () => {
    const folder = newFolder(`files-${ranks}-${options.length}`);
    const { code, stdout, stderr } = await inFolder(folder, () =>
      banyan(["run", "-n", `${ranks}`, ...options, files], patient),
    );
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder), ["empty.txt"], "nothing is left behind");
  });
}

test("M6: a program sees its working folder as the folder that was given to it, and goes to others", async () => {
  const folder = newFolder("working-folder");
  mkdirSync(join(folder, "below"));
  const path = program(
    "working-folder.c",
    `
    #include <errno.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(void) {
      char here[300];
      printf("%s %s\\n", getcwd(here, sizeof here), getcwd(NULL, 0));
      printf("%d %d\\n", getcwd(here, 2) == NULL, errno == ERANGE);
      printf("%d %d\\n", access("empty.txt", R_OK), chdir("below"));
      printf("%s %d %d\\n", getcwd(here, sizeof here), access("empty.txt", R_OK), access("../empty.txt", R_OK));
      return 0;
    }`,
  );
  const expected = `${folder} ${folder}\n1 1\n0 0\n${folder}/below -1 0\n`;
  for (const words of [["run"], ["sim", "--dir", "."]]) {
    const { code, stdout, stderr } = await inFolder(folder, () => banyan([...words, "-n", "1", path], patient));
    assert.equal(code, 0, stderr);
    assert.equal(stdout, expected);
  }
});

test("M9 files: simulated ranks have those of the folder they are given", async () => {
  const folder = newFolder("files-simulated");
  const { code, stdout, stderr } = await inFolder(folder, () =>
    banyan(["sim", "-n", "5", "--seed", "3", "--dir", ".", files], patient),
  );
  assert.equal(stdout, "0 errors on 5 ranks\n", stderr);
  assert.equal(code, 0);
});

test("M9 files: without a folder there are none, and a fatal error says which file and why", async () => {
  const path = program(
    "no-files.c",
    `#include <mpi.h>
    int main(int argc, char **argv) {
      MPI_File file;
      MPI_Init(&argc, &argv);
      MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
      MPI_File_open(MPI_COMM_WORLD, "some.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
      return MPI_Finalize();
    }`,
  );
  for (const run of [
    ["run", "-n", "2", "--sandbox", path],
    ["sim", "-n", "2", path],
  ]) {
    const { code, stderr } = await banyan(run, patient);
    assert.equal(code, 20, stderr);
    assert.match(
      stderr,
      /Cannot find "some\.bin": it is in no folder that the program was given.*MPI_FILE_NULL are fatal/,
    );
  }
});

/** Waits for its end; `onLine` hears of every line. */
async function linesOf(job: RunningJob, onLine: (text: string) => void = () => {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of job) {
    if (event.kind !== "line") continue;
    lines.push(event.text);
    onLine(event.text);
  }
  return lines;
}

for (const [ranks, nodes] of [
  [3, 1],
  [4, 2],
] as const) {
  const when = { ...limit, ...longUnless(false) };
  test(`M9 images: ${ranks} ranks on ${nodes} nodes are frozen with files open, and thawed twice`, when, async () => {
    const folder = newFolder(`frozen-files-${ranks}`);
    const steps = 40;
    await inFolder(folder, async () => {
      const first = launch(frozen, { ranks, nodes, args: [`${steps}`], jobFolder: "first" });
      await linesOf(first, (text) => text === "step 8" && first.freeze());
      assert.equal((await first.done).reason.kind, "frozen");
      const second = thaw("first", { jobFolder: "second" });
      await linesOf(second, (text) => text === "step 20" && second.freeze());
      assert.equal((await second.done).reason.kind, "frozen");
      // What was written after the image is written again: the earlier one is as good as the later.
      for (const image of ["second", "first"]) {
        const job = thaw(image);
        const lines = await linesOf(job);
        assert.equal(lines.at(-1), "0 wrong");
        assert.equal((await job.done).code, 0);
        const own = readFileSync("own.bin");
        assert.equal(own.length, 4 * ranks * steps);
      }
    });
    const hidden = readdirSync(folder).filter((name) => name.startsWith("."));
    assert.deepEqual(hidden, [], "no pointer is left behind");
  });
}
