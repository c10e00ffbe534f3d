/** Ranks that disagree about a collective, in real runs: on boards, by messages, on several nodes, several in a thread. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, program } from "./harness.ts";
import { long } from "./long.ts";

const disagree = resolve("test/programs/c/disagree.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 240_000 };

const always = {};

for (const [ranks, which, ...options] of [
  [3, always],
  [4, always, "--nodes", "2"],
  [8, long],
  [4, long, "--ranks-per-thread", "4"],
] as const) {
  const where = ["-n", `${ranks}`, ...options];
  test(`M4 §6 ranks that disagree: ${where.join(" ")}`, which, async () => {
    const { code, stdout, stderr } = await banyan(["run", ...where, disagree], patient);
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}

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
