/** `banyan bench logging`: each part once, with the smallest problems. Rows L4, L7, L8, L9, V4. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf } from "./harness.ts";
import { long } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const timeoutMs = 240_000;

/** Standard output, for each contender and metric its line in the results, and the plot. */
async function bench(part: string) {
  const name = `logging-${part}`;
  const out = folderOf(`bench-${name}`);
  const { code, stdout, stderr } = await banyan(["bench", name, "--runs", "1", "--quick", "--out", out], { timeoutMs });
  assert.equal(code, 0, stdout + stderr);
  const lines = readFileSync(`${out}/${name}.jsonl`, "utf8").trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    readdirSync(out).filter((entry) => !entry.startsWith(`${name}.`)),
    [],
    "nothing is left in the folder of results",
  );
  const plot = `${out}/${name}.svg`;
  return {
    stdout,
    measured: new Set(results.map(({ contender, metric }) => `${contender} ${metric}`)),
    plot: existsSync(plot) ? readFileSync(plot, "utf8") : "",
  };
}

test(
  "L7: bench logging-ping-pong has the three modes, inside and between sets, and the trip to the event logger",
  long,
  async () => {
    const { stdout, measured, plot } = await bench("ping-pong");
    for (const where of ["one node, named receives", "two nodes, receives from any source"])
      assert.match(stdout, new RegExp(`^Ping-pong on ${where}: half a round trip in µs`, "m"));
    assert.match(stdout, /^Bandwidth on one node, named receives: MB\/s, .*Fig\. 4.* 11 GB\/s classical/m);
    assert.match(stdout, /^1 MiB +[\d. ]+ +[\d. ]+ +[\d. ]+ +[\d.]+ × +[\d.]+ ×$/m);
    for (const one of ["none named_us", "sets wildcard_us", "classical wildcard_us", "sets wildcard_between_us"])
      assert(measured.has(one), one);
    for (const one of ["sets logger_us", "none wildcard_between_allowed_us", "sets bandwidth_mbs"])
      assert(measured.has(one), one);
    assert.equal(measured.has("classical named_between_us"), false, "with one rank on a node sets are classical");
    for (const goal of [
      "1 MiB bandwidth inside a set .* ≥ 0\\.98 × none",
      "8 bytes between sets, any source .* ≤ 1 × none",
    ])
      assert.match(stdout, new RegExp(`^${goal}.* (goal|ok|missed)$`, "m"));
    assert.match(plot, />Ping-pong on two nodes, named receives</);
  },
);

test("L7 X5: bench logging-kernels has kernels on one node and on two, in three modes", long, async () => {
  const { stdout, measured } = await bench("kernels");
  assert.match(stdout, /2 ranks on one node, tiny problems: seconds, .*Fig\. 5.* 1\.07 × with sets, 1\.17 × classical/);
  assert.equal(stdout.match(/^geometric mean +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ × +[\d.]+ ×$/gm)?.length, 2);
  for (const mode of ["none", "sets", "classical"])
    for (const metric of ["is_node_s", "hpccg_nodes_s", "kernels_nodes_s"])
      assert(measured.has(`${mode} ${metric}`), `${mode} ${metric}`);
  assert.match(stdout, /^kernels on one node, sets .* ≤ 1\.07 × none .* ≤ 1\.03 × none .* (goal|ok|missed)$/m);
});

test("L7: bench logging-lu has speeds, and the largest problem in equal memory", long, async () => {
  const { stdout, measured, plot } = await bench("lu");
  assert.match(stdout, /^LU decomposition, 4 ranks on 2 nodes: Mflop\/s/m);
  assert.match(stdout, /^largest +[\d ]+ +[\d ]+ +[\d ]+ +[\d.]+ × +[\d.]+ ×$/m);
  for (const mode of ["none", "sets", "classical"])
    for (const metric of ["lu_s", "lu_mflops", "largest_rows"])
      assert(measured.has(`${mode} ${metric}`), `${mode} ${metric}`);
  assert.match(plot, />Mflop\/s</);
});

test("L8 X5: bench logging-volume counts what collectives log, and draws maps of it", long, async () => {
  const { stdout, plot } = await bench("volume");
  assert.match(stdout, /^Payload logged by one collective, 8 ranks on 4 nodes, k = 2: bytes, .*Fig\. 7/m);
  // Volumes are the same on every machine: three nodes get the broadcast, and in each of four a neighbour.
  assert.match(stdout, /^1 MiB +3 145 728 +7 340 032 +0\.429 × /m);
  for (const collective of ["bcast", "reduce", "allreduce"]) {
    assert.match(
      stdout,
      new RegExp(`^log of a 1 MiB ${collective}, 2 ranks per node .* ≤ 0\\.5 × classical .* goal$`, "m"),
    );
    assert.match(plot, new RegExp(`>${collective}, 8 ranks on 4 nodes<`));
  }
});

test("L9: bench logging-synchronisation has sets of several sizes beside a message of 10 KB", long, async () => {
  const { stdout, measured, plot } = await bench("synchronisation");
  for (const row of ["first stop until quiet, 2 ranks", "last stop until quiet, 4 ranks", "one message of 10 KB"])
    assert.match(stdout, new RegExp(`^${row} +[\\d. ]+$`, "m"));
  for (const metric of ["settled_us", "barrier_us", "message_us"]) assert(measured.has(`sets ${metric}`), metric);
  assert.match(stdout, /^a set of 16 comes to rest .* ≤ 4 × of 4 .* not measured$/m);
  assert.match(plot, />last stop until quiet</);
});

test("L7: bench logging-recovery loses a node that is killed, and one that stands still", long, async () => {
  const { stdout, measured } = await bench("recovery");
  assert.match(stdout, /^node killed: until the others get on +[\d.]+$/m);
  assert.match(stdout, /^node standing still .*: until they have caught up +[\d.]+$/m);
  for (const metric of ["killed_resumed_s", "stopped_resumed_s", "killed_running_s"])
    assert(measured.has(`sets ${metric}`), metric);
  // Goals are about 64 MB.
  assert.match(stdout, /^SIGKILL of a node until its ranks go on, 64 MB each .* ≤ 0\.5 s .* not measured$/m);
});

test(
  "V4: bench logging-checkpoints has steps with and without, and round trips of several ranks at once",
  long,
  async () => {
    const { stdout, measured, plot } = await bench("checkpoints");
    assert.match(stdout, /^a step +[\d. ]+ +[\d. ]+ +[\d.]+ ×$/m);
    for (const row of ["checkpoint, 1 at once", "restart, 2 at once", "round trip, 2 at once"])
      assert.match(stdout, new RegExp(`^${row} +[\\d.]+ +[\\d.]+ +[\\d.]+ ×$`, "m"));
    for (const one of ["checkpoints step_us", "no-checkpoints step_us", "local round_trip_s", "served round_trip_s"])
      assert(measured.has(one), one);
    assert.match(plot, />server</);
  },
);

test("bench names the parts of logging in its help, and knows logging as all of them", async () => {
  const { stdout } = await banyan(["bench", "--help"]);
  assert.match(stdout, /^Parts of logging:\n {2}logging-ping-pong /m);
  const { code, stderr } = await banyan(["bench", "logging-lateness"]);
  assert.equal(code, 2);
  assert.match(stderr, /"logging-lateness": there are latency, .*, logging, replication, ulfm;/);
});
