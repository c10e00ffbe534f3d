// ULFM without failures: revoke, agree, shrink, and who is dead. At least 2 ranks.
import assert from "node:assert/strict";
import { type Communicator, mpi } from "banyan";
import { check, codeOf, done } from "./checks.ts";

const { world, ERR } = mpi;
const { rank, size } = world;
const last = size - 1;

/** A copy that all ranks have before one of them can revoke it. */
function copyOf(comm: Communicator): Communicator {
  const copy = comm.dup();
  comm.barrier();
  return copy;
}

/** The last rank revokes, somewhat later than the others begin to wait. */
function revokes(comm: Communicator): boolean {
  if (rank !== last) return false;
  const end = mpi.wtime() + 0.01;
  while (mpi.wtime() < end);
  comm.revoke();
  return true;
}

const waits: Record<string, (comm: Communicator) => unknown> = {
  recv: (comm) => comm.recv(new Float64Array(1), { source: last }),
  "recv from anybody": (comm) => comm.recv(new Float64Array(1)),
  "recv of an object": (comm) => comm.recv({ source: last }),
  "ssend of a large message": (comm) => comm.ssend(new Float64Array(1 << 17), { dest: last }),
  probe: (comm) => comm.probe({ source: last, tag: 3 }),
  barrier: (comm) => comm.barrier(),
  "small allreduce": (comm) => comm.allreduce(Float64Array.of(rank), "sum"),
  "large allreduce": (comm) => comm.allreduce(new Float64Array(1 << 17), "sum"),
  bcast: (comm) => comm.bcast(new Int32Array(4), { root: last }),
  "bcast of an object": (comm) => comm.bcast(null, { root: last }),
  allgather: (comm) => comm.allgather(Int32Array.of(rank)),
  dup: (comm) => comm.dup(),
  waitAll: (comm) => {
    const requests = [comm.irecv(new Int32Array(1), { source: last }), comm.ibarrier()];
    try {
      mpi.waitAll(requests);
    } catch (error) {
      const { code, statuses } = error as { code: number; statuses: { error: number }[] };
      assert.equal(code, ERR.IN_STATUS);
      assert.deepEqual(
        statuses.map((status) => status.error),
        [ERR.REVOKED, ERR.REVOKED],
      );
    }
    return comm.barrier();
  },
};

for (const [what, wait] of Object.entries(waits)) {
  await check(`ULFM revoke ends ${what}`, () => {
    const comm = copyOf(world);
    if (!revokes(comm))
      assert.equal(
        codeOf(() => wait(comm)),
        ERR.REVOKED,
      );
    assert.equal(comm.isRevoked, true);
    assert.equal(
      codeOf(() => comm.barrier()),
      ERR.REVOKED,
    );
    comm.free();
  });
}

await check("ULFM revoke ends what is awaited", async () => {
  const comm = copyOf(world);
  const awaited = [comm.irecv(new Int32Array(1), { source: last }), comm.iallreduce(Float64Array.of(1), "sum")];
  if (rank === last) setImmediate(() => comm.revoke());
  for (const request of awaited) {
    // The last rank has started all of them, so only its message is missing.
    const outcome = await request.then(
      () => 0,
      (error) => (error as { code: number }).code,
    );
    assert.ok(outcome === ERR.REVOKED || outcome === 0);
    if (request === awaited[0]) assert.equal(outcome, ERR.REVOKED);
  }
  comm.free();
});

await check("ULFM revoke: what is started later, and messages to nobody", () => {
  const comm = copyOf(world);
  comm.revoke();
  const data = new Int32Array(2);
  const later: (() => unknown)[] = [
    () => comm.send(data, { dest: 0 }),
    () => comm.send(data, { dest: mpi.PROC_NULL }),
    () => comm.send({ an: "object" }, { dest: 0 }),
    () => comm.recv(data, { source: mpi.PROC_NULL }),
    () => comm.isend(data, { dest: 0 }).wait(),
    () => comm.irecv(data).wait(),
    () => comm.sendrecv(data, { dest: 0 }, new Int32Array(2)),
    () => comm.iprobe(),
    () => comm.alltoall(new Int32Array(size)),
    () => comm.ibarrier().wait(),
    () => comm.barrierInit().start().wait(),
    () => comm.split(0),
    () => comm.cartCreate([size]),
  ];
  for (const call of later) assert.equal(codeOf(call), ERR.REVOKED, `${call}`);
  comm.free();
  assert.equal(
    codeOf(() => comm.revoke()),
    ERR.COMM,
  );
});

await check("ULFM agree, iagree: what all have set, also on a revoked communicator", async () => {
  const comm = copyOf(world);
  assert.equal(comm.agree(0b1100 | (rank === 0 ? 1 : 2)), size === 1 ? 0b1101 : 0b1100);
  if (rank === 0) comm.revoke();
  const requests = [comm.iagree(~(1 << (rank % 31))), comm.iagree(-1)];
  assert.deepEqual([await requests[1]!, requests[0]!.wait()], [-1, -1 << size]);
  assert.equal(
    codeOf(() => comm.agree(0.5)),
    ERR.ARG,
  );
  comm.free();
});

await check("ULFM shrink, ishrink: the survivors of a revoked communicator, here all", async () => {
  const comm = copyOf(world);
  comm.name = "first";
  if (rank === last) comm.revoke();
  const started = comm.ishrink();
  const all = [comm.shrink(), await started];
  for (const survivors of all) {
    assert.equal(survivors.compare(world), mpi.CONGRUENT);
    assert.equal(survivors.isRevoked, false);
    assert.equal(survivors.allreduce(Int32Array.of(rank), "sum")[0], (size * last) / 2);
    const copy = survivors.dup();
    copy.barrier();
    copy.free();
    survivors.free();
  }
  comm.free();
});

await check("ULFM revoke, agree and shrink on both sides of an inter-communicator", () => {
  const half = world.split(rank % 2)!;
  const inter = half.createInter({ bridge: world, remoteLeader: 1 - (rank % 2) });
  world.barrier();
  if (!revokes(inter))
    assert.equal(
      codeOf(() => inter.barrier()),
      ERR.REVOKED,
    );
  assert.equal(inter.agree(1 | (rank << 1)), 1);
  const survivors = inter.shrink();
  assert.deepEqual([survivors.isInter, survivors.remoteSize], [true, size - half.size]);
  survivors.barrier();
  for (const comm of [survivors, inter, half]) comm.free();
});

await check("ULFM nobody is dead", () => {
  assert.deepEqual(world.failed().worldRanks, []);
  assert.deepEqual(world.acknowledged().worldRanks, []);
  assert.deepEqual([world.ackFailed(), world.ackFailed(3)], [0, 0]);
  assert.equal(
    codeOf(() => world.ackFailed(-1)),
    ERR.ARG,
  );
});

done();
