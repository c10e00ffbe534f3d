/** ULFM in programs in C, failure-free: revoking, agreeing, shrinking, on real ranks and on simulated ones. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { long } from "./long.ts";

const ulfm = resolve("test/programs/c/ulfm.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

for (const [which, ranks, ...options] of [
  [long, 2],
  [long, 5],
  [{}, 4, "--nodes", "2"],
  [long, 6, "--nodes", "3"],
  [{}, 5, "--ranks-per-thread", "5"],
] as const) {
  const where = ["-n", `${ranks}`, ...options];
  test(`U2 ULFM: revoke ends every wait, then agree and shrink: ${where.join(" ")}`, which, async () => {
    const { code, stdout, stderr } = await banyan(["run", ...where, ulfm], patient);
    assert.equal(stdout, `well: 0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}

for (const seed of [1, 2, 3]) {
  test(`U2 ULFM: the same in the simulator, seed ${seed}`, seed === 1 ? {} : long, async () => {
    const args = ["sim", "-n", "5", "--nodes", "2", "--seed", `${seed}`, ulfm];
    const { code, stdout, stderr } = await banyan(args, patient);
    assert.equal(stdout, "well: 0 errors on 5 ranks\n", stderr);
    assert.equal(code, 0, stderr);
  });
}
