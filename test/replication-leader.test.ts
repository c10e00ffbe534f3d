/**
 * Replicas that follow a leader, on real processes: a master with workers, who serves whoever is first, loses its leading replicas, and the
 * master and each worker agree on what happened between them. Row R8.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { randomOf } from "../scripts/kill-runs.mjs";
import { banyan, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const patient = { timeoutMs: 120_000 };
const farm = resolve("test/programs/c/farm.c");
const run = (nodes: number, ...more: readonly string[]): string[] => [
  ...["run", "-n", "3", "--nodes", `${nodes}`, "--protocol", "replication", "--replication", "leader"],
  ...more,
];
const answer = /^200 tasks, sum 2686700, 0 workers remember otherwise$/m;

test("R8 the node of all leaders is killed: others lead on from what they were told", limit, async () => {
  // By the plan, which counts calls: a kill from outside can come when the farm is done.
  const killed = new Run(run(2, "--faults", "kill node 0 at call 60", farm, "200", "2000"), patient);
  const { code, stdout, stderr } = await killed.ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, answer);
  assert.doesNotMatch(stderr, /send different messages/);
  assert.match(stderr, /3 replicas lost; replica 1 of ranks 0, 1, 2 stood in for replica 0/);
  killed.assertNothingLeft();
});

test("R8 leaders on different nodes, and their successors, are killed at random moments", {
  ...limit,
  ...long,
}, async () => {
  const random = randomOf(Number(process.env["BANYAN_KILL_SEED"] ?? 20261117));
  for (let time = 0; time < 10; time++) {
    const replicas = 2 + (time % 2);
    // Two nodes in each world: of all worlds but the last one of them falls.
    const victims = Array.from({ length: replicas - 1 }, (_, world) => 2 * world + Math.floor(random() * 2));
    const faults = victims.map((node) => `kill node ${node} at ${500 + Math.floor(random() * 2_000)}ms`).join("; ");
    const args = ["--replicas", `${replicas}`, "--faults", faults, farm, "200", "8000"];
    const { code, stdout, stderr } = await banyan(run(2 * replicas, ...args), patient);
    assert.equal(code, 0, `${faults}: ${stderr}`);
    assert.match(stdout, answer, faults);
    assert.doesNotMatch(stderr, /send different messages/, faults);
  }
});
