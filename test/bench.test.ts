/** `banyan bench` as users call it, with real programs. Row M8, and the "Speed and size". */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf, messages, Run, until } from "./harness.ts";
import { long } from "./long.ts";

test("M8: bench latency prints a table and writes JSON lines and a plot", async () => {
  const out = folderOf("bench");
  const { code, stdout, stderr } = await banyan(["bench", "latency", "--runs", "1", "--quick", "--out", out]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /half a round trip in µs, less is better/);
  for (const size of ["8 B", "1 KiB", "8 KiB", "1 MiB"]) assert.match(stdout, new RegExp(`^ *${size} `, "m"));
  assert.match(stdout, /8-byte ping-pong, shared arrays/);
  const lines = readFileSync(`${out}/latency.jsonl`, "utf8").trimEnd().split("\n");
  const contenders = lines.map((line) => JSON.parse(line).contender);
  assert.deepEqual(contenders.slice(0, 2), ["banyan-shared", "banyan-ordinary"]);
  assert.match(readFileSync(`${out}/latency.svg`, "utf8"), /^<svg [\s\S]*<\/svg>\n$/);
});

test("M8: bench without peers says how to install them and goes on", async () => {
  const nowhere = folderOf("no-commands");
  mkdirSync(nowhere);
  const { code, stdout, stderr } = await banyan(
    ["bench", "bandwidth", "--runs", "1", "--quick", "--out", folderOf("alone")],
    { env: { PATH: nowhere } },
  );
  assert.equal(code, 0, stderr);
  assert.match(stderr, /apt-get install openmpi-bin libopenmpi-dev/);
  assert.match(stderr, /apt-get install mpich libmpich-dev/);
  assert.match(stdout, /^ *1 MiB .*Banyan, (shared|ordinary)$/m);
  assert.match(stdout, /1 MiB bandwidth, shared arrays .* not measured$/m);
});

test("M8: bench c-latency has C beside TypeScript, as latency and as bandwidth", long, async () => {
  const out = folderOf("bench-c");
  const { code, stdout, stderr } = await banyan(["bench", "c-latency", "--runs", "1", "--quick", "--out", out], {
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/c-latency.jsonl`, "utf8").trimEnd().split("\n");
  const measured = new Set(lines.map((line) => JSON.parse(line)).map((one) => `${one.contender} ${one.metric}`));
  assert.match(stdout, /^Latency from C between two ranks of a node: half a round trip in µs/m);
  assert.match(stdout, /^Bandwidth from C between two ranks of a node: MB\/s/m);
  for (const size of ["8 B", "1 MiB"]) assert.match(stdout, new RegExp(`^ *${size} `, "m"));
  for (const contender of ["banyan-c", "banyan-typescript"])
    for (const metric of ["latency_us", "bandwidth_mbs"]) assert(measured.has(`${contender} ${metric}`), contender);
  assert.match(stdout, /^8-byte ping-pong from C .* ≤ 1\.2 × TypeScript .* (goal|ok|missed)$/m);
  assert.match(stdout, /^1 MiB bandwidth from C .* ≥ 1\.5 × the better /m);
});

test("M8: bench cold has the first calls of programs in C and in TypeScript, window by window", long, async () => {
  const out = folderOf("bench-cold");
  const { code, stdout, stderr } = await banyan(["bench", "cold", "--runs", "1", "--quick", "--out", out], {
    env: { PATH: "/nonexistent" },
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/cold.jsonl`, "utf8").trimEnd().split("\n");
  const measured = new Set(lines.map((line) => JSON.parse(line)).map((one) => `${one.contender} ${one.metric}`));
  for (const contender of ["banyan-c", "banyan-typescript"])
    for (const metric of ["ping_pong_2_us", "allreduce_2_us"])
      assert(measured.has(`${contender} ${metric}`), contender);
  for (const window of ["1", "10", "100"]) assert.match(stdout, new RegExp(`^ *${window} +\\d`, "m"));
  assert.match(stdout, /^first 1 000 ping-pongs of 8 bytes from C .* not measured$/m);
});

test("M8: bench collectives has every collective from C, short and long", long, async () => {
  const out = folderOf("bench-collectives");
  const { code, stdout, stderr } = await banyan(["bench", "collectives", "--runs", "1", "--quick", "--out", out], {
    env: { PATH: "/nonexistent" },
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/collectives.jsonl`, "utf8").trimEnd().split("\n");
  const series = lines.map((line) => JSON.parse(line) as { metric: string; points: { x: number }[] });
  const measured = new Set(series.flatMap(({ metric, points }) => points.map(({ x }) => `${metric} ${x}`)));
  for (const kind of ["bcast", "reduce", "allreduce", "allgather", "alltoall"])
    for (const bytes of [8, 65_536]) assert(measured.has(`${kind}_2_ranks_1_nodes_us ${bytes}`), `${kind} of ${bytes}`);
  assert(measured.has("barrier_2_ranks_1_nodes_us 8"));
  assert.match(stdout, /^barrier, 2 ranks, from C .* not measured$/m);
});

test("M8: bench ends at Ctrl-C with 130 and leaves nothing running", async () => {
  const out = folderOf("interrupted");
  const run = new Run(["bench", "matching", "--out", out], { stdin: "", env: { PATH: "/nonexistent" } });
  await until(() => run.processes().some(({ name }) => name.startsWith("banyan-node")), "a node is running");
  run.child.kill("SIGINT");
  const { code } = await run.ended;
  assert.equal(code, 130);
  run.assertNothingLeft();
  assert.equal(existsSync(`${out}/matching.jsonl`), false);
});

for (const [what, args, words] of [
  ["an unknown benchmark", ["bench", "lateness"], /"lateness".*latency, bandwidth/],
  ["no runs", ["bench", "--runs", "0"], /--runs 0/],
  ["an unknown option", ["bench", "--fast"], /--fast/],
  ["a class that there is not", ["bench", "kernels", "--class", "B"], /"B" for --class: the classes are S, W, A/],
  ["an image that no rank has room for", ["bench", "images", "--image-mib", "4096"], /--image-mib 4096: .* 1900/],
] as const) {
  test(`M8: bench with ${what}: one line, exit 2`, async () => {
    const { code, stdout, stderr } = await banyan(args);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.equal(messages(stderr).length, 1);
    assert.match(stderr, words);
  });
}

test("M8: bench with a folder it cannot write to: one line, exit 1, nothing is measured", async () => {
  const { code, stdout, stderr } = await banyan(["bench", "latency", "--out", "/proc/bench"]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /Cannot write results to \/proc\/bench: .*--out/);
});
