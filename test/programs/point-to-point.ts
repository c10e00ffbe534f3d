// M1: messages between two ranks (MPI 5.0 chapter 3). Every rank talks to its right and left neighbour; with one rank
// these are itself.
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, done, range } from "./checks.ts";

const { world } = mpi;
const { rank, size } = world;
const right = (rank + 1) % size;
const left = (rank - 1 + size) % size;

/** Sends to the right while receiving from the left: works for one rank too. */
function passOn(send: () => { wait(): unknown }, buffer: Float64Array, tag: number) {
  const received = world.irecv(buffer, { source: left, tag });
  const sent = send();
  const status = received.wait();
  sent.wait();
  return status;
}

await check("M1 §3.2 blocking standard send and receive, all kinds of arrays, status", () => {
  const arrays = [
    Int8Array.of(-1, 2),
    Uint8Array.of(1, 255),
    Uint8ClampedArray.of(3),
    Int16Array.of(-5, 6, 7),
    Uint16Array.of(65535),
    Int32Array.of(-9, 8),
    Uint32Array.of(4294967295),
    BigInt64Array.of(-1n, 2n ** 40n),
    BigUint64Array.of(2n ** 63n),
    Float32Array.of(0.5),
    Float64Array.of(Math.PI, -0, Number.NaN),
    new Float64Array(0),
  ] as const;
  for (const [tag, array] of arrays.entries()) {
    const into = new (array.constructor as Float64ArrayConstructor)(array.length);
    const request = world.irecv(into, { source: left, tag });
    world.send(array, { dest: right, tag });
    const status = request.wait();
    assert.deepEqual(into, array);
    assert.deepEqual([status.source, status.tag, status.bytes, status.error], [left, tag, array.byteLength, 0]);
    assert.equal(status.count(array.constructor as Float64ArrayConstructor), array.length);
  }
  const view = new DataView(new ArrayBuffer(3));
  const request = world.irecv(view, { source: left });
  world.send(new DataView(Uint8Array.of(1, 2, 3).buffer), { dest: right });
  assert.equal(request.wait().bytes, 3);
  assert.equal(view.getUint8(2), 3);
});

await check("M1 §3.4 communication modes, blocking and non-blocking", () => {
  const modes = ["isend", "issend", "ibsend", "irsend"] as const;
  for (const [tag, mode] of modes.entries()) {
    const into = new Float64Array(3);
    passOn(() => world[mode](Float64Array.of(rank, tag, 7), { dest: right, tag }), into, tag);
    assert.deepEqual([...into], [left, tag, 7]);
  }
  for (const [tag, mode] of (["send", "ssend", "bsend", "rsend"] as const).entries()) {
    const into = new Float64Array(2);
    if (size === 1 && mode === "ssend") continue;
    const request = world.irecv(into, { source: left, tag });
    if (size > 1) world.barrier();
    world[mode](Float64Array.of(rank, tag), { dest: right, tag });
    request.wait();
    assert.deepEqual([...into], [left, tag]);
  }
});

await check("M1 §3.4 a synchronous send completes only when the receive has started", () => {
  if (size === 1) return;
  const token = new Int32Array(1);
  const sent = world.issend(Int32Array.of(1), { dest: right, tag: 1 });
  for (let i = 0; i < 100; i++) assert.equal(sent.test(), null);
  world.barrier();
  world.recv(token, { source: left, tag: 1 });
  sent.wait();
});

await check("M1 §3.5 order: messages of one pair do not overtake each other, whatever their length", () => {
  const lengths = [1, 5000, 2, 100_000, 3, 0, 20_000, 4];
  const requests = lengths.map((length, i) => world.isend(new Float64Array(length).fill(i), { dest: right, tag: 4 }));
  for (const [i, length] of lengths.entries()) {
    const into = new Float64Array(100_000);
    const status = world.recv(into, { source: left, tag: mpi.ANY_TAG });
    assert.equal(status.bytes, length * 8);
    if (length > 0) assert.deepEqual([into[0], into[length - 1]], [i, i]);
  }
  mpi.waitAll(requests);
});

await check("M1 §3.5 tags select: a later message with the wanted tag is taken first", () => {
  const requests = range(6).map((tag) => world.isend(Int32Array.of(tag), { dest: right, tag }));
  for (const tag of [5, 0, 4, 1, 3, 2]) {
    const into = new Int32Array(1);
    world.recv(into, { source: left, tag });
    assert.equal(into[0], tag);
  }
  mpi.waitAll(requests);
});

await check("M1 §3.2.4 wildcards: ANY_SOURCE and ANY_TAG tell who it was", () => {
  const requests = range(size).map((dest) => world.isend(Int32Array.of(rank, 10 + dest), { dest, tag: 10 + dest }));
  const seen = new Set<number>();
  for (let i = 0; i < size; i++) {
    const into = new Int32Array(2);
    const status = world.recv(into, {});
    assert.equal(status.source, into[0]);
    assert.deepEqual([status.tag, into[1]], [10 + rank, 10 + rank]);
    seen.add(status.source);
  }
  assert.equal(seen.size, size);
  mpi.waitAll(requests);
});

await check("M1 §3.10 PROC_NULL and sendrecv", () => {
  world.send(Int32Array.of(1), { dest: mpi.PROC_NULL });
  const untouched = Int32Array.of(5);
  const status = world.recv(untouched, { source: mpi.PROC_NULL });
  assert.deepEqual([status.source, status.tag, status.bytes, untouched[0]], [mpi.PROC_NULL, mpi.ANY_TAG, 0, 5]);
  assert.equal(world.probe({ source: mpi.PROC_NULL }).source, mpi.PROC_NULL);
  assert.equal(world.mprobe({ source: mpi.PROC_NULL }).recv(untouched).source, mpi.PROC_NULL);
  const into = new Float64Array(2);
  world.sendrecv(Float64Array.of(rank, 1), { dest: right }, into, { source: left });
  assert.deepEqual([...into], [left, 1]);
  const both = Float64Array.of(rank, 2);
  world.sendrecvReplace(both, { dest: right, tag: 3 }, { source: left, tag: 3 });
  assert.deepEqual([...both], [left, 2]);
  world.isendrecv(Float64Array.of(rank, 3), { dest: right }, into, { source: left }).wait();
  assert.deepEqual([...into], [left, 3]);
  const replaced = Float64Array.of(rank);
  world.isendrecvReplace(replaced, { dest: right }, { source: left }).wait();
  assert.equal(replaced[0], left);
});

await check("M1 §3.10 isendrecv is complete when both halves are: then what was sent may be changed", () => {
  if (size === 1) return;
  // Too long to be eager: the right neighbour takes it from our memory, when it comes to that.
  const [out, into] = [new Float64Array(100_000).fill(rank), new Float64Array(100_000)];
  const [early, go] = [new Int32Array(1), new Int32Array(1)];
  const request = world.isendrecv(out, { dest: right, tag: 1 }, early, { source: right, tag: 2 });
  world.send(Int32Array.of(rank), { dest: left, tag: 2 });
  world.send(go, { dest: left, tag: 3 });
  world.recv(go, { source: right, tag: 3 });
  assert.equal(early[0], right);
  assert.deepEqual(
    [request.test(), mpi.testAll([request]), request.peek(), request.isComplete],
    [null, null, null, false],
  );
  world.barrier();
  world.recv(into, { source: left, tag: 1 });
  assert.equal(into[99_999], left);
  assert.deepEqual([request.wait().source, request.isActive], [right, false]);
  assert.throws(() => world.sendrecv(out, { dest: size }, into, { source: left }), { code: mpi.ERR.RANK });
  assert.equal(world.iprobe({ source: left }), null);
});

await check("M1 §3.8 probe, iprobe, mprobe, improbe", () => {
  assert.equal(world.iprobe({ source: left, tag: 99 }), null);
  const first = world.isend(new Float64Array(3).fill(rank), { dest: right, tag: 5 });
  const second = world.isend(new Float64Array(4000).fill(rank), { dest: right, tag: 6 });
  const status = world.probe({ source: left, tag: 6 });
  assert.deepEqual([status.source, status.tag, status.count(mpi.DOUBLE)], [left, 6, 4000]);
  const message = world.mprobe({ source: left, tag: 5 });
  assert.equal(world.iprobe({ source: left, tag: 5 }), null);
  const into = new Float64Array(message.status.count(mpi.DOUBLE));
  message.recv(into);
  assert.deepEqual([...into], [left, left, left]);
  let found = null;
  while (found === null) found = world.improbe({ tag: 6 });
  const large = new Float64Array(4000);
  found.irecv(large).wait();
  assert.equal(large[3999], left);
  mpi.waitAll([first, second]);
});

await check("M1 §3.8.4 cancel: a receive that matched nothing, a send that nobody took", () => {
  const receive = world.irecv(new Int32Array(1), { source: left, tag: 77 });
  receive.cancel();
  assert.equal(receive.wait().cancelled, true);
  if (size === 1) return;
  const send = world.issend(Int32Array.of(1), { dest: right, tag: 78 });
  send.cancel();
  const cancelled = send.wait().cancelled;
  assert.equal(cancelled, true);
  world.barrier();
  assert.equal(world.iprobe({ source: left, tag: 78 }), null);
  const matched = world.irecv(new Int32Array(1), { source: left, tag: 79 });
  world.send(Int32Array.of(4), { dest: right, tag: 79 });
  while (!matched.isComplete) world.iprobe();
  matched.cancel();
  assert.equal(matched.wait().cancelled, false);
});

await check("M1 §3.9 persistent requests of all modes", () => {
  const out = new Float64Array(2);
  const into = new Float64Array(2);
  const receive = world.recvInit(into, { source: left, tag: 8 });
  for (const kind of ["sendInit", "ssendInit", "bsendInit", "rsendInit"] as const) {
    const send = world[kind](out, { dest: right, tag: 8 });
    for (let round = 0; round < 3; round++) {
      out.set([rank, round]);
      assert.equal(send.isActive, false);
      receive.start();
      if (kind === "rsendInit") world.barrier();
      send.start();
      mpi.waitAll([receive, send]);
      assert.deepEqual([...into], [left, round]);
    }
    send.free();
  }
  mpi.startAll([receive]);
  world.send(out, { dest: right, tag: 8 });
  assert.equal(receive.wait().source, left);
});

await check("M1 send to self", () => {
  const requests = range(50).map((i) => world.isend(Float64Array.of(i), { dest: rank, tag: 2 }));
  for (let i = 0; i < 50; i++) {
    const into = new Float64Array(1);
    assert.equal(world.recv(into, { source: rank, tag: 2 }).source, rank);
    assert.equal(into[0], i);
  }
  mpi.waitAll(requests);
  const alone = mpi.self.irecv(new Uint8Array(1));
  mpi.self.send(Uint8Array.of(1), { dest: 0 });
  assert.equal(alone.wait().source, 0);
});

await check("M7 objects travel by structured clone", () => {
  const value = { from: rank, map: new Map([["a", [1, 2]]]), when: new Date(5), big: 3n, array: Float64Array.of(1, 2) };
  const sent = world.isend(value, { dest: right, tag: 9 });
  const probed = world.iprobe();
  assert.ok(probed === null || probed.bytes > 0);
  assert.deepEqual(world.recv({ source: left, tag: 9 }), { ...value, from: left });
  sent.wait();
  const long = "x".repeat(300_000);
  const sentLong = world.isend({ long }, { dest: right });
  assert.deepEqual(world.recv<{ long: string }>({ source: left }).long.length, 300_000);
  sentLong.wait();
  // An object that looks like an array with a datatype, but has none.
  const sentAlike = world.isend({ type: "row", data: Float64Array.of(rank) }, { dest: right });
  const status = new mpi.Status();
  assert.deepEqual(world.recv({ source: left, status }), { type: "row", data: Float64Array.of(left) });
  assert.equal(status.source, left);
  sentAlike.wait();
});

await check("M7 alloc and free", () => {
  const array = mpi.alloc(Float64Array, 10);
  assert.deepEqual([...array], new Array(10).fill(0));
  assert.throws(() => mpi.free(array.subarray(2)), { code: mpi.ERR.BASE });
  mpi.free(array);
  assert.throws(() => mpi.free(array), { code: mpi.ERR.BASE });
  mpi.free(new Float64Array(3));
  assert.throws(() => mpi.alloc(Float64Array, 2 ** 30), { code: mpi.ERR.NO_MEM });
  assert.throws(() => mpi.alloc(Float64Array, -1), { code: mpi.ERR.ARG });
});

await check("M1 large messages: ordinary and shared arrays in every combination", () => {
  for (const length of [1000, 8192, 200_000]) {
    const ordinary = () => new Float64Array(length);
    const shared = () => mpi.alloc(Float64Array, length);
    for (const [tag, [makeOut, makeIn]] of [
      [ordinary, ordinary],
      [ordinary, shared],
      [shared, ordinary],
      [shared, shared],
    ].entries()) {
      const [out, into] = [makeOut!(), makeIn!()];
      for (let i = 0; i < length; i++) out[i] = rank * 1000 + i;
      passOn(() => world.isend(out, { dest: right, tag }), into, tag);
      for (let i = 0; i < length; i += 97) assert.equal(into[i], left * 1000 + i);
      assert.equal(into[length - 1], left * 1000 + length - 1);
      mpi.free(out);
      mpi.free(into);
    }
  }
});

await check("M1 many messages at once, receives posted afterwards and before", () => {
  const count = 2000;
  const sends = range(count).map((i) => world.isend(Int32Array.of(i, rank), { dest: right, tag: i % 7 }));
  for (const tag of range(7)) {
    for (let i = tag; i < count; i += 7) {
      const into = new Int32Array(2);
      world.recv(into, { source: left, tag });
      assert.deepEqual([...into], [i, left]);
    }
  }
  mpi.waitAll(sends);
  const buffers = range(500).map(() => new Int32Array(1));
  const receives = buffers.map((buffer, i) =>
    world.irecv(buffer, { source: i % 2 === 0 ? left : mpi.ANY_SOURCE, tag: 3 }),
  );
  for (const i of range(500)) world.send(Int32Array.of(i), { dest: right, tag: 3 });
  mpi.waitAll(receives);
  for (const [i, buffer] of buffers.entries()) assert.equal(buffer[0], i);
});

await check("M1 §3.6 an attached buffer bounds what buffered sends may have waiting", () => {
  if (size === 1) return;
  mpi.attachBuffer(300_000);
  world.bsend(new Uint8Array(200_000).fill(rank), { dest: right, tag: 30 });
  assert.throws(() => world.bsend(new Uint8Array(200_000), { dest: right, tag: 30 }), { code: mpi.ERR.BUFFER });
  assert.throws(() => mpi.attachBuffer(1), { code: mpi.ERR.BUFFER });
  world.barrier();
  const into = new Uint8Array(200_000);
  world.recv(into, { source: left, tag: 30 });
  assert.equal(into[199_999], left);
  assert.equal(mpi.detachBuffer(), 300_000);
  world.bsend(new Uint8Array(1_000_000), { dest: right, tag: 31 });
  world.recv(new Uint8Array(1_000_000), { source: left, tag: 31 });
});

done();
