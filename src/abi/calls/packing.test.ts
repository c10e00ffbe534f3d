import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { testProgram } from "../testing/program.ts";

const { CHAR, DOUBLE, INT } = predefinedTypes;
const c = testProgram();
const { bytes } = c.program;
const self = 0x102;
const external32 = c.text("external32");

/** struct { char name[3]; double value; int number; } on wasm32, 24 bytes of which 15 are data. */
const record = c.get(
  "MPI_Type_create_struct",
  3,
  c.ints(3, 1, 1),
  c.ints(0, 8, 16),
  c.ints(CHAR.handle, DOUBLE.handle, INT.handle),
);
c.call("MPI_Type_commit", c.ints(record));
const dataBytes = [0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];

/** Two records whose bytes are all different. */
function records(): number {
  const at = c.alloc(48);
  for (let i = 0; i < 48; i++) bytes[at + i] = i + 1;
  return at;
}

const data = (at: number): number[] => [0, 24].flatMap((item) => dataBytes.map((byte) => bytes[at + item + byte]!));
const gapsOf = (at: number): number[] => [3, 7, 20, 23].map((byte) => bytes[at + byte]!);

describe("MPI_Pack and MPI_Unpack", () => {
  it("a structure, behind something else, and back", () => {
    const packed = c.alloc(40);
    const position = c.ints(0);
    const from = records();
    c.call("MPI_Pack", c.ints(77), 1, INT.handle, packed, 40, position, self);
    c.call("MPI_Pack", from, 2, record, packed, 40, position, self);
    equal(c.int(position), 34);
    equal(c.int(packed), 77);
    deepEqual([...bytes.subarray(packed + 4, packed + 34)], data(from));

    const to = c.alloc(48);
    const start = c.ints(4);
    c.call("MPI_Unpack", packed, 40, start, to, 2, record, self);
    equal(c.int(start), 34);
    deepEqual(data(to), data(from));
    deepEqual(gapsOf(to), [0, 0, 0, 0]);
  });

  it("the _c forms", () => {
    const [packed, to, position] = [c.alloc(30), c.alloc(48), c.longs(0)];
    const from = records();
    c.call("MPI_Pack_c", from, 2n, record, packed, 30n, position, self);
    equal(c.long(position), 30);
    c.call("MPI_Unpack_c", packed, 30n, c.longs(0), to, 2n, record, self);
    deepEqual(data(to), data(from));
    throws(() => c.call("MPI_Pack_c", from, 2n ** 60n, record, packed, 30n, position, self), {
      code: ErrorClass.COUNT,
    });
  });

  it("sizes, UNDEFINED where an int does not hold them", () => {
    equal(c.get("MPI_Pack_size", 3, record, self), 45);
    equal(c.get("MPI_Pack_size", 2 ** 30, record, self), UNDEFINED);
    const size = c.alloc(8);
    c.call("MPI_Pack_size_c", 2n ** 40n, record, self, size);
    equal(c.long(size), 15 * 2 ** 40);
  });

  it("errors: a full buffer, positions outside of it, bad counts, types and communicators", () => {
    const [packed, at] = [c.alloc(40), c.ints(0)];
    const from = records();
    const pack = (count: number, type: number, size: number, comm: number): number =>
      c.call("MPI_Pack", from, count, type, packed, size, at, comm);
    throws(() => pack(2, record, 29, self), { code: ErrorClass.TRUNCATE });
    equal(c.int(at), 0);
    throws(() => pack(-1, record, 40, self), { code: ErrorClass.COUNT });
    throws(() => pack(1, record, -1, self), { code: ErrorClass.ARG });
    throws(() => pack(1, record, 40, 0x100), { code: ErrorClass.COMM });
    const raw = c.get("MPI_Type_contiguous", 2, INT.handle);
    throws(() => pack(1, raw, 40, self), { code: ErrorClass.TYPE, message: /MPI_Type_commit/ });
    for (const position of [-1, 41]) {
      const unpack = () => c.call("MPI_Unpack", packed, 40, c.ints(position), from, 1, INT.handle, self);
      throws(unpack, { code: ErrorClass.ARG });
    }
    throws(() => c.call("MPI_Unpack", packed, 40, c.ints(38), from, 1, INT.handle, self), {
      code: ErrorClass.TRUNCATE,
    });
    throws(() => pack(1, INT.handle, 40, INT.handle), { code: ErrorClass.COMM });
  });
});

describe("external32", () => {
  it("big endian there and back, in both forms", () => {
    equal(c.get("MPI_Pack_external_size", external32, 2, record), 30);
    const size = c.alloc(8);
    c.call("MPI_Pack_external_size_c", external32, 2n ** 33n, record, size);
    equal(c.long(size), 15 * 2 ** 33);
    for (const [suffix, count, room, zero] of [
      ["", 2, 30, () => c.ints(0)],
      ["_c", 2n, 30n, () => c.longs(0)],
    ] as const) {
      const [packed, to, position] = [c.alloc(30), c.alloc(48), zero()];
      const from = records();
      c.call(`MPI_Pack_external${suffix}`, external32, from, count, record, packed, room, position);
      equal(c.int(position), 30);
      // The first character, then the double with its last byte in front.
      deepEqual([bytes[packed]!, bytes[packed + 3]!], [bytes[from]!, bytes[from + 15]!]);
      c.call(`MPI_Unpack_external${suffix}`, external32, packed, room, zero(), to, count, record);
      deepEqual(data(to), data(from));
    }
  });

  it("other representations are none", () => {
    throws(() => c.get("MPI_Pack_external_size", c.text("native"), 1, INT.handle), { code: ErrorClass.ARG });
    const pack = () => c.call("MPI_Pack_external", external32, c.ints(1, 2), 2, INT.handle, c.alloc(8), 7, c.ints(0));
    throws(pack, { code: ErrorClass.TRUNCATE });
  });
});
