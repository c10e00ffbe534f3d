import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../base/testing/properties.ts";
import { hindexed, hvector } from "./datatype-constructors.ts";
import { predefinedTypes } from "./datatype-predefined.ts";
import { pieceOrder } from "./piece-order.ts";
import { forEachPiece, Merging } from "./pieces.ts";
import { naiveBytes, twins } from "./testing/naive-datatype.ts";

const { INT } = predefinedTypes;

test("M9 pieces of any part of the packed order are the bytes of the type map", () => {
  fc.assert(
    fc.property(twins, fc.nat(4), fc.nat(), fc.nat(), ({ type, map }, count, a, b) => {
      const all = naiveBytes(map, count);
      const [from, to] = [a % (all.length + 1), b % (all.length + 1)];
      const got: number[] = [];
      forEachPiece(type.layout, type.extent, 100, from, to, (at, bytes) => {
        assert.ok(bytes > 0);
        for (let i = 0; i < bytes; i++) got.push(at + i);
        return true;
      });
      assert.deepEqual(
        got,
        all.slice(from, Math.max(from, to)).map((at) => at + 100),
      );
    }),
    { numRuns: 1500 },
  );
});

test("M9 pieces that touch are handed on as one, and nothing follows when there is enough", () => {
  const seen: number[][] = [];
  const merging = new Merging((at, bytes) => seen.push([at, bytes]) < 2);
  assert.ok(merging.add(0, 4));
  assert.ok(merging.add(4, 4));
  assert.ok(merging.add(12, 2));
  assert.equal(merging.add(20, 2), false);
  assert.deepEqual(seen, [
    [0, 8],
    [12, 2],
  ]);
});

test("M9 §14.3 pieces are disjoint where each byte lies behind the one before it", () => {
  fc.assert(
    fc.property(twins, ({ type, map }) => {
      const bytes = naiveBytes(map, 1);
      const isAscending = bytes.every((at, i) => i === 0 || at > bytes[i - 1]!);
      assert.equal(pieceOrder(type.layout).isDisjoint, isAscending);
    }),
    { numRuns: 1500 },
  );
  const overlapping = hindexed(INT, { blocklengths: [3, 1], displacements: [0, 4] });
  const { ascends, isDisjoint } = pieceOrder(overlapping.layout);
  assert.deepEqual([ascends, isDisjoint], [true, false]);
  assert.equal(pieceOrder(hindexed(INT, { blocklengths: [1, 1], displacements: [12, 0] }).layout).ascends, false);
  // A billion copies, described in one line.
  const many = hvector(INT, { count: 1e9, blocklength: 1, stride: 8 });
  assert.equal(pieceOrder(many.layout).isDisjoint, true);
  assert.equal(pieceOrder(hvector(INT, { count: 1e9, blocklength: 1, stride: 2 }).layout).isDisjoint, false);
});
