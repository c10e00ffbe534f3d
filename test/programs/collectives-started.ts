// M3: non-blocking and persistent collectives (MPI 5.0 §6.12, §6.13), inter-communicators, and misuse.
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, codeOf, done, range } from "./checks.ts";

const { world } = mpi;
const { rank, size } = world;
const last = size - 1;
const triangle = (size * last) / 2;

await check("M3 §6.12 all of them at once, completed in any order, results typed", async () => {
  const mine = Float64Array.of(rank, 1);
  const column = Int32Array.from(range(size), (to) => rank * 100 + to);
  const counts = range(size).map((each) => each + 1);
  const uneven = new Uint8Array(rank + 1).fill(rank);
  const whole = Float64Array.from(range(2 * size), (i) => i);
  const barrier = world.ibarrier();
  const bcast = world.ibcast(rank === last ? Int32Array.of(5, 6) : new Int32Array(2), { root: last });
  const object = world.ibcast(rank === 0 ? { deep: [1] } : null);
  const gather = world.igather(mine, { root: last });
  const gatherv = world.igatherv(uneven, rank === 0 ? { counts } : {});
  const scatter = world.iscatter(rank === 0 ? whole : null, { into: new Float64Array(2) });
  const scatterv = world.iscatterv(rank === 0 ? new Uint8Array(100).fill(9) : null, {
    ...(rank === 0 ? { counts } : {}),
    into: new Uint8Array(rank + 1),
  });
  const values = world.igather({ rank }, { root: 0 });
  const allgather = world.iallgather(mine);
  const objects = world.iallgather(`r${rank}`);
  const allgatherv = world.iallgatherv(uneven, { counts });
  const alltoall = world.ialltoall(column);
  const alltoallv = world.ialltoallv(column, {
    sendCounts: range(size).map(() => 1),
    recvCounts: range(size).map(() => 1),
  });
  const alltoallw = world.ialltoallw(
    range(size).map((to) => Int32Array.of(rank, to)),
    { into: range(size).map(() => new Int32Array(2)) },
  );
  const exchanged = world.ialltoall(range(size).map((to) => ({ from: rank, to })));
  const handed = world.iscatter(rank === last ? range(size).map((each) => `for ${each}`) : null, { root: last });
  const reduce = world.ireduce(mine, "sum", { root: last });
  const allreduce = world.iallreduce(mine, "max");
  const reduceScatter = world.ireduceScatter(Float64Array.from(range((size * (size + 1)) / 2)), "sum", { counts });
  const block = world.ireduceScatterBlock(Int32Array.from(range(size)), "sum");
  const scan = world.iscan(mine, "sum");
  const exscan = world.iexscan(mine, "sum");

  const allreduced: Float64Array = await allreduce;
  assert.deepEqual([...allreduced], [last, 1]);
  assert.deepEqual([...scan.wait()], [(rank * (rank + 1)) / 2, rank + 1]);
  assert.deepEqual(exscan.wait()?.[1] ?? null, rank === 0 ? null : rank);
  assert.deepEqual([...block.wait()], [rank * size]);
  assert.equal(reduceScatter.wait().length, rank + 1);
  assert.deepEqual(reduce.wait()?.[0] ?? null, rank === last ? triangle : null);
  assert.equal(handed.wait(), `for ${rank}`);
  assert.deepEqual(
    exchanged.wait(),
    range(size).map((from) => ({ from, to: rank })),
  );
  for (const [from, part] of alltoallw.wait().entries()) assert.deepEqual([...part], [from, rank]);
  assert.deepEqual(
    [...alltoallv.wait()],
    range(size).map((from) => from * 100 + rank),
  );
  assert.deepEqual([...(await alltoall)], [...alltoallv.result!]);
  assert.deepEqual(
    [...allgatherv.wait()],
    range(size).flatMap((each) => new Array(each + 1).fill(each)),
  );
  assert.deepEqual(
    objects.wait(),
    range(size).map((each) => `r${each}`),
  );
  assert.equal(allgather.wait()[2 * last], last);
  assert.deepEqual(values.wait(), rank === 0 ? range(size).map((each) => ({ rank: each })) : null);
  assert.equal(scatterv.wait()[rank], 9);
  assert.deepEqual([...scatter.wait()], [2 * rank, 2 * rank + 1]);
  assert.equal(gatherv.wait()?.length ?? 0, rank === 0 ? (size * (size + 1)) / 2 : 0);
  assert.equal(gather.wait()?.length ?? 0, rank === last ? 2 * size : 0);
  assert.deepEqual(object.wait(), { deep: [1] });
  assert.deepEqual([...bcast.wait()], [5, 6]);
  barrier.wait();
});

await check(
  "M3 §6.12 many outstanding, mixed with blocking ones and with waitall; results stay with the requests",
  () => {
    const requests = range(40).map((i) => world.iallreduce(new Float64Array(i * 50 + 1).fill(rank + i), "sum"));
    assert.equal(world.allreduce(Int32Array.of(1), "sum")[0], size);
    const messages = [
      world.isend(Int32Array.of(rank), { dest: rank }),
      world.irecv(new Int32Array(1), { source: rank }),
    ];
    mpi.waitAll([...requests, ...messages]);
    for (const [i, request] of requests.entries()) assert.equal(request.result![0], triangle + size * i);
    assert.equal(requests[3]!.wait()[0], triangle + size * 3);
  },
);

await check("M3 §6.12 an ibarrier is not complete before everybody has come", () => {
  if (size === 1) return;
  const gate = world.irecv(new Int32Array(1), { source: 0, tag: 9 });
  if (rank !== 0) {
    const barrier = world.ibarrier();
    for (let i = 0; i < 200; i++) assert.equal(barrier.test(), null);
    world.send(Int32Array.of(1), { dest: 0, tag: 8 });
    barrier.wait();
  } else {
    for (let i = 1; i < size; i++) world.recv(new Int32Array(1), { tag: 8 });
    world.ibarrier().wait();
    for (const dest of range(size)) world.send(Int32Array.of(1), { dest, tag: 9 });
  }
  gate.wait();
});

await check("M3 §6.13 persistent collectives, started in different orders", () => {
  const data = new Float64Array(3);
  const sum = world.allreduceInit(data, "sum", { into: new Float64Array(3) });
  const maximum = world.allreduceInit(data, "max");
  const buffer = new Int32Array(2);
  const bcast = world.bcastInit(buffer, { root: last });
  const barrier = world.barrierInit();
  const all = world.allgatherInit(data);
  for (let round = 0; round < 5; round++) {
    data.fill(rank + round);
    buffer.fill(rank === last ? round : -1);
    const order = [sum, maximum, bcast, barrier, all];
    mpi.startAll((rank + round) % 2 === 0 ? order : order.reverse());
    mpi.waitAll([sum, maximum, bcast, barrier, all]);
    assert.equal(sum.result![2], triangle + size * round);
    assert.equal(maximum.result![0], last + round);
    assert.deepEqual([...buffer], [round, round]);
    assert.equal(all.result![3 * last], last + round);
  }
});

await check("M3 §6.13 every persistent form", () => {
  const mine = Float64Array.of(rank);
  const counts = range(size).map(() => 1);
  const all = Float64Array.from(range(size));
  const requests = {
    gather: world.gatherInit(mine, { root: 0 }),
    gatherv: world.gathervInit(mine, rank === 0 ? { counts } : {}),
    scatter: world.scatterInit(rank === 0 ? all : null, { into: new Float64Array(1) }),
    scatterv: world.scattervInit(rank === 0 ? all : null, {
      ...(rank === 0 ? { counts } : {}),
      into: new Float64Array(1),
    }),
    allgatherv: world.allgathervInit(mine, { counts }),
    alltoall: world.alltoallInit(all),
    alltoallv: world.alltoallvInit(all, { sendCounts: counts, recvCounts: counts }),
    alltoallw: world.alltoallwInit(
      range(size).map(() => mine),
      { into: range(size).map(() => new Float64Array(1)) },
    ),
    reduce: world.reduceInit(mine, "sum", { root: last }),
    reduceScatter: world.reduceScatterInit(all, "sum", { counts }),
    block: world.reduceScatterBlockInit(all, "sum"),
    scan: world.scanInit(mine, "sum"),
    exscan: world.exscanInit(mine, "sum"),
  };
  for (let round = 0; round < 2; round++) {
    mpi.startAll(Object.values(requests));
    mpi.waitAll(Object.values(requests));
    if (rank === 0) assert.deepEqual([...requests.gather.result!], range(size));
    if (rank === 0) assert.deepEqual([...requests.gatherv.result!], range(size));
    assert.equal(requests.scatter.result![0], rank);
    assert.equal(requests.scatterv.result![0], rank);
    assert.equal(requests.allgatherv.result![last], last);
    assert.deepEqual(
      [...requests.alltoall.result!],
      range(size).map(() => rank),
    );
    assert.deepEqual(
      [...requests.alltoallv.result!],
      range(size).map(() => rank),
    );
    for (const [from, part] of requests.alltoallw.result!.entries()) assert.equal(part[0], from);
    if (rank === last) assert.equal(requests.reduce.result![0], triangle);
    assert.equal(requests.reduceScatter.result![0], rank * size);
    assert.equal(requests.block.result![0], rank * size);
    assert.equal(requests.scan.result![0], (rank * (rank + 1)) / 2);
    if (rank > 0) assert.equal(requests.exscan.result![0], (rank * (rank - 1)) / 2);
  }
});

await check("M3 §6.2.3 inter-communicators: every collective, both groups", () => {
  if (size === 1) return;
  const isLow = rank < Math.ceil(size / 2);
  const half = world.split(isLow ? 0 : 1)!;
  const lowSize = Math.ceil(size / 2);
  const inter = half.createInter({ bridge: world, remoteLeader: isLow ? lowSize : 0, tag: 3 });
  const { remoteSize } = inter;
  const theirs = range(size).filter((each) => each < lowSize !== isLow);
  const sum = theirs.reduce((a, b) => a + b, 0);
  inter.barrier();
  // From rank 0 of the low group to the high group, and the other way round.
  const root = isLow ? (half.rank === 0 ? mpi.ROOT : mpi.PROC_NULL) : 0;
  const back = isLow ? 0 : half.rank === 0 ? mpi.ROOT : mpi.PROC_NULL;
  const data = Int32Array.of(root === mpi.ROOT ? 42 : 0);
  inter.bcast(data, { root });
  if (!isLow) assert.equal(data[0], 42);
  const value = inter.bcast(back === mpi.ROOT ? { hello: "low" } : null, { root: back });
  if (isLow) assert.deepEqual(value, { hello: "low" });
  const mine = Float64Array.of(rank);
  const gathered = inter.gather(mine, { root, ...(root === mpi.ROOT ? { into: new Float64Array(remoteSize) } : {}) });
  if (root === mpi.ROOT) assert.deepEqual([...gathered!], theirs);
  else assert.equal(gathered, null);
  const objects = inter.gather(`r${rank}`, { root: back });
  if (back === mpi.ROOT)
    assert.deepEqual(
      objects,
      theirs.map((each) => `r${each}`),
    );
  const source = root === mpi.ROOT ? Float64Array.from(theirs) : null;
  const part = inter.scatter(source, { root, into: new Float64Array(1) });
  if (!isLow) assert.equal(part[0], rank);
  assert.deepEqual([...inter.allgather(mine, { into: new Float64Array(remoteSize) })], theirs);
  assert.deepEqual(
    inter.allgather({ rank }),
    theirs.map((each) => ({ rank: each })),
  );
  assert.deepEqual([...inter.allgatherv(mine, { counts: theirs.map(() => 1) })], theirs);
  const exchanged = inter.alltoall(Float64Array.from(theirs, (to) => rank * 100 + to));
  assert.deepEqual(
    [...exchanged],
    theirs.map((from) => from * 100 + rank),
  );
  assert.deepEqual(
    inter.alltoall(theirs.map((to) => [rank, to])),
    theirs.map((from) => [from, rank]),
  );
  const one = theirs.map(() => 1);
  const moved = inter.alltoallv(
    Float64Array.from(theirs, () => rank),
    { sendCounts: one, recvCounts: one },
  );
  assert.deepEqual([...moved], theirs);
  assert.equal(inter.allreduce(mine, "sum")[0], sum);
  const reduced = inter.reduce(root < 0 ? null : mine, "sum", {
    root,
    ...(root === mpi.ROOT ? { into: new Float64Array(1) } : {}),
  });
  if (root === mpi.ROOT) assert.equal(reduced![0], sum);
  const counts = range(half.size).map((each) => (each === 0 ? 12 - (half.size - 1) : 1));
  const scattered = inter.reduceScatter(new Float64Array(12).fill(rank), "sum", { counts });
  assert.deepEqual([scattered.length, scattered[0]], [counts[half.rank], sum]);
  assert.equal(inter.iallreduce(mine, "max").wait()[0], Math.max(...theirs));
  assert.equal(
    codeOf(() => inter.scan(mine, "sum")),
    mpi.ERR.COMM,
  );
  assert.equal(
    codeOf(() => inter.allreduce(mpi.IN_PLACE, "sum", { into: mine })),
    mpi.ERR.ARG,
  );
  assert.equal(
    codeOf(() => inter.bcast(mine, { root: size })),
    mpi.ERR.ROOT,
  );
  inter.free();
  half.free();
});

await check("M3 §9 wrong arguments: standard classes, our sentences", () => {
  const one = new Float64Array(1);
  const message = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      return (error as Error).message;
    }
    return "nothing";
  };
  assert.equal(
    codeOf(() => world.bcast(one, { root: size })),
    mpi.ERR.ROOT,
  );
  assert.equal(
    message(() => world.bcast(one, { root: -1 })),
    `Cannot broadcast with root -1: communicator "world" has ranks 0 to ${last}`,
  );
  assert.equal(
    codeOf(() => world.gather(one, { root: 0.5 })),
    mpi.ERR.ROOT,
  );
  assert.equal(
    codeOf(() => world.allreduce(one, "total" as "sum")),
    mpi.ERR.OP,
  );
  assert.equal(
    codeOf(() => world.allreduce(one, "band")),
    mpi.ERR.OP,
  );
  assert.equal(message(() => world.allreduce(one, "band")).startsWith("Cannot apply MPI_BAND to MPI_DOUBLE: "), true);
  assert.equal(
    codeOf(() => world.allreduce(new DataView(new ArrayBuffer(8)), "sum")),
    mpi.ERR.OP,
  );
  assert.equal(
    codeOf(() => world.allreduce(one, "sum", { into: new Float64Array(0) })),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.allreduce(one, "sum", { into: one })),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.allreduce(one as never, "sum", { into: new Int32Array(1) as never })),
    mpi.ERR.TYPE,
  );
  assert.equal(
    codeOf(() => world.allreduce(mpi.IN_PLACE, "sum")),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.allgather(one, { into: new Float64Array(size - 1) })),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.allgather(mpi.IN_PLACE)),
    mpi.ERR.BUFFER,
  );
  if (size > 1)
    assert.equal(
      codeOf(() => world.alltoall(new Float64Array(size + 1))),
      mpi.ERR.COUNT,
    );
  if (size > 1)
    assert.equal(
      codeOf(() => world.reduceScatterBlock(new Float64Array(size + 1), "sum")),
      mpi.ERR.COUNT,
    );
  assert.equal(
    codeOf(() => world.allgatherv(one, { counts: [] })),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.allgatherv(one, { counts: range(size).map(() => 2) })),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.allgatherv(one, { counts: range(size).map(() => -1) })),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.reduceScatter(one, "sum", { counts: range(size).map(() => 5) })),
    mpi.ERR.COUNT,
  );
  // They add up to the elements that there are.
  const strange = range(size).map((rank) => [-1, 1][rank] ?? 0);
  assert.equal(
    codeOf(() => world.reduceScatter(new Float64Array(0), "sum", { counts: strange })),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.alltoall(["too", "many", ...range(size)])),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.neighborAllgather(one)),
    mpi.ERR.TOPOLOGY,
  );
  const type = mpi.types.contiguous(mpi.INT, 2);
  assert.equal(
    codeOf(() => world.bcast({ data: new Int32Array(2), type })),
    mpi.ERR.TYPE,
  );
  assert.equal(
    codeOf(() => world.bcast({ data: new Int32Array(2), type: mpi.INT, count: 3 })),
    mpi.ERR.BUFFER,
  );
  // Everybody made the same mistakes, so the collectives still match.
  assert.equal(world.allreduce(Int32Array.of(1), "sum")[0], size);
});

done();
