/**
 * Kernels of the NAS Parallel Benchmarks, in C. Each compares its result with the published one and exits with 0 only if
 * they agree, so a wrong byte anywhere in the messages fails here. Row M6.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { longUnless } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

function run(kernel: string, options: readonly string[], ...words: string[]) {
  return banyan(["run", ...options, join("examples/kernels", `${kernel}.c`), ...words], patient);
}

for (const kernel of ["cg", "ep", "ft", "is", "mg"]) {
  for (const [ranks, nodes] of [
    [2, 1],
    [4, 2],
  ] as const) {
    const when = longUnless(nodes === 2 && kernel === "cg");
    test(`M6: ${kernel} of class S gives the published result on ${ranks} ranks, nodes: ${nodes}`, when, async () => {
      const { code, stdout, stderr } = await run(kernel, ["-n", `${ranks}`, "--nodes", `${nodes}`], "S");
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, new RegExp(`^Kernel: ${kernel.toUpperCase()}\nClass: S\n`));
      assert.match(stdout, new RegExp(`^Ranks: ${ranks}$`, "m"));
      assert.match(stdout, /^Verification: SUCCESSFUL$/m);
    });
  }
}

for (const [what, ranks, words, message] of [
  ["a class that there is not", 2, ["X"], /^Cannot run CG: there is no class "X", the classes are S, W and A$/m],
  ["two classes", 1, ["S", "W"], /^Cannot run CG: 2 arguments were given, /m],
  ["three ranks", 3, [], /^Cannot run CG: 3 ranks were given, it needs a power of two$/m],
] as const) {
  test(`M6: a kernel refuses ${what} with one line and code 2`, async () => {
    const { code, stdout, stderr } = await run("cg", ["-n", `${ranks}`], ...words);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  });
}

for (const kernel of ["ft", "mg"]) {
  test(`D6: ${kernel} may be solved several times, to be watched for longer`, longUnless(false), async () => {
    const { code, stdout, stderr } = await run(kernel, ["-n", "2"], "S", "3");
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^Verification: SUCCESSFUL$/m);
    const refused = await run(kernel, ["-n", "2"], "S", "0");
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, /"0" is not how often a problem can be solved$/m);
  });
}
