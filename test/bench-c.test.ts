/** `banyan bench` of programs in C: each benchmark once, with the smallest problems. Row M8. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const timeoutMs = 120_000;

/** Standard output, and for each contender and metric its line in the results. */
async function bench(name: string, env: Record<string, string> = {}) {
  const out = folderOf(`bench-${name}`);
  const { code, stdout, stderr } = await banyan(["bench", name, "--runs", "1", "--quick", "--out", out], {
    env,
    timeoutMs,
  });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    readdirSync(out).filter((entry) => !entry.startsWith(`${name}.`)),
    [],
    "nothing is left in the folder of results",
  );
  return { stdout, stderr, measured: new Set(results.map(({ contender, metric }) => `${contender} ${metric}`)) };
}

test("M8: bench c-latency has C beside TypeScript, as latency and as bandwidth", async () => {
  const { stdout, measured } = await bench("c-latency");
  assert.match(stdout, /^Latency from C between two ranks of a node: half a round trip in µs/m);
  assert.match(stdout, /^Bandwidth from C between two ranks of a node: MB\/s/m);
  for (const size of ["8 B", "1 MiB"]) assert.match(stdout, new RegExp(`^ *${size} `, "m"));
  for (const contender of ["banyan-c", "banyan-typescript"])
    for (const metric of ["latency_us", "bandwidth_mbs"]) assert(measured.has(`${contender} ${metric}`), contender);
  assert.match(stdout, /^8-byte ping-pong from C .* ≤ 1\.2 × TypeScript .* (goal|ok|missed)$/m);
  assert.match(stdout, /^1 MiB bandwidth from C .* ≥ 1\.5 × the better /m);
});

test("M8: bench kernels runs each with and without Asyncify, and says which peer is missing", async () => {
  const { stdout, stderr, measured } = await bench("kernels", { PATH: "/nonexistent" });
  assert.match(stdout, /^kernel +Banyan +no Asyncify +no Asyncify$/m);
  for (const row of ["is", "hpccg", "geometric mean"])
    assert.match(stdout, new RegExp(`^${row} +[\\d.]+ +[\\d.]+`, "m"));
  for (const contender of ["banyan", "banyan-no-capture"])
    for (const metric of ["is_class_s_s", "hpccg_s", "kernels_s"])
      assert(measured.has(`${contender} ${metric}`), `${contender} ${metric}`);
  assert.match(stderr, /Cannot compare with Open MPI: .*apt-get install openmpi-bin libopenmpi-dev/);
  assert.match(stdout, /^kernels in C, 2 ranks, geometric mean .* ≤ 2 × Open MPI +– .* not measured$/m);
  assert.match(stdout, /^Asyncify on the kernels .* ≤ 1\.05 × without it .* (goal|ok|missed)$/m);
});

test("M8: bench images captures and restores beside plain files, and freezes and thaws a job", async () => {
  const { stdout, measured } = await bench("images");
  assert.match(stdout, /^Images of 16 MiB that cannot be compressed: GB\/s/m);
  for (const metric of [
    ...["plain_write_gbs", "capture_gbs", "capture_running_gbs", "stopped_s", "plain_read_gbs", "restore_gbs"],
    ...["freeze_s", "freeze_gbs", "thaw_s", "thaw_gbs"],
  ])
    assert(measured.has(`banyan ${metric}`), metric);
  assert.match(stdout, /^restore +[\d.]+ +[\d.]+ ×$/m);
  // Goals are about one GiB.
  assert.match(stdout, /^capture of 1 GiB, program running .* ≥ 0\.9 × plain write +– +not measured$/m);
});

test("M8: bench compile times objects, a first module and a second run", long, async () => {
  const { stdout, measured } = await bench("compile");
  for (const row of ["cc -c, warm server", "first module, nothing kept", "second run"])
    assert.match(stdout, new RegExp(`^${row} +[\\d.]+ `, "m"));
  for (const one of [
    "banyan object_s",
    "banyan first_module_s",
    "banyan second_run_s",
    "banyan-typescript second_run_s",
  ])
    assert(measured.has(one), one);
  assert.match(stdout, /^cc -c of a small file, warm server .* ≤ 0\.6 s +≤ 0\.35 s +(goal|ok|missed)$/m);
  assert.match(stdout, /^second run of a C file, more than TypeScript .* ≤ 1 s +≤ 0\.3 s +(goal|ok|missed)$/m);
});
