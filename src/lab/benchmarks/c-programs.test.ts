/** Reading the output of the benchmarks' programs in C. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMpi, ours, seriesOf } from "../testing/series.ts";
import { readFreeze, readThaw } from "./images.ts";
import { means, readKernel } from "./kernels.ts";
import { readCommand } from "./programs.ts";

const npb = "Kernel: CG\nClass: W\nSeconds: 0.5120\nMop/s: 250.54\nVerification: SUCCESSFUL\n  zeta …\n";
const adi = "bt: block-tridiagonal solver\n  ranks         2 (1 x 1 x 2 bricks)\n  time          0.214 s\n";

test("M8: bench reads the time of a kernel's timed section, if the result was right", () => {
  assert.deepEqual(readKernel("cg_s", { stdout: npb }), [{ metric: "cg_s", x: 2, figures: [0.512] }]);
  const stdout = `${adi}  Verification: SUCCESSFUL\n`;
  assert.deepEqual(readKernel("bt_s", { stdout })?.[0]?.figures, [0.214]);
  assert.equal(readKernel("bt_s", { stdout: adi }), undefined);
  assert.equal(readKernel("cg_s", { stdout: npb.replace("SUCCESSFUL", "FAILED") }), undefined);
  assert.equal(readKernel("cg_s", { stdout: npb.replace("0.5120", "0.0000") }), undefined);
});

test("M8: bench compares kernels by geometric means, over those that everybody ran", () => {
  const series = [
    seriesOf(ours, "cg_s", { 2: 2 }),
    seriesOf(ours, "is_s", { 2: 8 }),
    seriesOf(ours, "mg_s", { 2: 100 }),
    seriesOf(openMpi, "cg_s", { 2: 1 }),
    seriesOf(openMpi, "is_s", { 2: 1 }),
  ];
  const found = means(series, ["cg_s", "is_s", "mg_s"]);
  assert.deepEqual(
    found.map(({ contender, metric, points }) => [contender.id, metric, points[0]!.median.toFixed(9)]),
    [
      ["banyan-shared", "kernels_s", "4.000000000"],
      ["openmpi", "kernels_s", "1.000000000"],
    ],
  );
  assert.deepEqual(means(series, ["mg_s"]), []);
});

test("M8: bench times whole commands, whose results were right if they say", () => {
  const sample = { metric: "cg_command_s", x: 8, figures: [1.5] };
  assert.deepEqual(readCommand("cg_command_s", 8, { ms: 1500, stdout: npb }), [sample]);
  assert.deepEqual(readCommand("cg_command_s", 8, { ms: 1500, stdout: "532 steps\n" }), [sample]);
  assert.equal(readCommand("cg_command_s", 8, { ms: 1500, stdout: npb.replace("SUCCESSFUL", "FAILED") }), undefined);
});

test("M8: bench times a freeze from the last sign of life, a thaw to the first", () => {
  const stdout = "sample alive_ms 16 5000\nsample alive_ms 16 5500\n";
  assert.deepEqual(readFreeze({ stdout, startMs: 4000, ms: 3500 }, 4e9), [
    { metric: "freeze_s", x: 16, figures: [2] },
    { metric: "freeze_gbs", x: 16, figures: [2] },
  ]);
  assert.deepEqual(readThaw({ stdout, startMs: 4000 }, 4e9), [
    { metric: "thaw_s", x: 16, figures: [1] },
    { metric: "thaw_gbs", x: 16, figures: [4] },
  ]);
  assert.equal(readFreeze({ stdout, startMs: 4000, ms: 3500 }, 0), undefined);
  assert.equal(readThaw({ stdout: "", startMs: 4000 }, 4e9), undefined);
});
