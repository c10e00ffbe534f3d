/** Collectives whose members name different counts, in real runs: on boards, by messages, on several nodes. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { long } from "./long.ts";

const counts = resolve("test/programs/c/counts.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

/** Elements of four bytes: usual, and of the one rank. */
const pairs = ["4", "8", "8", "4", "6", "5", "4", "0", "0", "4", "300", "301", "3000", "2999"];

const always = {};

for (const [ranks, which, ...options] of [
  [2, long],
  [3, long],
  [8, long],
  [2, long, "--nodes", "2"],
  [5, always, "--nodes", "2"],
  [4, long, "--ranks-per-thread", "4"],
] as const) {
  const where = ["-n", `${ranks}`, ...options];
  test(`M4 §6 counts that do not match: ${where.join(" ")}`, which, async () => {
    const { code, stdout, stderr } = await banyan(["run", ...where, counts, ...pairs], patient);
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}
