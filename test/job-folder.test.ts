/** `--job-dir` means one thing: everything of a job that outlives its command is there (docs/job-folder.md). */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { jobStateFrom } from "../src/core/service/job-state.ts";
import { decodeJournal } from "../src/core/service/journal.ts";
import { readImageHeader } from "../src/real/image/read-image.ts";
import { banyan, folderOf, newFolder, program, Run, until } from "./harness.ts";
import { timeLimit } from "./patience.ts";

/** A machine that compiles for the first time, and does other things as well. */
const limit = timeLimit(120_000);
const timeoutMs = 60_000;

/** Barriers for as long as it is not told to end: so many, then a return of that code. */
const rounds = program(
  "job-folder-rounds.c",
  `#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < atoi(argv[1]); i++) MPI_Barrier(MPI_COMM_WORLD);
  if (atoi(argv[2]) != 0) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
  MPI_Finalize();
}
`,
);
const endless = `${2 ** 31 - 1}`;
const contents = (folder: string): string[] => readdirSync(folder).sort();

function recordsIn(folder: string) {
  const read = decodeJournal(readFileSync(join(folder, "journal")));
  assert(read.kind === "read", "problem" in read ? read.problem : "");
  return read.records;
}

test("V1: a job whose command is killed leaves journal, program and committed images in its folder, and nothing else", {
  ...limit,
}, async () => {
  const [folder, temporary] = [folderOf("killed-job"), mkdtempSync(join(newFolder("killed"), "tmp-"))];
  const logging = ["--protocol", "logging", "--checkpoint-every", "100ms"];
  const args = ["run", "-n", "4", "--nodes", "2", ...logging, "--job-dir", folder, rounds, endless, "0"];
  const run = new Run(args, { stdin: "", timeoutMs, env: { TMPDIR: temporary } });
  const images = (set: number) => join(folder, "checkpoints", `set-${set}`);
  const areTaken = (set: number): boolean => {
    try {
      return readdirSync(images(set)).some((number) => Number(number) > 1);
    } catch {
      return false;
    }
  };
  await until(() => areTaken(0) && areTaken(1), "both sets have committed a checkpoint");
  run.child.kill("SIGKILL");
  await run.ended;
  await until(() => run.processes().length === 0 && readdirSync(temporary).length === 0, "nothing of the run is left");
  assert.deepEqual(contents(folder), [
    "checkpoints",
    "event-log",
    "journal",
    "output",
    "processes",
    "program.wasm",
    "run.json",
  ]);
  const records = recordsIn(folder);
  assert.equal(jobStateFrom(records).dispatcher.outcome, undefined);
  for (const [set, ranks] of [
    [0, [0, 1]],
    [1, [2, 3]],
  ] as const) {
    const committed = records.flatMap((record) =>
      record.kind === "checkpoint-committed" && record.set === set ? [record.checkpoint.number] : [],
    );
    const newest = committed.at(-1) ?? 0;
    assert(newest > 0);
    for (const rank of ranks) readImageHeader(join(images(set), `${newest}`, `${rank}.image`), { rank });
  }
});

test("V1: a job that ends badly leaves its folder as a successor would need it, one that ends well leaves it empty", {
  ...limit,
}, async () => {
  const run = async (code: number, ...args: string[]): Promise<string[]> => {
    const folder = folderOf(`ends-${code}-${args.length}`);
    const ended = await banyan(["run", "-n", "2", "--nodes", "2", "--job-dir", folder, ...args], { timeoutMs });
    assert.equal(ended.code, code, ended.stderr);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    return contents(folder);
  };
  const logging = ["--protocol", "logging"];
  assert.deepEqual(await run(0, ...logging, rounds, "10", "0"), []);
  assert.deepEqual(await run(0, rounds, "10", "0"), []);
  assert.deepEqual(await run(7, ...logging, rounds, "10", "7"), [
    "event-log",
    "journal",
    "output",
    "processes",
    "program.wasm",
    "run.json",
  ]);
  assert.deepEqual(await run(7, rounds, "10", "7"), ["journal", "program.wasm"]);
  const failing = program(
    "job-folder-failing.ts",
    "import { mpi } from 'banyan'; mpi.world.barrier(); process.exit(9);",
  );
  assert.deepEqual(await run(9, ...logging, failing), [
    "event-log",
    "journal",
    "output",
    "processes",
    "program.cjs",
    "run.json",
  ]);
  // Nobody could go on with a job that has not begun.
  assert.deepEqual(await run(1, program("job-folder-broken.c", "int main(void) { return x; }")), []);
});

test("M6 images: a frozen job leaves what a thaw needs; its journal goes with the run", limit, async () => {
  const jobFolder = folderOf("frozen-alone");
  const job = launch(rounds, { ranks: 2, args: [endless, "0"], jobFolder });
  for await (const event of job) if (event.kind === "started") job.freeze();
  assert.equal((await job.done).reason.kind, "frozen");
  assert.deepEqual(contents(jobFolder), ["0.image", "1.image", "job.json", "program.wasm"]);
});

test("X7: a job with a folder that cannot be frozen says why when it is to be", limit, async () => {
  const script = program("job-folder-script.ts", "await new Promise((resolve) => setTimeout(resolve, 300));");
  const refusals: [ReturnType<typeof launch>, RegExp][] = [
    [
      launch(script, { jobFolder: folderOf("no-freeze-1") }),
      /Cannot freeze the job: only programs in C and C\+\+ can be/,
    ],
    [
      launch(rounds, { args: ["1", "0"], protocol: "logging", jobFolder: folderOf("no-freeze-2") }),
      /Cannot freeze the job: it takes checkpoints instead/,
    ],
  ];
  for (const [job, why] of refusals) {
    assert.throws(() => job.freeze(), why);
    assert.equal((await job.done).code, 0);
  }
});
