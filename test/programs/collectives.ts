// M3: blocking collectives (MPI 5.0 chapter 6) with typed arrays, arrays with a datatype and objects.
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, done, range } from "./checks.ts";

const { world } = mpi;
const { rank, size } = world;
const last = size - 1;
const roots = [...new Set([0, last, size >> 1])];
const lengths = [0, 1, 3, 1000, 40_000];
const sumOf = (f: (rank: number) => number): number => range(size).reduce((sum, each) => sum + f(each), 0);
/** Ordinary arrays and arrays in shared memory go different ways. */
const makers = [
  (length: number) => new Float64Array(length),
  (length: number) => mpi.alloc(Float64Array, length),
] as const;

await check("M3 §6.3 barrier: nobody leaves before everybody has come", () => {
  for (let late = 0; late < size; late++) {
    const until = process.hrtime.bigint() + 2_000_000n;
    while (rank === late && process.hrtime.bigint() < until);
    const came = process.hrtime.bigint();
    world.barrier();
    const left = process.hrtime.bigint();
    const all = world.allgather(BigInt64Array.of(came, left));
    for (const each of range(size)) assert.ok(left >= all[2 * each]!);
  }
});

await check("M3 §6.4 bcast: arrays of all lengths from every root", () => {
  for (const root of roots) {
    for (const length of lengths) {
      for (const make of makers) {
        const data = make(length);
        if (rank === root) for (const i of data.keys()) data[i] = i + root;
        assert.equal(world.bcast(data, { root }), data);
        for (const [i, value] of data.entries()) if (value !== i + root) assert.fail(`element ${i} is ${value}`);
        mpi.free(data);
      }
    }
  }
});

await check("M3 §6.4 bcast of objects", () => {
  const config = world.bcast(rank === last ? { steps: 5, names: new Set(["a"]) } : null, { root: last });
  assert.deepEqual(config, { steps: 5, names: new Set(["a"]) });
  assert.equal(world.bcast(rank === 0 ? "text" : undefined), "text");
  assert.equal(world.bcast<string>(rank === 0 ? "y".repeat(100_000) : undefined).length, 100_000);
});

await check("M3 §6.5 gather and §6.6 scatter of arrays", () => {
  for (const root of roots) {
    for (const length of [0, 1, 5, 3000]) {
      for (const make of makers) {
        const mine = make(length).map((_, i) => rank * 10 + i);
        const all = world.gather(mine, { root });
        assert.equal(all === null, rank !== root);
        if (all !== null) {
          assert.equal(all.length, length * size);
          all.forEach((value, at) => {
            assert.equal(value, Math.floor(at / length) * 10 + (at % length));
          });
        }
        const into = make(length);
        assert.equal(world.scatter(all, { root, into }), into);
        assert.deepEqual([...into], [...mine]);
        const given = rank === root ? make(length * size) : undefined;
        assert.equal(world.gather(mine, { root, into: given }), given ?? null);
        mpi.free(into);
      }
    }
  }
});

await check("M3 §6.5, §6.6 in place at the root", () => {
  const all = Int32Array.from(range(size * 2), (i) => (Math.floor(i / 2) === last ? 100 + i : 0));
  const mine = Int32Array.of(100 + rank * 2, 101 + rank * 2);
  const got =
    rank === last ? world.gather(mpi.IN_PLACE, { root: last, into: all }) : world.gather(mine, { root: last });
  if (got !== null)
    assert.deepEqual(
      [...got],
      range(size * 2).map((i) => 100 + i),
    );
  const part = new Int32Array(2);
  if (rank === last) assert.equal(world.scatter(all, { root: last, into: mpi.IN_PLACE }), null);
  else assert.deepEqual([...world.scatter(null, { root: last, into: part })], [...mine]);
});

await check("M3 §6.5, §6.6 gather and scatter of objects", () => {
  for (const root of roots) {
    const all = world.gather({ rank, text: "z".repeat(rank) }, { root });
    if (rank === root)
      assert.deepEqual(
        all,
        range(size).map((each) => ({ rank: each, text: "z".repeat(each) })),
      );
    else assert.equal(all, null);
    assert.deepEqual(world.scatter(all, { root }), { rank, text: "z".repeat(rank) });
  }
});

await check("M3 §6.5 gatherv, §6.6 scatterv with gaps and any order", () => {
  const counts = range(size).map((each) => each % 3);
  const displacements = range(size).map((each) => (last - each) * 4);
  for (const root of roots) {
    const mine = Float64Array.from(range(counts[rank]!), (i) => rank + i / 10);
    const into = rank === root ? new Float64Array(size * 4).fill(-1) : undefined;
    const options = rank === root ? { root, counts, displacements, into } : { root };
    const all = world.gatherv(mine, options);
    if (rank === root) {
      assert.equal(all, into);
      for (const each of range(size)) {
        const at = displacements[each]!;
        assert.deepEqual(
          [...all!.subarray(at, at + counts[each]!)],
          range(counts[each]!).map((i) => each + i / 10),
        );
        assert.equal(all![at + 3], -1);
      }
    }
    const back = new Float64Array(counts[rank]!);
    world.scatterv(all, rank === root ? { root, counts, displacements, into: back } : { root, into: back });
    assert.deepEqual(back, mine);
    const packed = world.gatherv(mine, rank === root ? { root, counts } : { root });
    assert.equal(packed?.length ?? 0, rank === root ? sumOf((each) => each % 3) : 0);
    if (rank === root) {
      const inPlace = new Float64Array(size * 4);
      inPlace.set(mine, displacements[rank]!);
      world.gatherv(mpi.IN_PLACE, { root, counts, displacements, into: inPlace });
      assert.equal(inPlace[displacements[last]!] ?? 0, counts[last] === 0 ? 0 : last);
      world.scatterv(inPlace, { root, counts, displacements, into: mpi.IN_PLACE });
    } else {
      world.gatherv(mine, { root });
      assert.deepEqual(world.scatterv(null, { root, into: new Float64Array(mine.length) }), mine);
    }
  }
});

await check("M3 §6.7 allgather, in place, of objects; allgatherv", () => {
  for (const length of [1, 7, 2000]) {
    for (const make of makers) {
      const all = world.allgather(make(length).fill(rank));
      for (const each of range(size)) assert.equal(all[each * length + length - 1], each);
      const inPlace = make(length * size).fill(rank, rank * length, (rank + 1) * length);
      assert.equal(world.allgather(mpi.IN_PLACE, { into: inPlace }), inPlace);
      assert.deepEqual([...inPlace], [...all]);
    }
  }
  assert.deepEqual(
    world.allgather({ rank }),
    range(size).map((each) => ({ rank: each })),
  );
  assert.deepEqual(
    world.allgather("s"),
    range(size).map(() => "s"),
  );
  const counts = range(size).map((each) => (each * 7) % 5);
  const mine = new Int16Array(counts[rank]!).fill(rank);
  const expected = range(size).flatMap((each) => new Array(counts[each]).fill(each));
  assert.deepEqual([...world.allgatherv(mine, { counts })], expected);
  const displacements = range(size).map((each) => each * 6 + 1);
  const spread = world.allgatherv(mine, { counts, displacements, into: new Int16Array(size * 6 + 1).fill(-7) });
  for (const each of range(size)) {
    assert.deepEqual(
      [...spread.subarray(displacements[each], displacements[each]! + counts[each]!)],
      new Array(counts[each]).fill(each),
    );
    assert.equal(spread[each * 6], -7);
  }
  const own = new Int16Array(size * 6 + 1);
  own.set(mine, displacements[rank]!);
  world.allgatherv(mpi.IN_PLACE, { counts, displacements, into: own });
  assert.equal(own[displacements[last]!], counts[last] === 0 ? 0 : last);
});

await check("M3 §6.8 alltoall, in place, of objects", () => {
  for (const length of [1, 4, 500]) {
    for (const make of makers) {
      const out = make(length * size).map((_, i) => rank * 1000 + Math.floor(i / length));
      const into = world.alltoall(out);
      for (const i of range(size * length)) assert.equal(into[i], Math.floor(i / length) * 1000 + rank);
      assert.equal(world.alltoall(mpi.IN_PLACE, { into: out }), out);
      assert.deepEqual([...out], [...into]);
    }
  }
  assert.deepEqual(
    world.alltoall(range(size).map((dest) => ({ from: rank, dest }))),
    range(size).map((from) => ({ from, dest: rank })),
  );
});

await check("M3 §6.8 alltoallv, alltoallw", () => {
  const count = (from: number, to: number): number => (from + 2 * to) % 4;
  const sendCounts = range(size).map((to) => count(rank, to));
  const recvCounts = range(size).map((from) => count(from, rank));
  const out = Float32Array.from(sendCounts.flatMap((n, to) => new Array<number>(n).fill(rank * 100 + to)));
  const expected = recvCounts.flatMap((n, from) => new Array<number>(n).fill(from * 100 + rank));
  assert.deepEqual([...world.alltoallv(out, { sendCounts, recvCounts })], expected);
  const recvDisplacements = range(size).map((from) => (last - from) * 4);
  const into = world.alltoallv(out, { sendCounts, recvCounts, recvDisplacements, into: new Float32Array(size * 4) });
  recvCounts.forEach((n, from) => {
    for (let i = 0; i < n; i++) assert.equal(into[recvDisplacements[from]! + i], from * 100 + rank);
  });
  const even = new Float32Array(size * 2).map((_, i) => rank * 10 + (i >> 1));
  const counts = range(size).map(() => 2);
  world.alltoallv(mpi.IN_PLACE, { recvCounts: counts, into: even });
  assert.deepEqual(
    [...even],
    range(size * 2).map((i) => (i >> 1) * 10 + rank),
  );

  const column = mpi.types.vector(mpi.INT, { count: 3, blocklength: 1, stride: size }).commit();
  const matrix = Int32Array.from(range(3 * size), (i) => rank * 1000 + i);
  const rows = range(size).map(() => new Int32Array(3));
  world.alltoallw(
    range(size).map((to) => ({ data: matrix, type: column, count: 1, offset: 4 * to })),
    { into: rows },
  );
  for (const [from, row] of rows.entries())
    assert.deepEqual(
      [...row],
      range(3).map((i) => from * 1000 + i * size + rank),
    );
  const some = range(size).map((to) => (to === last ? Int32Array.of(rank) : null));
  const got = range(size).map(() => (rank === last ? new Int32Array(1) : null));
  world.alltoallw(some, { into: got });
  for (const [from, each] of got.entries()) assert.equal(each?.[0] ?? from, from);
  const swap = range(size).map((to) => Int32Array.of(rank, to));
  world.alltoallw(mpi.IN_PLACE, { into: swap });
  for (const [from, each] of swap.entries()) assert.deepEqual([...each], [from, rank]);
});

await check("M3 §6.9 reduce and allreduce: operations, roots, lengths, in place", () => {
  for (const length of lengths) {
    for (const make of makers) {
      const mine = make(length).map((_, i) => i + rank);
      const sum = (i: number) => sumOf((each) => i + each);
      const all = world.allreduce(mine, "sum");
      for (const [i, value] of all.entries()) if (value !== sum(i)) assert.fail(`${value} is not ${sum(i)}`);
      const into = make(length);
      assert.equal(world.allreduce(mine, mpi.MAX, { into }), into);
      if (length > 0) assert.equal(into[length - 1], length - 1 + last);
      const both = make(length);
      both.set(mine);
      assert.equal(world.allreduce(mpi.IN_PLACE, "min", { into: both }), both);
      if (length > 0) assert.equal(both[0], 0);
      for (const root of roots) {
        const at = world.reduce(mine, "sum", { root });
        assert.equal(at === null, rank !== root);
        if (at !== null && length > 0) assert.equal(at[length - 1], sum(length - 1));
        both.set(mine);
        const result =
          rank === root ? world.reduce(mpi.IN_PLACE, "sum", { root, into: both }) : world.reduce(mine, "sum", { root });
        if (result !== null) assert.deepEqual([...result], [...all]);
      }
    }
  }
  const bits = world.allreduce(Uint8Array.of(1 << (rank % 8), 255), "bor");
  assert.equal(bits[0], (1 << Math.min(size, 8)) - 1);
  assert.equal(world.allreduce(Int32Array.of(rank === 0 ? 0 : 1), "land")[0], size === 0 ? 1 : 0);
  assert.equal(world.allreduce(Int32Array.of(rank === 0 ? 1 : 0), "lor")[0], 1);
  assert.equal(world.allreduce(Int32Array.of(1), "lxor")[0], size % 2);
  assert.equal(world.allreduce(Int32Array.of(6), "band")[0], 6);
  assert.equal(world.allreduce(Int32Array.of(5), "bxor")[0], size % 2 === 1 ? 5 : 0);
  assert.equal(world.allreduce(Float64Array.of(2), "prod")[0], 2 ** size);
  assert.equal(world.allreduce(BigInt64Array.of(BigInt(rank)), "max")[0], BigInt(last));
  for (const op of [mpi.REPLACE, mpi.NO_OP]) {
    assert.throws(() => world.allreduce(Uint16Array.of(rank), op), { code: mpi.ERR.OP, message: /only one-sided/ });
  }
  for (const array of [new Int8Array(2), new Int16Array(2), new Uint32Array(2), new Float32Array(2)]) {
    assert.equal(world.allreduce(array.fill(1), "sum")[1], size);
  }
});

await check("M3 §6.9.4 minloc and maxloc on pairs", () => {
  const data = new Uint8Array(32);
  const view = new DataView(data.buffer);
  for (const i of [0, 1]) {
    view.setFloat64(16 * i, i === 0 ? (rank === last ? -5 : rank) : 7, true);
    view.setInt32(16 * i + 8, rank, true);
  }
  const least = new DataView(world.allreduce({ data, type: mpi.DOUBLE_INT, count: 2 }, "minloc").buffer);
  assert.deepEqual([least.getFloat64(0, true), least.getInt32(8, true)], [-5, last]);
  assert.deepEqual([least.getFloat64(16, true), least.getInt32(24, true)], [7, 0]);
  const pairs = Int32Array.of(rank % 3, rank);
  const largest = world.reduce({ data: pairs, type: mpi.TWO_INT }, "maxloc", { root: last });
  if (largest !== null) assert.deepEqual([...largest], [Math.min(2, last), Math.min(2, last)]);
});

await check("M3 §6.9.5 operations of the program: typed arrays, not commutative, derived datatypes", () => {
  const longest = mpi.createOp<Float64Array>((invec, inoutvec) => {
    assert.ok(invec instanceof Float64Array);
    for (let i = 0; i < invec.length; i++) inoutvec[i] = Math.max(invec[i]!, inoutvec[i]!);
  });
  for (const length of [1, 30, 9000]) {
    for (const make of makers) {
      const result = world.allreduce(make(length).fill(rank), longest);
      assert.deepEqual([result[0], result[length - 1]], [last, last]);
    }
  }
  // a ∘ b = (a.x + b.x·3^a.n, a.n + b.n): order matters.
  const append = mpi.createOp<Float64Array>(
    (a, b, count) => {
      for (let i = 0; i < count * 2; i += 2) [b[i], b[i + 1]] = [a[i]! + b[i]! * 3 ** a[i + 1]!, a[i + 1]! + b[i + 1]!];
    },
    { commutative: false },
  );
  const pair = mpi.types.contiguous(mpi.DOUBLE, 2).commit();
  const digits = Float64Array.of(rank % 3, 1, 2, 1);
  const expected = range(size).reduce((sum, each) => sum + (each % 3) * 3 ** each, 0);
  const all = world.allreduce({ data: digits, type: pair }, append);
  assert.deepEqual([...all], [expected, size, 3 ** size - 1, size]);
  const scanned = world.scan({ data: digits, type: pair }, append);
  assert.equal(
    scanned[0],
    range(rank + 1).reduce((sum, each) => sum + (each % 3) * 3 ** each, 0),
  );
  const root = world.reduce({ data: digits, type: pair }, append, { root: last });
  if (root !== null) assert.equal(root[0], expected);
  assert.equal(append.isCommutative, false);

  const gapped = mpi.types.vector(mpi.INT, { count: 2, blocklength: 1, stride: 3 }).commit();
  const addEnds = mpi.createOp<Int32Array>((a, b) => {
    b[0]! += a[0]!;
    b[3]! += a[3]!;
  });
  const sent = Int32Array.of(rank, 99, 99, 1);
  const sum = world.allreduce({ data: sent, type: gapped, count: 1 }, addEnds, {
    into: { data: Int32Array.of(0, -1, -1, 0), type: gapped, count: 1 },
  });
  assert.deepEqual([...sum], [sumOf((each) => each), -1, -1, size]);
  mpi.freeOp(longest);
  assert.throws(() => world.allreduce(new Float64Array(1), longest), { code: mpi.ERR.OP });
});

await check("M3 §6.10 reduceScatter and reduceScatterBlock", () => {
  for (const each of [1, 6, 700]) {
    for (const make of makers) {
      const data = make(each * size).map((_, i) => i + rank);
      const expected = range(each).map((i) => sumOf((from) => rank * each + i + from));
      assert.deepEqual([...world.reduceScatterBlock(data, "sum")], expected);
      const inPlace = make(each * size);
      inPlace.set(data);
      world.reduceScatterBlock(mpi.IN_PLACE, "sum", { into: inPlace });
      assert.deepEqual([...inPlace.subarray(0, each)], expected);
      const counts = range(size).map((to) => (to % 2 === 0 ? each : 2));
      const total = counts.reduce((a, b) => a + b, 0);
      const first = counts.slice(0, rank).reduce((a, b) => a + b, 0);
      const uneven = make(total).map((_, i) => i * rank);
      const part = world.reduceScatter(uneven, "sum", { counts });
      assert.deepEqual(
        [...part],
        range(counts[rank]!).map((i) => sumOf((from) => (first + i) * from)),
      );
      world.reduceScatter(mpi.IN_PLACE, "sum", { counts, into: uneven });
      assert.equal(uneven[0], part[0]);
    }
  }
});

await check("M3 §6.11 scan and exscan", () => {
  for (const length of [1, 5, 3000]) {
    for (const make of makers) {
      const mine = make(length).fill(rank + 1);
      const upTo = (n: number) => (n * (n + 1)) / 2;
      assert.equal(world.scan(mine, "sum")[length - 1], upTo(rank + 1));
      const before = world.exscan(mine, "sum");
      if (rank === 0) assert.equal(before, null);
      else assert.equal(before![length - 1], upTo(rank));
      const into = make(length).fill(rank + 1);
      assert.equal(world.scan(mpi.IN_PLACE, "sum", { into })[0], upTo(rank + 1));
      into.fill(rank + 1);
      world.exscan(mpi.IN_PLACE, "sum", { into });
      assert.equal(into[0], rank === 0 ? 1 : upTo(rank));
    }
  }
});

await check("M3 arrays with a datatype: gaps are packed on one side and spread on the other", () => {
  const column = mpi.types.resized(mpi.types.vector(mpi.DOUBLE, { count: 2, blocklength: 1, stride: 3 }), {
    lb: 0,
    extent: 8,
  });
  column.commit();
  const matrix = Float64Array.of(1, 2, 3, 4, 5, 6).map((x) => x + 10 * rank);
  const flat = world.allgather({ data: matrix, type: column, count: 3 }, { into: new Float64Array(6 * size) });
  for (const each of range(size)) {
    assert.deepEqual(
      [...flat.subarray(6 * each, 6 * each + 6)],
      [1, 4, 2, 5, 3, 6].map((x) => x + 10 * each),
    );
  }
  const spread = new Float64Array(6);
  world.bcast(rank === 0 ? Float64Array.of(1, 4, 2, 5, 3, 6) : { data: spread, type: column, count: 3 });
  if (rank !== 0) assert.deepEqual([...spread], [1, 2, 3, 4, 5, 6]);
  const mine = new Float64Array(2);
  const source = Float64Array.from(range(2 * size), (i) => i);
  const strided = mpi.types.resized(mpi.types.vector(mpi.DOUBLE, { count: 2, blocklength: 1, stride: size }), {
    lb: 0,
    extent: 8,
  });
  strided.commit();
  world.scatter(rank === 0 ? { data: source, type: strided, count: size } : null, { into: mine });
  assert.deepEqual([...mine], [rank, rank + size]);
  const back = world.gather(
    mine,
    rank === 0 ? { into: { data: new Float64Array(2 * size), type: strided, count: size } } : {},
  );
  if (back !== null) assert.deepEqual([...back], [...source]);
});

await check("M3 floating-point results are the same bits on every rank, whatever the length", () => {
  for (const length of [1, 3000]) {
    const mine = new Float64Array(length).fill(0.1 * (rank + 1) ** 3 + 1e-9 / (rank + 1));
    const all = world.allreduce(mine, "sum");
    const everybody = world.allgather(all.subarray(0, 1));
    assert.ok(everybody.every((value) => value === all[0]));
    const root = world.reduce(mine, "sum", { root: last });
    if (root !== null) assert.equal(root[length - 1], all[0]);
  }
});

await check("M5 §6.9.7 reduceLocal", () => {
  const inout = Float64Array.of(1, 2, 3);
  assert.equal(mpi.reduceLocal(Float64Array.of(10, 20, 30), inout, "sum"), inout);
  assert.deepEqual([...inout], [11, 22, 33]);
  const shared = mpi.alloc(Int32Array, 2).fill(4);
  mpi.reduceLocal(Int32Array.of(3, 5), shared, "max");
  assert.deepEqual([...shared], [4, 5]);
  assert.throws(() => mpi.reduceLocal(new Float64Array(2), inout, "sum"), { code: mpi.ERR.COUNT });
});

done();
