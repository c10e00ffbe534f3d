import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import { struct } from "./datatype-constructors.ts";
import { predefinedTypes } from "./datatype-predefined.ts";
import { checkDatarep, packExternal, packExternalSize, unpackExternal } from "./pack-external.ts";
import { naiveBytes, twins } from "./testing/naive-datatype.ts";

const { AINT, C_DOUBLE_COMPLEX, CHAR, DOUBLE, INT, WCHAR } = predefinedTypes;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("M5 §14.5.2 external32 is big endian", () => {
  const native = new Uint8Array(16);
  const view = new DataView(native.buffer);
  view.setInt32(0, 0x01020304, true);
  view.setFloat64(8, -2, true);
  native[4] = 0x41;
  const type = struct({ types: [INT, CHAR, DOUBLE], blocklengths: [1, 1, 1], displacements: [0, 4, 8] });
  const packed = new Uint8Array(13);
  assert.equal(packExternalSize(type, 1), 13);
  assert.equal(packExternal({ type, count: 1, bytes: native, offset: 0 }, { bytes: packed, offset: 0 }), 13);
  assert.equal(hex(packed), "0102030441c000000000000000");
  const complex = new Uint8Array(16);
  packExternal(
    { type: C_DOUBLE_COMPLEX, count: 1, bytes: new Uint8Array(Float64Array.of(1, -2).buffer), offset: 0 },
    { bytes: complex, offset: 0 },
  );
  assert.equal(hex(complex), "3ff0000000000000c000000000000000");
});

test("M5 §14.5.2 addresses widen with their sign, wide characters shrink", () => {
  const packed = new Uint8Array(16);
  packExternal(
    { type: AINT, count: 2, bytes: new Uint8Array(Int32Array.of(-2, 5).buffer), offset: 0 },
    { bytes: packed, offset: 0 },
  );
  assert.equal(hex(packed), "fffffffffffffffe0000000000000005");
  const back = new Int32Array(2);
  unpackExternal({ bytes: packed, offset: 0 }, { type: AINT, count: 2, bytes: new Uint8Array(back.buffer), offset: 0 });
  assert.deepEqual([...back], [-2, 5]);
  assert.equal(packExternalSize(WCHAR, 3), 6);
});

test("M5 §5.3 what external32 can hold comes back as it was", () => {
  // Overlapping items and wide characters lose something on the way, as they must.
  const lossless = twins.filter(({ map }) => {
    const offsets = naiveBytes(map, 3);
    return (
      new Set(offsets).size === offsets.length &&
      map.every(({ element }) => typeof element !== "object" || element.name !== "WCHAR")
    );
  });
  const property = fc.property(lossless, fc.nat(3), ({ type, map }, count) => {
    const offsets = naiveBytes(map, count);
    const origin = -Math.min(0, ...offsets);
    const memory = Uint8Array.from({ length: origin + Math.max(0, ...offsets) + 1 }, (_, i) => (i * 37) & 0xff);
    const wanted = new Uint8Array(memory.length);
    for (const at of offsets) wanted[origin + at] = memory[origin + at]!;
    const packed = new Uint8Array(packExternalSize(type, count));
    packExternal({ type, count, bytes: memory, offset: origin }, { bytes: packed, offset: 0 });
    const target = new Uint8Array(memory.length);
    unpackExternal({ bytes: packed, offset: 0 }, { type, count, bytes: target, offset: origin });
    assert.deepEqual(target, wanted);
  });
  fc.assert(property, { numRuns: 300 });
});

test("M5 §5.3 wrong names and small buffers", () => {
  checkDatarep("external32");
  assert.throws(() => checkDatarep("native"), { code: ErrorClass.ARG });
  assert.throws(
    () =>
      packExternal(
        { type: INT, count: 2, bytes: new Uint8Array(8), offset: 0 },
        { bytes: new Uint8Array(7), offset: 0 },
      ),
    { code: ErrorClass.TRUNCATE },
  );
});
