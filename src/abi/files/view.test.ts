import assert from "node:assert/strict";
import { test } from "node:test";
import { filledBytes } from "../../../test/filled-bytes.ts";
import fc from "../../core/base/testing/properties.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { hindexed, resized, vector } from "../../core/comm/datatype/datatype-constructors.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { naiveBytes, twins } from "../../core/comm/datatype/testing/naive-datatype.ts";
import { byteOfEtype, etypesBefore, streamBytesBefore, type View } from "./view.ts";
import { readView, writeView } from "./view-transfer.ts";

const { BYTE, INT } = predefinedTypes;
const runs = { numRuns: 1500 };
const counting = (length: number): Uint8Array => filledBytes(length, (i) => (i * 7 + (i >> 8)) & 0xff);

const viewOf = (displacement: number, filetype: Datatype, etype: Datatype = BYTE): View => ({
  displacement,
  etype,
  filetype,
  representation: "native",
});

/** Any file type whatever, the part of it that is accessed, and where in the file each byte of that lies. */
const anyPart = fc
  .tuple(twins, fc.integer({ min: 1, max: 4 }), fc.nat(20), fc.nat(), fc.nat())
  .filter(([{ type }]) => type.size > 0)
  .map(([{ type, map }, copies, shift, a, b]) => {
    const bytes = naiveBytes(map, copies);
    const displacement = shift - bytes.reduce((low, at) => Math.min(low, at), 0);
    const [from, to] = [a % bytes.length, b % (bytes.length + 1)].sort((x, y) => x - y) as [number, number];
    const places = bytes.slice(from, to).map((at) => at + displacement);
    return { view: viewOf(displacement, type), from, places };
  });

test("M9 §14.3 a read through a view gives the bytes of its file types in order, up to the end of the file", () => {
  fc.assert(
    fc.property(anyPart, fc.nat(), ({ view, from, places }, cut) => {
      const file = counting(cut % (Math.max(0, ...places) + 20));
      const target = new Uint8Array(places.length).fill(0xee);
      const got = readView(view, from, target, (bytes, at) => {
        const part = file.subarray(at, at + bytes.length);
        bytes.set(part);
        return part.length;
      });
      const beyond = places.findIndex((at) => at >= file.length);
      assert.equal(got, beyond < 0 ? places.length : beyond);
      assert.deepEqual(
        [...target.subarray(0, got)],
        places.slice(0, got).map((at) => file[at]!),
      );
    }),
    runs,
  );
});

test("M9 §14.3 a write through a view touches the bytes of its file types and no others", () => {
  fc.assert(
    fc.property(anyPart, ({ view, from, places }) => {
      const file = new Uint8Array(Math.max(0, ...places) + 20).fill(0xee);
      const wanted = file.slice();
      const source = counting(places.length);
      for (const [i, at] of places.entries()) wanted[at] = source[i]!;
      const done = writeView(view, from, source, (bytes, at) => {
        file.set(bytes, at);
        return bytes.length;
      });
      assert.equal(done, places.length);
      assert.deepEqual(file, wanted);
    }),
    runs,
  );
});

/** File types as the standard wants them: parts ascend, copies do not overlap. */
const ascending = fc
  .tuple(fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(5)), { minLength: 1, maxLength: 5 }), fc.nat(6))
  .map(([parts, rest]) => {
    const offsets: number[] = [];
    let at = 0;
    for (const [bytes, gap] of parts) {
      offsets.push(at + gap);
      at += gap + bytes;
    }
    const blocklengths = parts.map(([bytes]) => bytes);
    return resized(hindexed(BYTE, { blocklengths, displacements: offsets }), { lb: 0, extent: at + rest });
  });

test("M9 §14.4.3 the bytes of a view before a place in the file, and the other way round", () => {
  fc.assert(
    fc.property(ascending, fc.nat(20), fc.nat(100), (type, displacement, position) => {
      const view = viewOf(displacement, type);
      const places: number[] = [];
      for (let i = 0; places.length === 0 || places[i - 1]! < 200; i++) places.push(byteOfEtype(view, i));
      assert.ok(places.every((at, i) => i === 0 || at > places[i - 1]!));
      assert.equal(streamBytesBefore(view, position), places.filter((at) => at < position).length);
    }),
    runs,
  );
  const ints = viewOf(4, vector(INT, { count: 2, blocklength: 1, stride: 2 }), INT);
  assert.deepEqual(
    [0, 4, 5, 8, 12, 13, 16, 100].map((size) => etypesBefore(ints, size)),
    [0, 0, 1, 1, 1, 2, 2, 16],
  );
});

test("M9 many small pieces are read at few goes, and neighbours are one piece", () => {
  const sizes: number[] = [];
  const read = (bytes: Uint8Array): number => sizes.push(bytes.length) && bytes.length;
  readView(viewOf(0, resized(INT, { lb: 0, extent: 16 })), 0, new Uint8Array(400_000), read);
  assert.equal(sizes.length, 2);
  sizes.length = 0;
  readView(viewOf(0, resized(INT, { lb: 0, extent: 100_000 })), 0, new Uint8Array(40), read);
  assert.deepEqual(sizes, new Array(10).fill(4), "gaps that are long are not read");
  sizes.length = 0;
  writeView(viewOf(0, INT, INT), 12, new Uint8Array(400_000), read);
  assert.deepEqual(sizes, [400_000]);
});
