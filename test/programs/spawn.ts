// Spawning: parents and children, in both forms of a program, several programs, what cannot be started. Two ranks.
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, codeOf, done } from "./checks.ts";

const { world, parent, ERR, KEYVALS } = mpi;
const { rank, size } = world;
const self = process.argv[1]!;

/** The children of this program itself: both sides talk, merge and part. */
if (parent !== null) {
  const [what] = process.argv.slice(2);
  if (what === "merge") {
    const all = parent.merge({ high: true });
    assert.deepEqual(all.allgather(rank), [...Array(parent.remoteSize).keys(), ...Array(size).keys()]);
    all.bcast(null, { root: 0 });
    const large = all.allreduce(new Float64Array(1 << 16).fill(all.rank), "sum");
    assert.equal(large.at(-1), (all.size * (all.size - 1)) / 2);
  }
  if (what === "app") parent.send([world.getAttribute(KEYVALS.APPNUM), process.argv[3], rank], { dest: 0 });
  if (what === "again") {
    // A grandchild, who has no other parent than this.
    const child = mpi.self.spawn(self, { args: ["app", "grandchild"] });
    parent.send(child.recv(), { dest: 0 });
    child.disconnect();
  }
  parent.disconnect();
  assert.equal(mpi.parent, null);
} else {
  await check("M7 §11.8.2 spawn: parents and children talk, merge and part", () => {
    const children = world.spawn(self, { args: ["merge"], count: 3, root: size - 1 });
    assert.deepEqual([children.isInter, children.size, children.remoteSize], [true, size, 3]);
    const all = children.merge();
    assert.deepEqual(all.allgather(rank), [...Array(size).keys(), 0, 1, 2]);
    assert.deepEqual(all.bcast(rank === 0 ? { hello: 1 } : null), { hello: 1 });
    assert.equal(all.allreduce(new Float64Array(1 << 16).fill(all.rank), "sum")[0], (all.size * (all.size - 1)) / 2);
    children.disconnect();
  });

  await check("M7 §11.8.3 spawnMultiple: one world, APPNUM, arguments", () => {
    const programs = [
      { program: self, args: ["app", "one"] },
      { program: new URL("spawned-module.mts", import.meta.url), args: ["two"], count: 2 },
    ];
    const children = world.spawnMultiple(programs);
    if (rank === 0) {
      const said = [0, 1, 2].map((source) => children.recv({ source }));
      assert.deepEqual(said, [
        [0, "one", 0],
        [1, "two", 1],
        [1, "two", 2],
      ]);
    }
    children.disconnect();
  });

  await check("M7 §11.8.2 a child spawns, from one rank alone", () => {
    const child = world.spawn(self, { args: ["again"] });
    if (rank === 0) assert.deepEqual(child.recv(), [0, "grandchild", 0]);
    child.disconnect();
  });

  await check("M7 §11.8.2 what cannot be started, and the job goes on", () => {
    const refusals: readonly (readonly [() => unknown, number])[] = [
      [() => world.spawn("no-such-program"), ERR.SPAWN],
      [() => world.spawn("test/programs/c/spawn.c"), ERR.SPAWN],
      [() => world.spawn(self, { count: 1000 }), ERR.SPAWN],
      [() => world.spawn(self, { count: 0 }), ERR.ARG],
      [() => world.spawn(self, { root: 7 }), ERR.ROOT],
    ];
    for (const [call, code] of refusals) assert.equal(codeOf(call), code, `${call}`);
  });
  done();
}
