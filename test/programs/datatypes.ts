// M5: datatypes and operations (MPI 5.0 chapter 5) through real messages.
import assert from "node:assert/strict";
import { type Datatype, mpi } from "banyan";
import { check, codeOf, done, range } from "./checks.ts";

const { world, types } = mpi;
const { rank, size } = world;
const right = (rank + 1) % size;
const left = (rank - 1 + size) % size;

/** Sends elements of one type to the right, receives them as another from the left. */
function move<T extends Float64Array | Int32Array | Uint8Array>(
  send: { data: T; type: Datatype; count?: number; offset?: number },
  into: { data: T; type: Datatype; count?: number; offset?: number } | T,
): void {
  const request = world.irecv(into, { source: left });
  world.send(send, { dest: right });
  request.wait();
}

await check("M5 §3.2.2 predefined datatypes: sizes and names, typeOf", () => {
  assert.deepEqual(
    [mpi.INT.size, mpi.DOUBLE.size, mpi.CHAR.size, mpi.LONG_LONG.size, mpi.C_BOOL.size],
    [4, 8, 1, 8, 1],
  );
  assert.equal(mpi.DOUBLE.name, "MPI_DOUBLE");
  assert.equal(mpi.typeOf(new Float64Array(1)), mpi.DOUBLE);
  assert.equal(mpi.typeOf(new Uint8Array(1)), mpi.UINT8_T);
  assert.equal(mpi.typeOf(new DataView(new ArrayBuffer(1))), mpi.BYTE);
  assert.deepEqual([mpi.DOUBLE_INT.size, mpi.DOUBLE_INT.extent], [12, 16]);
  assert.equal(types.match("real", 8), mpi.REAL8);
  assert.equal(
    codeOf(() => types.match("integer", 3)),
    mpi.ERR.ARG,
  );
  assert.equal(
    codeOf(() => types.free(mpi.INT)),
    mpi.ERR.TYPE,
  );
});

await check("M5 §5.1.2 contiguous, vector, hvector, resized", () => {
  const matrix = Float64Array.from(range(12), (i) => rank * 100 + i);
  const column = types.vector(mpi.DOUBLE, { count: 3, blocklength: 1, stride: 4 }).commit();
  const flat = new Float64Array(3);
  move({ data: matrix, type: column, count: 1, offset: 8 }, flat);
  assert.deepEqual(
    [...flat],
    [1, 5, 9].map((i) => left * 100 + i),
  );
  const byBytes = types.hvector(mpi.DOUBLE, { count: 3, blocklength: 2, stride: 32 }).commit();
  const into = new Float64Array(12);
  move({ data: matrix, type: byBytes, count: 1 }, { data: into, type: byBytes, count: 1 });
  assert.deepEqual(
    [...into],
    range(12).map((i) => (i % 4 < 2 ? left * 100 + i : 0)),
  );
  const columns = types.resized(column, { lb: 0, extent: 8 }).commit();
  assert.deepEqual([columns.extent, columns.trueExtent, columns.size], [8, 72, 24]);
  const transposed = new Float64Array(12);
  move({ data: matrix, type: columns, count: 4 }, transposed);
  assert.deepEqual(
    [...transposed],
    range(12).map((i) => left * 100 + (i % 3) * 4 + Math.floor(i / 3)),
  );
  const triple = types.contiguous(mpi.INT, 3).commit();
  const ints = new Int32Array(6);
  move({ data: Int32Array.of(1, 2, 3, 4, 5, 6), type: triple }, ints);
  assert.deepEqual([...ints], [1, 2, 3, 4, 5, 6]);
});

await check("M5 §5.1.2 indexed, hindexed, indexed_block, hindexed_block, struct, dup", () => {
  const data = Int32Array.from(range(10), (i) => i + rank);
  const cases: [Datatype, number[]][] = [
    [types.indexed(mpi.INT, { blocklengths: [2, 1], displacements: [1, 7] }), [1, 2, 7]],
    [types.hindexed(mpi.INT, { blocklengths: [1, 2], displacements: [32, 0] }), [8, 0, 1]],
    [types.indexedBlock(mpi.INT, { blocklength: 2, displacements: [6, 2] }), [6, 7, 2, 3]],
    [types.hindexedBlock(mpi.INT, { blocklength: 1, displacements: [36, 4] }), [9, 1]],
    [types.dup(types.indexed(mpi.INT, { blocklengths: [1], displacements: [5] })), [5]],
  ];
  for (const [type, places] of cases) {
    const into = new Int32Array(places.length);
    move({ data, type: type.commit(), count: 1 }, into);
    assert.deepEqual(
      [...into],
      places.map((place) => place + left),
    );
  }
  const record = types.struct({ blocklengths: [1, 2], displacements: [0, 8], types: [mpi.INT, mpi.DOUBLE] }).commit();
  assert.deepEqual([record.size, record.extent], [20, 24]);
  const bytes = new Uint8Array(48);
  const view = new DataView(bytes.buffer);
  for (const i of [0, 1]) {
    view.setInt32(24 * i, rank + i, true);
    view.setFloat64(24 * i + 8, rank / 2, true);
    view.setFloat64(24 * i + 16, i, true);
  }
  const into = new Uint8Array(48).fill(0xee);
  move({ data: bytes, type: record, count: 2 }, { data: into, type: record, count: 2 });
  const got = new DataView(into.buffer);
  assert.deepEqual(
    [got.getInt32(24, true), got.getFloat64(8, true), got.getFloat64(40, true)],
    [left + 1, left / 2, 1],
  );
  assert.equal(into[4], 0xee);
});

await check("M5 §5.1.3 subarray, §5.1.4 darray", () => {
  const data = Float64Array.from(range(20), (i) => i + rank * 100);
  const box = types.subarray(mpi.DOUBLE, { sizes: [4, 5], subsizes: [2, 3], starts: [1, 1] }).commit();
  const into = new Float64Array(6);
  move({ data, type: box, count: 1 }, into);
  assert.deepEqual(
    [...into],
    [6, 7, 8, 11, 12, 13].map((i) => i + left * 100),
  );
  const blocks = types
    .darray(mpi.DOUBLE, {
      size: 2,
      rank: 1,
      gsizes: [10],
      distributions: [mpi.DISTRIBUTE_BLOCK],
      dargs: [mpi.DISTRIBUTE_DFLT_DARG],
      psizes: [2],
    })
    .commit();
  const half = new Float64Array(5);
  move({ data, type: blocks, count: 1 }, half);
  assert.deepEqual(
    [...half],
    range(5).map((i) => 5 + i + left * 100),
  );
  assert.equal(
    codeOf(() => types.subarray(mpi.INT, { sizes: [2], subsizes: [3], starts: [0] })),
    mpi.ERR.ARG,
  );
});

await check("M5 large strided messages, ordinary and shared memory, non-blocking and persistent", () => {
  const rows = 300;
  const column = types.vector(mpi.DOUBLE, { count: rows, blocklength: 1, stride: rows }).commit();
  const columns = types.resized(column, { lb: 0, extent: 8 }).commit();
  for (const make of [() => new Float64Array(rows * rows), () => mpi.alloc(Float64Array, rows * rows)]) {
    const [out, into] = [make(), make()];
    for (const i of out.keys()) out[i] = i + rank;
    const receive = world.recvInit({ data: into, type: columns, count: rows }, { source: left });
    const send = world.sendInit(out, { dest: right });
    for (let round = 0; round < 2; round++) {
      mpi.startAll([receive, send]);
      mpi.waitAll([receive, send]);
      for (let i = 0; i < rows * rows; i += 77) assert.equal(into[(i % rows) * rows + Math.floor(i / rows)], i + left);
      into.fill(0);
    }
    mpi.free(out);
    mpi.free(into);
  }
});

await check("M5 §5.1.13 envelope and contents; names; committing and freeing", () => {
  const vector = types.vector(mpi.INT, { count: 2, blocklength: 3, stride: 4 });
  assert.deepEqual(types.contents(vector), {
    combiner: mpi.COMBINER.VECTOR,
    integers: [2, 3, 4],
    addresses: [],
    datatypes: [mpi.INT],
  });
  assert.equal(types.envelope(mpi.INT).combiner, mpi.COMBINER.NAMED);
  assert.equal(
    codeOf(() => types.contents(mpi.INT)),
    mpi.ERR.TYPE,
  );
  assert.equal(
    codeOf(() => world.send({ data: new Int32Array(20), type: vector }, { dest: right })),
    mpi.ERR.TYPE,
  );
  vector.name = "my vector";
  assert.equal(vector.commit().name, "my vector");
  types.free(vector);
  assert.equal(
    codeOf(() => types.free(vector)),
    mpi.ERR.TYPE,
  );
  assert.equal(
    codeOf(() => types.contiguous(mpi.INT, -1)),
    mpi.ERR.COUNT,
  );
});

await check("M5 §5.2 pack, unpack; §5.3 external32", () => {
  const column = types.vector(mpi.INT, { count: 2, blocklength: 1, stride: 2 }).commit();
  const packed = new Uint8Array(types.packSize(column, 1) + types.packSize(mpi.DOUBLE, 2));
  let position = types.pack({ data: Int32Array.of(1, 2, 3, 4), type: column, count: 1 }, packed);
  position = types.pack(Float64Array.of(0.5, rank), packed, position);
  assert.equal(position, 24);
  const received = new Uint8Array(24);
  const request = world.irecv(received, { source: left });
  world.send({ data: packed, type: mpi.PACKED }, { dest: right });
  assert.equal(request.wait().count(mpi.PACKED), 24);
  const [ints, doubles] = [new Int32Array(4), new Float64Array(2)];
  position = types.unpack(received, { data: ints, type: column, count: 1 });
  assert.equal(types.unpack(received, doubles, position), 24);
  assert.deepEqual([...ints, ...doubles], [1, 0, 3, 0, 0.5, left]);
  assert.equal(
    codeOf(() => types.pack(doubles, packed, 20)),
    mpi.ERR.TRUNCATE,
  );
  const external = new Uint8Array(types.packExternalSize(mpi.INT, 2));
  types.packExternal(Int32Array.of(1, 258), external);
  assert.deepEqual([...external], [0, 0, 0, 1, 0, 0, 1, 2]);
  const back = new Int32Array(2);
  assert.equal(types.unpackExternal(external, back), 8);
  assert.deepEqual([...back], [1, 258]);
});

await check("M5 §7.7.4 attributes of datatypes", () => {
  const calls: unknown[] = [];
  const keyval = mpi.createTypeKeyval({ copy: (_type, value) => [value], delete: (_type, value) => calls.push(value) });
  const type = types.contiguous(mpi.INT, 2);
  types.setAttribute(type, keyval, "a");
  const copy = types.dup(type);
  assert.deepEqual(types.getAttribute(copy, keyval), ["a"]);
  types.deleteAttribute(copy, keyval);
  types.free(type);
  assert.deepEqual(calls, [["a"], "a"]);
  assert.equal(
    codeOf(() => world.setAttribute(keyval, 1)),
    mpi.ERR.KEYVAL,
  );
});

done();
