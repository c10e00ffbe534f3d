import assert from "node:assert/strict";
import { test } from "node:test";
import { filledBytes } from "../../../../test/filled-bytes.ts";
import { UNDEFINED } from "../../base/constants.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import { contiguous, hvector, indexed, struct, vector } from "./datatype-constructors.ts";
import { elementBytes, elementCount, itemCount } from "./datatype-elements.ts";
import { predefinedTypes } from "./datatype-predefined.ts";
import { pack, packSize, unpack } from "./pack.ts";
import { naiveBounds, naiveBytes, twins } from "./testing/naive-datatype.ts";

const { BYTE, DOUBLE, INT, SHORT } = predefinedTypes;
const counting = (length: number): Uint8Array => filledBytes(length, (i) => (i * 7 + (i >> 8)) & 0xff);

test("M5 §5.1.6 size, bounds and extents of every constructor are those of its type map", () => {
  fc.assert(
    fc.property(twins, ({ type, map }) => {
      const data = map.filter((entry) => typeof entry.element === "object");
      const offsets = naiveBytes(map, 1);
      const { lb, ub } = naiveBounds(map);
      assert.equal(type.size, offsets.length);
      assert.deepEqual([type.lb + 0, type.ub + 0, type.extent + 0], [lb + 0, ub + 0, ub - lb + 0]);
      const [low, high] = offsets.length === 0 ? [0, 0] : [Math.min(...offsets), Math.max(...offsets) + 1];
      assert.deepEqual([type.trueLb + 0, type.trueExtent + 0], [low + 0, high - low + 0]);
      assert.equal(type.signature.elements, data.length);
      assert.equal(type.signature.bytes, type.size);
    }),
    { numRuns: 1500 },
  );
});

test("M5 §5.2 pack takes the bytes of the type map in order, unpack puts them back and touches nothing else", () => {
  fc.assert(
    fc.property(twins, fc.nat(3), fc.nat(3), ({ type, map }, count, shift) => {
      const offsets = naiveBytes(map, count);
      const origin = shift - Math.min(0, ...offsets);
      const memory = counting(origin + Math.max(0, ...offsets) + 9);
      const packed = new Uint8Array(offsets.length + shift + 4);
      assert.equal(packSize(type, count), offsets.length);
      assert.equal(
        pack({ type, count, bytes: memory, offset: origin }, { bytes: packed, offset: shift }),
        offsets.length,
      );
      assert.deepEqual(
        [...packed.subarray(shift, shift + offsets.length)],
        offsets.map((at) => memory[origin + at]!),
      );
      assert.ok(packed.subarray(shift + offsets.length).every((byte) => byte === 0));

      const target = new Uint8Array(memory.length).fill(0xee);
      const wanted = target.slice();
      offsets.forEach((at, i) => {
        wanted[origin + at] = packed[shift + i]!;
      });
      unpack({ bytes: packed, offset: shift }, { type, count, bytes: target, offset: origin });
      assert.deepEqual(target, wanted);
    }),
    { numRuns: 1500 },
  );
});

test("M5 §5.2 any piece of the packed stream can be packed and unpacked alone", () => {
  fc.assert(
    fc.property(twins, fc.nat(3), fc.nat(300), fc.nat(300), ({ type, map }, count, a, b) => {
      const offsets = naiveBytes(map, count);
      const [from, to] = [Math.min(a, b, offsets.length), Math.min(Math.max(a, b), offsets.length)];
      const origin = -Math.min(0, ...offsets);
      const memory = counting(origin + Math.max(0, ...offsets) + 1);
      const packed = new Uint8Array(to - from);
      assert.equal(
        pack({ type, count, bytes: memory, offset: origin }, { bytes: packed, offset: 0 }, { from, bytes: to - from }),
        to - from,
      );
      assert.deepEqual(
        [...packed],
        offsets.slice(from, to).map((at) => memory[origin + at]!),
      );
      const target = new Uint8Array(memory.length);
      const wanted = target.slice();
      offsets.slice(from, to).forEach((at, i) => {
        wanted[origin + at] = packed[i]!;
      });
      unpack({ bytes: packed, offset: 0 }, { type, count, bytes: target, offset: origin }, { from, bytes: to - from });
      assert.deepEqual(target, wanted);
    }),
    { numRuns: 1500 },
  );
});

test("M5 §5.1.11 elements in a message of any length", () => {
  fc.assert(
    fc.property(twins, fc.nat(200), ({ type, map }, bytes) => {
      const sizes = map.flatMap(({ element }) => (typeof element === "object" ? [element.bytes] : []));
      if (type.size === 0) return assert.equal(elementCount(type, bytes), bytes === 0 ? 0 : UNDEFINED);
      let [at, elements] = [0, 0];
      while (at < bytes) at += sizes[elements++ % sizes.length]!;
      assert.equal(elementCount(type, bytes), at === bytes ? elements : UNDEFINED);
      if (at === bytes) assert.equal(elementBytes(type, elements), bytes);
      assert.equal(itemCount(type, bytes), bytes % type.size === 0 ? bytes / type.size : UNDEFINED);
    }),
    { numRuns: 1000 },
  );
});

test("M5 pieces that touch are one piece, whatever described them", () => {
  const same = [
    contiguous(6, INT),
    vector(INT, { count: 3, blocklength: 2, stride: 2 }),
    hvector(contiguous(3, SHORT), { count: 4, blocklength: 1, stride: 6 }),
    indexed(INT, { blocklengths: [1, 2, 3], displacements: [0, 1, 3] }),
    struct({ types: [DOUBLE, contiguous(4, INT)], blocklengths: [1, 1], displacements: [0, 8] }),
  ];
  for (const type of same) {
    assert.deepEqual([type.layout.kind, type.size], ["run", 24]);
    assert.ok(type.isContiguous(1) && type.isContiguous(1000));
  }
  assert.ok(!vector(INT, { count: 2, blocklength: 1, stride: 2 }).isContiguous(1));
  assert.ok(predefinedTypes.FLOAT_INT.isContiguous(9));
  assert.ok(!predefinedTypes.DOUBLE_INT.isContiguous(2) && predefinedTypes.DOUBLE_INT.isContiguous(1));
  const everyOther = indexed(INT, { blocklengths: [1, 1, 1], displacements: [0, 2, 4] });
  assert.equal(everyOther.layout.kind, "repeat");
});

test("M5 huge counts stay small: repeats are kept, not written out", () => {
  const column = vector(DOUBLE, { count: 1_000_000, blocklength: 1, stride: 1_000_000 });
  const matrix = contiguous(
    1_000_000,
    vector(struct({ types: [INT, DOUBLE], blocklengths: [1, 1], displacements: [0, 8] }), {
      count: 1_000_000,
      blocklength: 2,
      stride: 5,
    }),
  );
  assert.equal(column.extent, 8 * (999_999 * 1_000_000 + 1));
  assert.equal(matrix.size, 24e12);
  assert.ok(JSON.stringify(matrix.layout).length < 1000);
  assert.equal(elementCount(matrix, 24e12), 4e12);
});

test("M5 a column of a large matrix packs word by word, aligned or not", () => {
  for (const shift of [0, 1]) {
    const memory = counting(64 * 64 * 8 + 8);
    const column = vector(DOUBLE, { count: 64, blocklength: 1, stride: 64 });
    const packed = new Uint8Array(64 * 8);
    pack({ type: column, count: 1, bytes: memory, offset: shift + 24 }, { bytes: packed, offset: 0 });
    for (let i = 0; i < 512; i++) assert.equal(packed[i], memory[shift + 24 + (i >> 3) * 512 + (i & 7)]);
    const back = new Uint8Array(memory.length);
    unpack({ bytes: packed, offset: 0 }, { type: column, count: 1, bytes: back, offset: shift + 24 });
    for (let i = 0; i < 512; i++) assert.equal(back[shift + 24 + (i >> 3) * 512 + (i & 7)], packed[i]);
    assert.equal(back.filter((byte) => byte !== 0).length, packed.filter((byte) => byte !== 0).length);
  }
});

test("M5 buffers too small are the program's mistake, also for a view inside a larger buffer", () => {
  const view = new Uint8Array(new ArrayBuffer(1024), 0, 16);
  const gaps = vector(INT, { count: 100, blocklength: 1, stride: 2 });
  assert.throws(
    () => pack({ type: gaps, count: 1, bytes: view, offset: 0 }, { bytes: new Uint8Array(1000), offset: 0 }),
    {
      code: ErrorClass.BUFFER,
      message: "Cannot pack 1 × a datatype at byte 0: it needs bytes 0 to 796 and the buffer has 16",
    },
  );
  assert.throws(
    () => unpack({ bytes: new Uint8Array(400), offset: 0 }, { type: gaps, count: 1, bytes: view, offset: 0 }),
    { code: ErrorClass.BUFFER },
  );
  assert.throws(() => pack({ type: BYTE, count: 8, bytes: view, offset: 0 }, { bytes: new Uint8Array(4), offset: 0 }), {
    code: ErrorClass.TRUNCATE,
  });
});
