// Deaths as programs in TypeScript see them, under protocol ulfm. Four ranks, of which the last one dies.
import assert from "node:assert/strict";
import { mpi } from "banyan";

const { world, parent, ERR, KEYVALS } = mpi;
const { rank, size } = world;
const victim = size - 1;

/** The standard's name of the error that `call` throws. */
function errorName(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof mpi.MpiError) return error.className;
    throw error;
  }
  return "MPI_SUCCESS";
}

function passed(section: string): void {
  friends.barrier();
  if (rank === 0) console.log(`passed ${section}`);
}

if (parent !== null) {
  const all = parent.merge({ high: true });
  all.split(0, parent.remoteSize + rank)!.allreduce(Int32Array.of(1), "sum");
  process.exit(0);
}

assert.equal(world.getAttribute(KEYVALS.FT), true);
const friends = world.split(rank === victim ? 1 : 0)!;
// The victim is through when all have come, and dies; for others the barrier may fail.
errorName(() => world.barrier());
if (rank === victim) process.exit(9);

if (rank === 0) {
  const value = new Int32Array(1);
  assert.equal(
    errorName(() => world.recv(value, { source: victim, tag: 7 })),
    "MPI_ERR_PROC_FAILED",
  );
  assert.equal(
    errorName(() => world.send(value, { dest: victim })),
    "MPI_ERR_PROC_FAILED",
  );
  await assert.rejects(Promise.resolve(world.irecv(value, { source: victim })), { code: ERR.PROC_FAILED });
  assert.deepEqual(world.failed().worldRanks, [victim]);
}
passed("16.2.1 what names the dead raises PROC_FAILED");

if (rank === 1) {
  const value = new Int32Array(1);
  while (world.failed().size === 0) world.iprobe({ source: 0, tag: 99 });
  const receive = world.irecv(value, { tag: 5 });
  assert.equal(
    errorName(() => receive.wait()),
    "MPI_ERR_PROC_FAILED_PENDING",
  );
  assert.equal(receive.isActive, true);
  assert.equal(
    errorName(() => world.recv(new Int32Array(1), { tag: 6 })),
    "MPI_ERR_PROC_FAILED",
  );
  // Of an exchange both halves stay; one that waits by itself leaves nothing behind.
  const got = new Int32Array(1);
  const exchange = world.isendrecv(Int32Array.of(7), { dest: 2, tag: 8 }, got, { tag: 9 });
  for (let i = 0; i < 2; i++) {
    assert.equal(
      errorName(() => exchange.wait()),
      "MPI_ERR_PROC_FAILED_PENDING",
    );
  }
  assert.equal(
    errorName(() => world.sendrecv(Int32Array.of(8), { dest: 2, tag: 8 }, new Int32Array(1), { tag: 9 })),
    "MPI_ERR_PROC_FAILED",
  );
  assert.equal(world.ackFailed(), 1);
  world.send(null, { dest: 2, tag: 5 });
  assert.equal((await receive).source, 2);
  assert.equal(value[0], 42);
  assert.equal((await exchange).source, 2);
  assert.equal(got[0], 15);
}
if (rank === 2) {
  world.recv({ source: 1, tag: 5 });
  world.send(Int32Array.of(42), { dest: 1, tag: 5 });
  const given = [new Int32Array(1), new Int32Array(1)];
  for (const each of given) world.recv(each, { source: 1, tag: 8 });
  world.send(Int32Array.of(given[0]![0]! + given[1]![0]!), { dest: 1, tag: 9 });
}
passed("16.2.1 a receive from anybody is pending until the death is acknowledged, then it goes on");

assert.equal(
  errorName(() => world.barrier()),
  "MPI_ERR_PROC_FAILED",
);
assert.equal(
  errorName(() => world.dup()),
  "MPI_ERR_PROC_FAILED",
);
try {
  world.agree(0b110 | (rank === 0 ? 1 : 0));
  assert.fail("not all have acknowledged");
} catch (error) {
  assert(error instanceof mpi.AgreementError);
  assert.deepEqual([error.className, error.flags], ["MPI_ERR_PROC_FAILED", 0b110]);
}
world.ackFailed();
assert.equal(await world.iagree(5), 5);
passed("16.3.1 collectives raise PROC_FAILED, and agree until all have acknowledged");

if (rank === 2) world.revoke();
assert.equal(
  errorName(() => world.recv(new Int32Array(1), { source: (rank + 1) % victim })),
  "MPI_ERR_REVOKED",
);
assert.equal(world.isRevoked, true);
const alive = world.shrink();
assert.deepEqual([alive.rank, alive.size, alive.failed().size], [rank, victim, 0]);
const all = alive.spawn(process.argv[1]!, { count: 1 }).merge();
const ordered = all.split(0, rank)!;
assert.deepEqual([ordered.rank, ordered.allreduce(Int32Array.of(1), "sum")[0]], [rank, size]);
passed("16.3.2 revoke, shrink, spawn, merge: everybody has its old rank");
