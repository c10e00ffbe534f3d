/** `mpi.checkpoint`: a program in TypeScript goes on from the state that it gave, not from its beginning. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program, Run, sorted } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

/**
 * Rounds of wildcard receives on rank 0, of messages that come before their receive, and of collectives. `begins` on standard error
 * says from which round each life goes on.
 */
const rounds = program(
  "checkpoint-rounds.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const { rank, size } = world;
  const last = Number(process.argv[2]);
  const state = mpi.restored<{ round: number; sum: number; log: number[] }>() ?? { round: 0, sum: 1, log: [] };
  console.error(rank + " begins at " + state.round);
  const value = new Int32Array(2);
  for (; state.round < last; state.round++) {
    if (state.round % 20 === 10) mpi.checkpoint(state);
    // Sent now, received a round later by the neighbour, who may be in the same set or not.
    world.send(Int32Array.of(state.round, rank), { dest: (rank + 1) % size, tag: 5 });
    if (rank === 0) {
      for (let i = 1; i < size; i++) {
        const { source } = world.recv(value, { source: mpi.ANY_SOURCE, tag: 0 });
        state.sum = (Math.imul(state.sum, 31) + value[0]! + source) | 0;
        state.log.push(state.sum);
        world.send(Int32Array.of(state.sum), { dest: source, tag: 1 });
      }
    } else {
      world.send(Int32Array.of(Math.floor(Math.random() * 1000)), { dest: 0, tag: 0 });
      world.recv(value.subarray(0, 1), { source: 0, tag: 1 });
      state.log.push(value[0]!);
      state.sum = (Math.imul(state.sum, 31) + value[0]!) | 0;
    }
    if (state.round > 0) {
      world.recv(value, { source: (rank + size - 1) % size, tag: 5 });
      if (value[0] !== state.round - 1) throw new Error("round " + value[0] + " instead of " + (state.round - 1));
    }
    const total = world.allreduce(Int32Array.of(state.round), "sum");
    if (total[0] !== state.round * size) throw new Error("the sum of round " + state.round);
    if (state.round % 10 === 0) console.log(rank + " after " + state.round);
  }
  world.recv(value, { source: (rank + size - 1) % size, tag: 5 });
  // What rank 0 gave is what the others got.
  const logs = world.gather(state.log, { root: 0 });
  if (logs !== null) {
    const [given, ...got] = logs as number[][];
    const all = got.flat().sort((a, b) => a - b);
    const same = JSON.stringify(all) === JSON.stringify(given!.toSorted((a, b) => a - b));
    console.log(same ? "all the same" : "DIFFERENT");
  }
`,
);

const last = 100;
const expected = ["all the same"];
for (let rank = 0; rank < 4; rank++) for (let i = 0; i < last; i += 10) expected.push(`${rank} after ${i}`);
expected.sort();

const logging = ["run", "-n", "4", "--nodes", "2", "--protocol", "logging"];
const begins = (stderr: string, rank: number): number[] =>
  [...stderr.matchAll(new RegExp(`^${rank} begins at (\\d+)$`, "gm"))].map((match) => Number(match[1]));

for (const sets of ["node", "rank"]) {
  test(`mpi.checkpoint, sets of a ${sets}: killed nodes go on from their checkpoints`, {
    ...timeLimit(120_000),
    ...longUnless(sets === "rank"),
  }, async () => {
    const run = new Run([...logging, "--sets", sets, rounds, String(last)], { stdin: "", timeoutMs: 100_000 });
    await run.printed("0 after 40");
    process.kill(run.nodePid(0), "SIGKILL");
    await run.printed("2 after 70");
    process.kill(run.nodePid(1), "SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(sorted(stdout), expected);
    run.assertNothingLeft();
    for (const rank of [0, 1, 2, 3]) {
      const [first, second] = begins(stderr, rank);
      assert.equal(first, 0);
      assert(second !== undefined && second % 20 === 10, stderr);
    }
  });
}

test("mpi.checkpoint: the program sees where it goes on from", timeLimit(60_000), async () => {
  const path = program(
    "checkpoint-seen.ts",
    `
    import { mpi } from "banyan";
    const state = mpi.restored<{ step: number; map: Map<string, number> }>() ?? { step: 0, map: new Map() };
    if (state.step > 0) {
      mpi.restored<{ step: number }>()!.step = -1;
      // What it prints would be line 0 for the second time.
      process.exit(state.step + state.map.get("square")! + mpi.restored<{ step: number }>()!.step);
    }
    state.step = 7;
    state.map.set("square", 49);
    mpi.checkpoint(state);
    state.step = 8;
    mpi.checkpoint(state);
    state.step = 9;
    console.log("there are two");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  `,
  );
  const run = new Run(["run", "-n", "1", "--protocol", "logging", path], { stdin: "" });
  await run.printed("there are two");
  process.kill(run.nodePid(0), "SIGKILL");
  const { code, stderr } = await run.ended;
  // The second one may not have been read back yet.
  assert(code === 7 + 49 + 7 || code === 8 + 49 + 8, `${code}: ${stderr}`);
});

test("mpi.checkpoint refuses, by name, while something is under way; under none it only looks", async () => {
  const path = program(
    "checkpoint-refused.ts",
    `
    import { mpi } from "banyan";
    const { world, self } = mpi;
    const refused = () => {
      try {
        mpi.checkpoint({ fine: true });
        console.log("taken");
      } catch (error) {
        console.log((error as Error).message);
      }
    };
    if (world.rank === 0) {
      const receive = self.irecv(new Int32Array(1), { source: 0, tag: 3 });
      refused();
      self.send(Int32Array.of(1), { dest: 0, tag: 3 });
      receive.wait();
      const copy = self.dup();
      refused();
      copy.free();
      refused();
      try {
        mpi.checkpoint(() => 1);
      } catch (error) {
        console.log((error as Error).message.split(":")[0]);
      }
      console.log(mpi.restored() === undefined);
    }
  `,
  );
  for (const protocol of ["none", "logging"]) {
    const { code, stdout, stderr } = await banyan(["run", "-n", "1", "--protocol", protocol, path]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(stdout.split("\n"), [
      "Cannot take a checkpoint: there is still a receive from rank 0 with tag 3; end, wait for or free it first",
      "Cannot take a checkpoint: there is still a communicator of 1 ranks; end, wait for or free it first",
      "taken",
      "Cannot take a checkpoint",
      "true",
      "",
    ]);
  }
});
