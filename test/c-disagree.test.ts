/** Ranks that disagree about a collective, in real runs: on boards, by messages, on several nodes, several in a thread. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, inFolder, newFolder, program } from "./harness.ts";
import { long } from "./long.ts";

const disagree = resolve("test/programs/c/disagree.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 240_000 };

const always = {};

for (const [ranks, which, ...options] of [
  [3, always, "--ranks-per-thread", "1"],
  [4, long, "--nodes", "2"],
  [8, long],
  [4, long, "--ranks-per-thread", "4"],
] as const) {
  const where = ["-n", `${ranks}`, ...options];
  test(`M4 §6 ranks that disagree: ${where.join(" ")}`, which, async () => {
    const run = () => banyan(["run", ...where, disagree], patient);
    const { code, stdout, stderr } = await inFolder(newFolder("disagree"), run);
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}

test("M4 §6 ranks that disagree in TypeScript: a call that one of them refuses counts there, too", async () => {
  const path = program(
    "refusals.ts",
    `import { mpi } from "banyan";
const { world } = mpi;
const odd = world.rank === 1;
const pairs: [string, () => unknown, () => unknown][] = [
  ["root", () => world.bcast(new Int32Array(4), { root: 99 }), () => world.bcast(new Int32Array(4))],
  ["object's root", () => world.bcast({}, { root: 99 }), () => world.bcast({})],
  ["operation", () => world.allreduce(new Int32Array(3), "nonsense" as "sum"), () => world.allreduce(new Int32Array(3), "sum")],
  ["share", () => world.alltoall(new Int32Array(5)), () => world.alltoall(new Int32Array(6))],
  ["list", () => world.alltoall(["one"]), () => world.alltoall(["one", "two", "three"])],
  ["started", () => world.ibarrier() && world.ialltoall(new Int32Array(5)), () => world.ibarrier() && world.ialltoall(new Int32Array(6)).wait()],
  ["colour", () => world.split(-7), () => world.split(0)],
  ["grid", () => world.cartCreate([-1]), () => world.cartCreate([3])],
  ["another function", () => world.barrier(), () => world.dup()],
];
for (const [name, wrong, right] of pairs) {
  let failed = 0;
  try {
    (odd ? wrong : right)();
  } catch (error) {
    if (!(error instanceof mpi.MpiError)) throw error;
    failed = 1;
  }
  const sum = world.allreduce(Int32Array.of(failed, 1), "sum");
  const copy = world.dup();
  if (world.rank === 0) console.log(name, sum[0]! > 0, sum[1] === world.size, copy.size === 3);
}
`,
  );
  const { code, stdout, stderr } = await banyan(["run", "-n", "3", path], patient);
  const lines = stdout.trimEnd().split("\n");
  assert.equal(code, 0, stderr + stdout);
  assert.equal(lines.length, 9, stdout);
  for (const line of lines) assert.match(line, / true true true$/);
});

test("M4 §6 ranks that disagree end the job where errors are fatal, and the line says who called what", async () => {
  const path = program(
    "disagree.ts",
    `import { mpi } from "banyan";
if (mpi.world.rank === 1) mpi.world.allreduce(new Float64Array(40000), "sum");
else mpi.world.barrier();
`,
  );
  const { code, stderr } = await banyan(["run", "-n", "2", path], patient);
  assert.notEqual(code, 0);
  assert.match(stderr, /rank [01] called MPI_(Barrier|Allreduce of 320000 bytes)/);
});
