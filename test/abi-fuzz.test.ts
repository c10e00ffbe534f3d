/**
 * Random calls of MPI's functions from C, with right, nearly right and absurd arguments: no node crashes, nothing hangs, and no
 * byte changes that the call was not given. Rows M6 and X8. `node scripts/fuzz-abi.mjs` makes a million of them.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { commandFor, compileFuzzer, type FuzzOptions, fuzzSizes, runFuzzer } from "../scripts/fuzz-runs.mjs";
import { long, longUnless } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-fuzz-"));
let module = "";

before(() => {
  module = compileFuzzer(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function fuzz(options: FuzzOptions) {
  const run = await runFuzzer(module, { ...options, seconds: Math.ceil(patientMs(120_000) / 1000) });
  assert.equal(run.problem, "", `${run.problem}\nsee it again: ${commandFor(options)}`);
  assert(run.calls >= options.calls, `${run.calls} calls were made`);
  // Most of them are wrong somewhere, but what is right must do something.
  assert(run.errors > run.calls / 4 && run.errors < (run.calls * 9) / 10, `${run.errors} errors of ${run.calls} calls`);
}

for (const [index, size] of fuzzSizes.slice(0, 4).entries()) {
  const { ranks, nodes } = size;
  test(
    `X8: random calls of every function break nothing, ${ranks} ranks, nodes: ${nodes}`,
    longUnless(index % 2 === 0),
    async () => {
      await fuzz({ ...size, seed: index + 1, calls: 1500 });
    },
  );
}

test("X8: a hundred thousand random calls break nothing", { ...long, ...timeLimit(3_600_000) }, async () => {
  for (let i = 0; i < 20; i++) {
    await fuzz({ ...fuzzSizes[i % fuzzSizes.length]!, seed: 100 + i, calls: 5000 });
  }
});
