/** Agreements where a protocol keeps deaths from the program: a killed node changes no verdict, and nobody waits for ever. Rows U2, L5, R4 and V7. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const program = resolve("test/programs/c/agree-often.c");
const rounds = "300";
const limit = timeLimit(120_000);
const patient = { timeoutMs: 100_000 };

const plans = {
  logging: "kill node 1 at call 150",
  replication: "kill node 1 at call 150",
  "channel-memory": "kill node 1 at call 150; kill service memory at call 200 of rank 0",
};

for (const [protocol, plan] of Object.entries(plans)) {
  test(`U2 ${protocol}: a node is killed among agreements, and all verdicts are as without failures`, {
    ...limit,
    ...longUnless(protocol === "logging"),
  }, async () => {
    const plain = await banyan(["run", "--quiet", "-n", "4", program, rounds], patient);
    assert.equal(plain.code, 0, plain.stderr);
    const args = ["-n", "4", "--nodes", "2", "--protocol", protocol, "--faults", plan];
    const killed = await banyan(["run", ...args, program, rounds], patient);
    assert.equal(killed.code, 0, killed.stderr);
    assert.match(killed.stderr, /killed node 1/);
    assert.equal(killed.stdout, plain.stdout);
    assert.match(plain.stdout, /^4 ranks agreed 300 times: [0-9a-f]{8}\n$/);
  });
}
