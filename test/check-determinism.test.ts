/** `banyan check-determinism`: programs whose sends depend on the order of messages or on clocks are found, others are not. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareSends, type SendDifference, whatDiffers } from "../src/core/ft/send-record/compare-sends.ts";
import { type RecordedRun, recordRun } from "../src/sim/c/recorded-run.ts";
import { banyan, folderOf, program } from "./harness.ts";
import { long, tries } from "./long.ts";

const patient = { timeoutMs: 120_000 };
const source = "test/programs/c/determinism.c";
const pages = 128;

async function compiled(): Promise<string> {
  program("modules/folder", "");
  const path = folderOf("modules/determinism.wasm");
  const { code, stderr } = await banyan(["cc", "-Wl,-z,stack-size=262144", source, "-o", path], patient);
  assert.equal(code, 0, stderr);
  return path;
}

const compiling = compiled();

/** The first difference from the first run, of so many. */
async function differenceOf(what: string, ranks: number, runs: number, firstSeed = 1): Promise<Found> {
  const module = new WebAssembly.Module(readFileSync(await compiling));
  const newMemory = () => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const record = (run: number) =>
    recordRun({ module, ranks, nodes: 1, args: ["program", what], run, firstSeed, newMemory });
  const first = record(0);
  assert.deepEqual(first.outcome, { kind: "finished" }, what);
  for (let run = 1; run < runs; run++) {
    const next = record(run);
    assert.deepEqual(next.outcome, { kind: "finished" }, what);
    const difference = compareSends(first.sends, next.sends);
    if (difference !== null) return { first, next, difference };
  }
  return { first, next: null, difference: null };
}

interface Found {
  readonly first: RecordedRun;
  readonly next: RecordedRun | null;
  readonly difference: SendDifference | null;
}

for (const [what, why, words, call] of [
  ["farm", "tasks go to whoever asks first", /./, "MPI_Send(1 MPI_INT)"],
  ["floats", "a sum in the order of arrival is sent", /^other bytes$/, "MPI_Send(1 MPI_DOUBLE)"],
  ["tells", "it sends how often it has looked", /^other bytes$/, "MPI_Reduce(1 MPI_LONG)"],
  ["clock", "it sends MPI_Wtime()", /^other bytes$/, "MPI_Send(1 MPI_DOUBLE)"],
  ["day", "it sends the time of the day", /^other bytes$/, "MPI_Send(1 MPI_DOUBLE)"],
  ["answers", "the same answers, in the order of requests", /^another destination/, "MPI_Send(1 MPI_INT)"],
] as const) {
  test(`R8 a program that is not send-deterministic is found, and its call named: ${why}`, async () => {
    const { next, difference } = await differenceOf(what, 4, 8);
    assert(difference !== null, "8 runs show it");
    assert.match(whatDiffers(difference), words);
    assert.equal(next!.calls[difference.other!.call], call);
    if (what === "farm") assert.equal(difference.rank, 0);
  });
}

for (const [what, why] of [
  ["integers", "sums of integers, received from any source"],
  ["polls", "loops of MPI_Test and MPI_Iprobe"],
  ["collectives", "collectives, several at a time, in several communicators; random numbers"],
] as const) {
  test(`R8 a program that is send-deterministic is found to be: ${why}`, async () => {
    const { first, difference } = await differenceOf(what, 5, tries(4, 60));
    assert.equal(difference, null);
    assert(first.sends.some(({ count }) => count > 3));
  });
}

test("R8 whatever the first seed, 8 runs show what depends on the order of messages", long, async () => {
  for (let seed = 1; seed <= 40; seed++) {
    for (const what of ["farm", "floats", "answers", "tells"]) {
      // Two floating-point numbers have one sum.
      for (const ranks of what === "floats" ? [4, 9] : [3, 4, 9])
        assert((await differenceOf(what, ranks, 8, 100 * seed)).difference !== null, `${what}, seed ${seed}`);
    }
  }
});

test("R8 check-determinism: the first send that differs is shown as the user knows it, and the code says it", async () => {
  const path = await compiling;
  const bad = await banyan(["check-determinism", "-n", "4", path, "farm"], patient);
  assert.equal(bad.code, 1, bad.stderr);
  assert.match(bad.stdout, /^\S+ is not send-deterministic: send \d+ of rank 0 is not always the same \(.*\)\n/);
  const shown = /^ {2}run \d, seed \d +MPI_Send\(1 MPI_INT\) to rank \d, tag 2, 4 bytes, hash [0-9a-f]{8}\n/gm;
  assert.equal(bad.stdout.match(shown)?.length, 2, bad.stdout);
});

test("R8 check-determinism: a program that is good is said to be, and what differs all the same", long, async () => {
  const path = await compiling;
  const good = await banyan(["check-determinism", "-n", "4", "--runs", "3", path, "--", "polls"], patient);
  assert.equal(good.code, 0, good.stderr);
  assert.match(
    good.stdout,
    /^\S+ is send-deterministic in 3 simulated runs of 4 ranks: \d+ messages in each, all the same\n$/,
  );
  assert.match(good.stderr, /Beware: rank \d does not always print the same: line 1 is "looked \d+ times" in run 1, /);
});

test("R8 check-determinism: what the simulator lacks is said", long, async () => {
  const path = await compiling;
  const spawns = await banyan(["check-determinism", "-n", "2", path, "spawn"], patient);
  assert.equal(spawns.code, 1, spawns.stderr);
  assert.match(spawns.stderr, /Cannot compare all runs: run 1, seed 1, failed: .*MPI_Comm_spawn/);
  const reads = await banyan(["check-determinism", "-n", "2", "--runs", "2", path, "input"], patient);
  assert.equal(reads.code, 0, reads.stderr);
  assert.match(reads.stderr, /Beware: the program has read standard input, which is empty here\n/);
});

test("R8 check-determinism: mistakes in the call are said in one line", long, async () => {
  for (const [args, words] of [
    [["--runs", "1", source], /Cannot compare 1 run: give 2 to 1000/],
    [["-n", "0", source], /Cannot check a program on 0 ranks/],
    [["-n", "2", "--nodes", "3", source], /Cannot use 3 nodes for 2 ranks/],
    [["no-such.c"], /Cannot .*no-such\.c/],
  ] as const) {
    const { code, stdout, stderr } = await banyan(["check-determinism", ...args]);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, words);
    assert.match(stderr, /^banyan: .*\n$/);
  }
});

const farm = program(
  "check/farm.ts",
  `import { mpi } from "banyan";
const { world } = mpi;
const word = new Int32Array(1);
if (world.rank === 0) {
  for (let task = 0; task < 30; task++) {
    const { source } = world.recv(word, {});
    word[0] = task;
    world.send(word, { dest: source, tag: 1 });
  }
} else {
  for (let i = 0; i < 30 / (world.size - 1); i++) {
    world.send(word, { dest: 0 });
    world.recv(word, { source: 0, tag: 1 });
  }
}
`,
);
const sums = program(
  "check/sums.ts",
  `import { mpi } from "banyan";
const { world } = mpi;
const sum = new Float64Array(1);
for (let i = 0; i < 10; i++) world.allreduce(Float64Array.of(world.rank + 0.1), "sum");
if (world.rank === 0) for (let i = 1; i < world.size; i++) world.recv(sum, { tag: 2 });
else world.send(sum, { dest: 0, tag: 2 });
`,
);

test("R8 check-determinism: programs in TypeScript run in real jobs", long, async () => {
  const bad = await banyan(["check-determinism", "-n", "4", farm], patient);
  assert.equal(bad.code, 1, bad.stderr);
  assert.match(bad.stdout, /is not send-deterministic: send \d+ of rank 0 is not always the same/);
  assert.match(bad.stdout, /^ {2}run 1, seed 1 +to rank \d, tag 1, 4 bytes, hash [0-9a-f]{8}$/m);
  const good = await banyan(["check-determinism", "-n", "4", "--runs", "3", sums], patient);
  assert.equal(good.code, 0, good.stdout + good.stderr);
  assert.match(good.stdout, /is send-deterministic in 3 runs of 4 ranks: \d+ messages in each, all the same/);
});
