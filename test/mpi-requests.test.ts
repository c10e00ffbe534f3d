/** Row M2 on the real runtime: completion; and the end of a rank that has not completed everything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program, runMsMax } from "./harness.ts";
import { timeLimit } from "./patience.ts";
import { testProgram } from "./programs.ts";

testProgram("requests", "M2 completion", [2, [3, 3]], [1]);

const limit = timeLimit(runMsMax);

test("M7 a rank that ends with unfinished requests has failed", limit, async () => {
  const path = program(
    "unfinished.ts",
    `import { mpi } from "banyan";
    const { world } = mpi;
    if (world.rank === 1) { world.irecv(new Int32Array(1), { source: 0 }); world.irecv(new Int32Array(1)); }`,
  );
  const ended = await banyan(["run", "-n", "2", path]);
  assert.notEqual(ended.code, 0);
  assert.match(ended.stderr, /rank 1 on node 0 .*2 unfinished requests/);
});

test("M7 a rank whose await cannot end is not lost: the job's time is", limit, async () => {
  const path = program(
    "awaits.ts",
    `import { mpi } from "banyan";
    if (mpi.world.rank === 0) await mpi.world.irecv(new Int32Array(1), { source: 1 });
    else process.exit(3);`,
  );
  const ended = await banyan(["run", "-n", "2", path]);
  assert.equal(ended.code, 3, ended.stderr);
});

test(
  "M7 §11.2 the end: what was sent and abandoned arrives, attributes of self are deleted, last set first",
  limit,
  async () => {
    const path = program(
      "end.ts",
      `import { mpi } from "banyan";
    const { world, self } = mpi;
    if (world.rank === 0) {
      for (let i = 0; i < 3000; i++) world.bsend(new Float64Array(40).fill(i), { dest: 1 });
      world.bsend(new Float64Array(100_000).fill(7), { dest: 1, tag: 1 });
    } else {
      // All that the other has sent is on its way, and its program is over, or about to be.
      world.probe({ source: 0, tag: 1 });
      const into = new Float64Array(100_000);
      for (let i = 0; i < 3000; i++) { world.recv(into, { source: 0, tag: 0 }); if (into[39] !== i) throw new Error("lost"); }
      world.recv(into, { source: 0, tag: 1 });
      console.log("got all", into[99_999]);
    }
    for (const name of ["first", "second"]) {
      const keyval = mpi.createKeyval({ delete: (_comm, value) => console.log("deleted", value, mpi.isFinalized) });
      if (world.rank === 1) self.setAttribute(keyval, name);
    }`,
    );
    const ended = await banyan(["run", "-n", "2", path]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout, "got all 7\ndeleted second false\ndeleted first false\n");
  },
);

test("M7 a rank that has ended waits for the others, but not for the dead", limit, async () => {
  const path = program(
    "late.ts",
    `import { mpi } from "banyan";
    const { world } = mpi;
    // Their last act: then they have ended, and wait.
    if (world.rank !== 2) world.send(Int32Array.of(1), { dest: 2 });
    else {
      for (const source of [0, 1]) world.recv(new Int32Array(1), { source });
      throw new Error("late");
    }`,
  );
  const ended = await banyan(["run", "-n", "3", path]);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /rank 2 on node 0 failed .*late/);
});
