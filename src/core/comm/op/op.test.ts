import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import type { Datatype } from "../datatype/datatype.ts";
import { contiguous, hvector, resized } from "../datatype/datatype-constructors.ts";
import { predefinedTypes } from "../datatype/datatype-predefined.ts";
import type { ElementFormat } from "../datatype/element.ts";
import { Views } from "../datatype/views.ts";
import { apply, kernelFor } from "./op.ts";
import { type OpName, predefinedOps } from "./op-predefined.ts";
import { userOp } from "./op-user.ts";

const { C_BOOL, DOUBLE, DOUBLE_INT, INT, INT64_T, UINT64_T } = predefinedTypes;
const { MAX, MAXLOC, MIN, MINLOC, PROD, SUM } = predefinedOps;

type Value = number | bigint;
interface Access {
  readonly bytes: number;
  get(view: DataView, at: number): Value;
  set(view: DataView, at: number, value: Value): void;
}
const access = (
  bytes: number,
  get: (view: DataView, at: number) => Value,
  set: (view: DataView, at: number, value: never) => void,
): Access => ({
  bytes,
  get,
  set: set as Access["set"],
});
const accesses: Partial<Record<ElementFormat, Access>> = {
  int8: access(
    1,
    (view, at) => view.getInt8(at),
    (view, at, value) => view.setInt8(at, value),
  ),
  uint8: access(
    1,
    (view, at) => view.getUint8(at),
    (view, at, value) => view.setUint8(at, value),
  ),
  int16: access(
    2,
    (view, at) => view.getInt16(at, true),
    (view, at, value) => view.setInt16(at, value, true),
  ),
  uint16: access(
    2,
    (view, at) => view.getUint16(at, true),
    (view, at, value) => view.setUint16(at, value, true),
  ),
  int32: access(
    4,
    (view, at) => view.getInt32(at, true),
    (view, at, value) => view.setInt32(at, value, true),
  ),
  uint32: access(
    4,
    (view, at) => view.getUint32(at, true),
    (view, at, value) => view.setUint32(at, value, true),
  ),
  int64: access(
    8,
    (view, at) => view.getBigInt64(at, true),
    (view, at, value) => view.setBigInt64(at, value, true),
  ),
  uint64: access(
    8,
    (view, at) => view.getBigUint64(at, true),
    (view, at, value) => view.setBigUint64(at, value, true),
  ),
  float32: access(
    4,
    (view, at) => view.getFloat32(at, true),
    (view, at, value) => view.setFloat32(at, value, true),
  ),
  float64: access(
    8,
    (view, at) => view.getFloat64(at, true),
    (view, at, value) => view.setFloat64(at, value, true),
  ),
};

/** The operation on exact integers; storing the result wraps it as C does. */
function integerResult(name: OpName, a: bigint, b: bigint): bigint {
  switch (name) {
    case "SUM":
      return a + b;
    case "PROD":
      return a * b;
    case "MIN":
      return a < b ? a : b;
    case "MAX":
      return a > b ? a : b;
    case "BAND":
      return a & b;
    case "BOR":
      return a | b;
    case "BXOR":
      return a ^ b;
    case "LAND":
      return a !== 0n && b !== 0n ? 1n : 0n;
    case "LOR":
      return a !== 0n || b !== 0n ? 1n : 0n;
    default:
      return (a !== 0n) !== (b !== 0n) ? 1n : 0n;
  }
}

const integerNames: readonly OpName[] = ["SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR"];
const integerTypes = Object.values(predefinedTypes).filter(
  (type) => type.elements.length === 1 && ["integer", "address"].includes(type.elements[0]!.group),
);

test("M5 §6.9.2 every operation on every type of integers, addresses and counts, aligned and not, agrees with exact arithmetic", () => {
  const random = new Uint8Array(
    fc.sample(fc.uint8Array({ minLength: 4096, maxLength: 4096, size: "max" }), { numRuns: 1, seed: 5 })[0]!,
  );
  random.set([255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 128], 16);
  for (const type of integerTypes) {
    const { bytes, get, set } = accesses[type.elements[0]!.format]!;
    for (const name of integerNames) {
      for (const [left, right, into] of [
        [16, 1024, 2048],
        [17, 1024, 2051],
        [16, 1024, 16],
        [19, 1030, 1030],
      ] as const) {
        const memory = random.slice();
        const view = new DataView(memory.buffer);
        const count = 40;
        const wanted = memory.slice();
        const wantedView = new DataView(wanted.buffer);
        for (let i = 0; i < count; i++) {
          const result = integerResult(name, BigInt(get(view, left + i * bytes)), BigInt(get(view, right + i * bytes)));
          set(wantedView, into + i * bytes, bytes === 8 ? result : Number(BigInt.asIntN(32, result)));
        }
        kernelFor(predefinedOps[name], type)(new Views(memory.buffer), left, right, into, count);
        assert.deepEqual(memory, wanted, `${name} ${type.name} at ${left}`);
      }
    }
  }
});

test("M5 §6.9.2 floating point is plain IEEE arithmetic, to the bit", () => {
  const formula: Partial<Record<OpName, (a: number, b: number) => number>> = {
    SUM: (a, b) => a + b,
    PROD: (a, b) => a * b,
    MIN: (a, b) => Math.min(a, b),
    MAX: (a, b) => Math.max(a, b),
  };
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.double(), fc.double()), { minLength: 1, maxLength: 9 }), (pairs) => {
      for (const [name, result] of Object.entries(formula)) {
        for (const [type, array, round] of [
          [predefinedTypes.FLOAT, Float32Array, Math.fround],
          [DOUBLE, Float64Array, Number],
        ] as const) {
          const left = new array(pairs.map((pair) => pair[0]));
          const right = new array(pairs.map((pair) => pair[1]));
          const into = new array(pairs.length);
          combine(name as OpName, type, left, right, into);
          for (let i = 0; i < pairs.length; i++) {
            const wanted = round(result(left[i]!, right[i]!));
            assert.ok(Object.is(into[i], wanted), `${name} ${left[i]} ${right[i]} gives ${into[i]}`);
          }
        }
      }
    }),
  );
});

/** Three buffers of their own. */
function combine(
  name: OpName,
  type: Datatype,
  left: ArrayBufferView,
  right: ArrayBufferView,
  into: ArrayBufferView,
): void {
  const operand = (view: ArrayBufferView) => ({ views: new Views(view.buffer), offset: view.byteOffset });
  const count = into.byteLength / type.extent;
  apply(predefinedOps[name], type, count, { left: operand(left), right: operand(right), into: operand(into) });
}

test("M5 §6.9.2 sums and products of 64-bit integers are exact modulo 2^64", () => {
  const numbers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const into = new BigInt64Array(1);
      combine("SUM", INT64_T, BigInt64Array.of(a), BigInt64Array.of(b), into);
      assert.equal(into[0], BigInt.asIntN(64, a + b));
      combine("PROD", INT64_T, BigInt64Array.of(a), BigInt64Array.of(b), into);
      assert.equal(into[0], BigInt.asIntN(64, a * b));
      combine("MIN", INT64_T, BigInt64Array.of(a), BigInt64Array.of(b), into);
      assert.equal(into[0], integerResult("MIN", a, b));
      const [u, v, unsigned] = [BigInt.asUintN(64, a), BigInt.asUintN(64, b), new BigUint64Array(1)];
      combine("MAX", UINT64_T, BigUint64Array.of(u), BigUint64Array.of(v), unsigned);
      assert.equal(unsigned[0], integerResult("MAX", u, v));
    }),
    { numRuns: 1000 },
  );
});

test("M5 §6.9.2 complex numbers", () => {
  const double = new Float64Array(4);
  combine("PROD", predefinedTypes.C_DOUBLE_COMPLEX, Float64Array.of(1, 2, 0, 1), Float64Array.of(3, -1, 0, 1), double);
  assert.deepEqual([...double], [5, 5, -1, 0]);
  combine("SUM", predefinedTypes.DOUBLE_COMPLEX, Float64Array.of(1, 2, 0, 1), Float64Array.of(3, -1, 0, 1), double);
  assert.deepEqual([...double], [4, 1, 0, 2]);
  const single = new Float32Array(2);
  combine("PROD", predefinedTypes.COMPLEX, Float32Array.of(0.1, 0.2), Float32Array.of(0.3, 0.4), single);
  const [a, b, c, d] = [0.1, 0.2, 0.3, 0.4].map(Math.fround) as [number, number, number, number];
  assert.equal(single[0], Math.fround(Math.fround(a * c) - Math.fround(b * d)));
});

test("M5 §6.9.4 MINLOC and MAXLOC on every pair type: lowest index of the extreme value, NaN is extreme", () => {
  const values = [3, -1, 3, 7, 7, -1, 0, Number.NaN];
  for (const name of [
    "FLOAT_INT",
    "DOUBLE_INT",
    "LONG_INT",
    "TWO_INT",
    "SHORT_INT",
    "TWO_REAL",
    "TWO_DOUBLE_PRECISION",
    "TWO_INTEGER",
  ] as const) {
    const type = predefinedTypes[name];
    const [value, index] = type.elements.map((element) => accesses[element.format]!);
    const indexAt = type.elements[1]!.bytes === 8 ? 8 : type.size === 12 ? 8 : 4;
    for (const a of values) {
      for (const b of values) {
        for (const [i, j] of [
          [4, 9],
          [9, 4],
        ] as const) {
          if (!type.elements[0]!.format.startsWith("float") && Number.isNaN(a + b)) continue;
          const [left, right, into] = [0, 1, 2].map(() => new DataView(new ArrayBuffer(type.extent))) as [
            DataView,
            DataView,
            DataView,
          ];
          value!.set(left, 0, a);
          index!.set(left, indexAt, i);
          value!.set(right, 0, b);
          index!.set(right, indexAt, j);
          for (const op of ["MINLOC", "MAXLOC"] as const) {
            combine(op, type, left, right, into);
            const extreme = op === "MINLOC" ? Math.min(a, b) : Math.max(a, b);
            const equal = Object.is(a, b);
            assert.deepEqual(
              [value!.get(into, 0), index!.get(into, indexAt)],
              [extreme, equal ? 4 : Object.is(a, extreme) ? i : j],
              `${op} ${name} ${a} ${b}`,
            );
          }
        }
      }
    }
  }
});

test("M5 §6.9.4 LONG_DOUBLE and LONG_DOUBLE_INT", () => {
  const top = new Map([
    [0, 0n],
    [1, 0x3fffn],
    [2, 0x4000n],
    [-1, 0xbfffn],
    [-2, 0xc000n],
  ]);
  const long = (...values: number[]): BigUint64Array =>
    BigUint64Array.from(values.flatMap((value) => [0n, top.get(value)! << 48n]));
  const into = new BigUint64Array(4);
  combine("SUM", predefinedTypes.LONG_DOUBLE, long(1, -1), long(1, 1), into);
  assert.deepEqual(into, long(2, 0));
  combine("MAX", predefinedTypes.LONG_DOUBLE, long(1, -1), long(2, -2), into);
  assert.deepEqual(into, long(2, -1));
  combine("PROD", predefinedTypes.C_LONG_DOUBLE_COMPLEX, long(0, 1), long(0, 1), into);
  assert.deepEqual(into, long(-1, 0));
  const pair = (value: number, index: number): BigUint64Array => BigUint64Array.of(...long(value), BigInt(index), 0n);
  combine("MINLOC", predefinedTypes.LONG_DOUBLE_INT, pair(1, 7), pair(1, 5), into);
  assert.deepEqual(into, pair(1, 5));
  combine("MAXLOC", predefinedTypes.LONG_DOUBLE_INT, pair(2, 7), pair(1, 5), into);
  assert.deepEqual(into, pair(2, 7));
});

test("M5 §6.9.2 wrong pairs of operation and type are refused with a reason", () => {
  const wrong = [
    [
      SUM,
      C_BOOL,
      "Cannot apply MPI_SUM to MPI_C_BOOL: it takes these kinds of elements: integer, fortran integer, floating, address, complex",
    ],
    [MAX, predefinedTypes.C_DOUBLE_COMPLEX, undefined],
    [predefinedOps.BAND, DOUBLE, undefined],
    [predefinedOps.LAND, DOUBLE, undefined],
    [SUM, predefinedTypes.BYTE, undefined],
    [SUM, predefinedTypes.WCHAR, undefined],
    [SUM, DOUBLE_INT, undefined],
    [MINLOC, INT, "Cannot apply MPI_MINLOC to MPI_INT: it takes pairs of a value and an index"],
    [MAXLOC, DOUBLE, undefined],
    [PROD, predefinedTypes.REAL2, "Cannot apply MPI_PROD to MPI_REAL2: there is no arithmetic for float16 here"],
    [
      MIN,
      contiguous(2, INT),
      "Cannot apply MPI_MIN to a derived datatype: predefined operations take predefined datatypes",
    ],
  ] as const;
  for (const [op, type, message] of wrong) {
    assert.throws(
      () => kernelFor(op, type),
      message === undefined ? { code: ErrorClass.OP } : { code: ErrorClass.OP, message },
    );
  }
});

test("M5 §12.3.4 REPLACE takes the right, NO_OP the left; numbers of the ABI", () => {
  const into = new Float64Array(2);
  combine("REPLACE", DOUBLE, Float64Array.of(1, 2), Float64Array.of(3, 4), into);
  assert.deepEqual([...into], [3, 4]);
  combine("NO_OP", DOUBLE, Float64Array.of(1, 2), Float64Array.of(3, 4), into);
  assert.deepEqual([...into], [1, 2]);
  const handles = Object.values(predefinedOps).map(({ handle }) => handle);
  assert.equal(predefinedOps.MINLOC.handle, 0x38);
  assert.equal(new Set(handles).size, 14);
});

test("M5 §6.9.5 user operations: in is the lower rank, whichever operand the result replaces", () => {
  // Not commutative: a ∘ b = 10 a + b.
  const op = userOp((invec, inoutvec, count) => {
    const [a, b] = [invec, inoutvec].map((view) => new Int32Array(view.buffer, view.byteOffset, count)) as [
      Int32Array,
      Int32Array,
    ];
    for (let i = 0; i < count; i++) b[i] = 10 * a[i]! + b[i]!;
  }, false);
  for (const [into, other] of [
    [0, 16],
    [16, 0],
    [32, undefined],
  ] as const) {
    const memory = new Int32Array(16);
    memory.set([1, 2], 0);
    memory.set([3, 4], 4);
    kernelFor(op, INT)(new Views(memory.buffer), 0, 16, into, 2);
    assert.deepEqual([...memory.subarray(into / 4, into / 4 + 2)], [13, 24]);
    if (other !== undefined)
      assert.deepEqual([...memory.subarray(other / 4, other / 4 + 2)], other === 0 ? [1, 2] : [3, 4]);
  }
});

test("M5 §6.9.5 user operations see the whole span of a type with gaps", () => {
  const gaps = resized(hvector(INT, { count: 2, blocklength: 1, stride: 8 }), { lb: 0, extent: 24 });
  const lengths: number[] = [];
  const op = userOp((invec, inoutvec) => lengths.push(invec.length, inoutvec.length), true);
  kernelFor(op, gaps)(new Views(new ArrayBuffer(128)), 0, 64, 64, 2);
  assert.deepEqual(lengths, [36, 36]);
  assert.throws(() => kernelFor(op, hvector(INT, { count: 2, blocklength: 1, stride: -8 })), {
    code: ErrorClass.UNSUPPORTED_OPERATION,
  });
});
