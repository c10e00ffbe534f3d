/** Nodes that only open outgoing connections. Row V9. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { program, Run } from "./harness.ts";
import { timeLimit } from "./patience.ts";
import { listeningSockets } from "./starting-nodes.ts";

const limit = timeLimit(60_000);

/** Both ranks speak to each other, and then wait until the test says so. */
const waits = program(
  "waits.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  world.allreduce(Int32Array.of(1), "sum");
  console.log("met");
  if (world.rank === 0) for await (const _ of process.stdin);
  world.barrier();
`,
);

for (const [protocol, sockets] of [
  ["channel-memory", 0],
  ["logging", 1],
] as const) {
  test(`V9: under ${protocol} each node listens at ${sockets} sockets`, limit, async () => {
    const run = new Run(["run", "-n", "2", "--nodes", "2", "--protocol", protocol, waits]);
    await run.printed("met\n", 2);
    assert.deepEqual(
      [0, 1].map((node) => listeningSockets(run.nodePid(node))),
      [sockets, sockets],
    );
    run.child.stdin!.end();
    assert.equal((await run.ended).code, 0, run.stderr);
    run.assertNothingLeft();
  });
}
