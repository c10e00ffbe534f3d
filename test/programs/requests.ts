// M2: completion (MPI 5.0 §3.7, §3.8, §13.2). Every rank talks to its neighbours; with one rank these are itself.
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, codeOf, done, range } from "./checks.ts";

const { world } = mpi;
const { rank, size } = world;
const right = (rank + 1) % size;
const left = (rank - 1 + size) % size;

await check("M2 §3.7.3 wait and test: the outcome is given once, then the request is inactive", () => {
  const into = new Int32Array(2);
  const request = world.irecv(into, { source: left, tag: 1 });
  assert.equal(request.test(), null);
  assert.equal(request.isActive, true);
  world.barrier();
  world.send(Int32Array.of(rank, 5), { dest: right, tag: 1 });
  let status = null;
  while (status === null) status = request.test();
  assert.deepEqual([status.source, status.count(Int32Array), status.cancelled], [left, 2, false]);
  assert.equal(request.isActive, false);
  assert.deepEqual([request.wait().bytes, request.wait().source], [0, mpi.ANY_SOURCE]);
});

await check("M2 §3.7.5 waitall and testall", () => {
  const buffers = range(8).map(() => new Float64Array(1000));
  const receives = buffers.map((buffer, tag) => world.irecv(buffer, { source: left, tag }));
  assert.equal(mpi.testAll(receives), null);
  world.barrier();
  const sends = range(8).map((tag) => world.isend(new Float64Array(1000).fill(tag + rank), { dest: right, tag }));
  const statuses = mpi.waitAll([...receives, ...sends]);
  assert.deepEqual(
    statuses.slice(0, 8).map((status) => status.tag),
    range(8),
  );
  for (const [tag, buffer] of buffers.entries()) assert.equal(buffer[999], tag + left);
  assert.equal(mpi.testAll([...receives, ...sends])!.length, 16);
  assert.deepEqual(mpi.waitAll([]), []);
});

await check("M2 §3.7.5 waitany and testany", () => {
  const buffers = range(4).map(() => new Int32Array(1));
  const receives = buffers.map((buffer, tag) => world.irecv(buffer, { source: left, tag }));
  assert.equal(mpi.testAny(receives), null);
  world.barrier();
  for (const tag of [2, 0, 3, 1]) {
    world.send(Int32Array.of(tag), { dest: right, tag });
    const { index, status } = mpi.waitAny(receives);
    assert.deepEqual([index, status.tag, buffers[tag]![0]], [tag, tag, tag]);
    world.barrier();
  }
  assert.equal(mpi.waitAny(receives).index, mpi.UNDEFINED);
  assert.equal(mpi.testAny(receives)!.index, mpi.UNDEFINED);
});

await check("M2 §3.7.5 waitsome and testsome", () => {
  const receives = range(6).map((tag) => world.irecv(new Int32Array(1), { source: left, tag }));
  assert.deepEqual(mpi.testSome(receives), []);
  world.barrier();
  for (const tag of range(6)) world.send(Int32Array.of(tag), { dest: right, tag });
  const seen: number[] = [];
  while (seen.length < 6) for (const { index } of mpi.waitSome(receives)) seen.push(index);
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    range(6),
  );
  assert.deepEqual(mpi.waitSome(receives), []);
});

await check("M2 §3.7.6 peek leaves the request as it is", () => {
  const request = world.irecv(new Float64Array(3), { source: left, tag: 2 });
  assert.equal(request.peek(), null);
  world.barrier();
  world.send(Float64Array.of(1, 2), { dest: right, tag: 2 });
  let status = null;
  while (status === null) status = request.peek();
  assert.deepEqual([status.source, status.count(mpi.DOUBLE)], [left, 2]);
  assert.equal(request.isActive, true);
  assert.equal(request.wait().bytes, 16);
});

await check("M2 §3.7.3 free: sends go on, what is received with a datatype lands where it belongs", () => {
  world.isend(Float64Array.of(rank), { dest: right, tag: 3 }).free();
  const into = new Float64Array(1);
  world.recv(into, { source: left, tag: 3 });
  assert.equal(into[0], left);
  const column = mpi.types.vector(mpi.DOUBLE, { count: 3, blocklength: 1, stride: 2 }).commit();
  const matrix = new Float64Array(6);
  world.irecv({ data: matrix, type: column, count: 1 }, { source: left, tag: 4 }).free();
  world.barrier();
  world.send(Float64Array.of(1, 2, 3), { dest: right, tag: 4 });
  world.send(Float64Array.of(0), { dest: right, tag: 5 });
  world.recv(into, { source: left, tag: 5 });
  assert.deepEqual([...matrix], [1, 0, 2, 0, 3, 0]);
  const persistent = world.recvInit(into, { source: left, tag: 6 });
  persistent.free();
});

await check("M2 §3.2.5 status: counts and elements of datatypes", () => {
  const pair = mpi.types.struct({ blocklengths: [1, 1], displacements: [0, 8], types: [mpi.INT, mpi.DOUBLE] }).commit();
  const request = world.irecv(new Uint8Array(100), { source: left, tag: 7 });
  world.send({ data: new Uint8Array(64), type: pair, count: 3 }, { dest: right, tag: 7 });
  const status = request.wait();
  assert.deepEqual([status.bytes, status.count(pair), status.elements(pair)], [36, 3, 6]);
  assert.equal(status.count(mpi.DOUBLE), mpi.UNDEFINED);
  const partial = world.irecv(new Uint8Array(100), { source: left, tag: 7 });
  world.send(new Uint8Array(16), { dest: right, tag: 7 });
  const half = partial.wait();
  assert.deepEqual([half.count(pair), half.elements(pair)], [mpi.UNDEFINED, 3]);
});

await check("M7 await: requests are awaited, in any order, while the event loop goes on", async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 1);
  const into = new Float64Array(2);
  const request = world.irecv(into, { source: left, tag: 8 });
  // The event loop goes on while the receive is pending.
  while (ticks === 0) await new Promise((resolve) => setImmediate(resolve));
  world.send(Float64Array.of(rank, 8), { dest: right, tag: 8 });
  const status = await request;
  assert.deepEqual([status.source, ...into], [left, left, 8]);
  clearInterval(ticking);
  const buffers = range(5).map(() => new Int32Array(1));
  const receives = buffers.map((buffer, tag) => world.irecv(buffer, { source: left, tag }));
  for (const tag of [4, 2, 0, 1, 3]) world.isend(Int32Array.of(tag), { dest: right, tag }).free();
  const statuses = await Promise.all(receives);
  assert.deepEqual(
    statuses.map((each) => each.tag),
    range(5),
  );
  const sum = await world.iallreduce(Float64Array.of(1), "sum");
  assert.equal(sum[0], size);
});

await check("M7 await keeps the thread alive when nothing else does", async () => {
  const into = new Int32Array(1);
  const request = world.irecv(into, { source: left, tag: 9 });
  world.barrier();
  if (size === 1) world.send(Int32Array.of(1), { dest: 0, tag: 9 });
  else if (rank === 0) world.send(Int32Array.of(1), { dest: right, tag: 9 });
  await request;
  if (size > 1 && rank !== 0) world.send(into, { dest: right, tag: 9 });
  assert.equal(into[0], 1);
});

await check("M2 §3.9 misuse of requests", () => {
  const persistent = world.recvInit(new Int32Array(1), { source: left, tag: 10 }).start();
  assert.equal(
    codeOf(() => persistent.start()),
    mpi.ERR.REQUEST,
  );
  world.send(Int32Array.of(1), { dest: right, tag: 10 });
  persistent.wait();
  const barrier = world.ibarrier();
  assert.equal(
    codeOf(() => barrier.cancel()),
    mpi.ERR.REQUEST,
  );
  assert.equal(
    codeOf(() => barrier.free()),
    mpi.ERR.REQUEST,
  );
  barrier.wait();
  const message = (() => {
    world.isend(Int32Array.of(1), { dest: right, tag: 11 }).free();
    return world.mprobe({ source: left, tag: 11 });
  })();
  message.recv(new Int32Array(1));
  assert.equal(
    codeOf(() => message.recv(new Int32Array(1))),
    mpi.ERR.REQUEST,
  );
});

await check("M2 §3.7.5 errors of several requests: IN_STATUS, and each status tells", () => {
  const receives = range(2).map((tag) => world.irecv(new Uint8Array(tag === 0 ? 4 : 16), { source: left, tag }));
  for (const tag of range(2)) world.send(new Uint8Array(8), { dest: right, tag });
  try {
    mpi.waitAll(receives);
    assert.fail("nothing was thrown");
  } catch (error) {
    const { code, statuses } = error as { code: number; statuses: { error: number }[] };
    assert.equal(code, mpi.ERR.IN_STATUS);
    assert.deepEqual(
      statuses.map((status) => status.error),
      [mpi.ERR.TRUNCATE, 0],
    );
  }
  const short = world.irecv(new Uint8Array(2), { source: left, tag: 3 });
  world.send(Uint8Array.of(1, 2, 3), { dest: right, tag: 3 });
  assert.equal(
    codeOf(() => short.wait()),
    mpi.ERR.TRUNCATE,
  );
});

await check("M2 §13.2 generalized requests", async () => {
  const calls: string[] = [];
  const make = () =>
    mpi.startGeneralRequest({
      query: (status) => {
        calls.push("query");
        status.source = 3;
        status.setElements(mpi.INT, 2);
      },
      free: () => calls.push("free"),
      cancel: (isComplete) => calls.push(`cancel ${isComplete}`),
    });
  const request = make();
  assert.equal(request.test(), null);
  setImmediate(() => request.complete());
  const status = await request;
  assert.deepEqual([status.source, status.count(mpi.INT)], [3, 2]);
  assert.deepEqual(calls, ["query", "free"]);
  calls.length = 0;
  const second = make();
  second.cancel();
  second.complete();
  second.complete();
  assert.equal(mpi.waitAny([second]).index, 0);
  assert.deepEqual(calls, ["cancel false", "query", "free"]);
  calls.length = 0;
  const freed = make();
  freed.free();
  assert.deepEqual(calls, []);
  freed.complete();
  assert.deepEqual(calls, ["free"]);
});

done();
