import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DISTRIBUTE_BLOCK,
  DISTRIBUTE_CYCLIC,
  DISTRIBUTE_DFLT_DARG,
  DISTRIBUTE_NONE,
  ORDER_C,
  ORDER_FORTRAN,
} from "../../base/constants.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import type { Datatype } from "./datatype.ts";
import { type Darray, darray, subarray } from "./datatype-arrays.ts";
import { Combiner } from "./datatype-combiner.ts";
import { vector } from "./datatype-constructors.ts";
import { predefinedTypes } from "./datatype-predefined.ts";
import { pack } from "./pack.ts";

const { INT, SHORT } = predefinedTypes;

/** Which items of the global array the type takes, in packing order: packs an array that holds its own indices. */
function itemsOf(type: Datatype): number[] {
  const items = Int32Array.from({ length: type.extent / 4 }, (_, i) => i);
  const packed = new Int32Array(type.size / 4);
  pack(
    { type, count: 1, bytes: new Uint8Array(items.buffer), offset: 0 },
    { bytes: new Uint8Array(packed.buffer), offset: 0 },
  );
  return [...packed];
}

interface Dimension {
  readonly gsize: number;
  readonly psize: number;
  readonly distribution: number;
  readonly darg: number;
}

/** The items of a dimension that process `coordinate` owns: item i is in block i / block, blocks go round. */
function owned({ gsize, psize, distribution, darg }: Dimension, coordinate: number): number[] {
  const all = Array.from({ length: gsize }, (_, i) => i);
  if (distribution === DISTRIBUTE_NONE) return all;
  const standard = distribution === DISTRIBUTE_BLOCK ? Math.floor((gsize + psize - 1) / psize) : 1;
  const block = darg === DISTRIBUTE_DFLT_DARG ? standard : darg;
  return all.filter((i) => Math.floor(i / block) % psize === coordinate);
}

const dimension: fc.Arbitrary<Dimension> = fc
  .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 3 }), fc.nat(2), fc.boolean(), fc.nat(2))
  .map(([gsize, psize, kind, isDefault, more]) => {
    const distribution = [DISTRIBUTE_NONE, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC][kind]!;
    const smallest = distribution === DISTRIBUTE_BLOCK ? Math.ceil(gsize / psize) : 1;
    return {
      gsize,
      psize: distribution === DISTRIBUTE_NONE ? 1 : psize,
      distribution,
      darg: isDefault ? DISTRIBUTE_DFLT_DARG : smallest + more,
    };
  });

test("M5 §5.1.4 darray: every distribution, both orders, against the list of owned items", () => {
  const property = fc.property(
    fc.array(dimension, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(ORDER_C, ORDER_FORTRAN),
    (dimensions, order) => {
      const size = dimensions.reduce((product, { psize }) => product * psize, 1);
      const whole = dimensions.reduce((product, { gsize }) => product * gsize, 1);
      const seen: number[] = [];
      for (let rank = 0; rank < size; rank++) {
        let rest = rank;
        const coordinates = dimensions.map((_, i) => {
          const below = dimensions.slice(i + 1).reduce((product, { psize }) => product * psize, 1);
          const coordinate = Math.floor(rest / below);
          rest %= below;
          return coordinate;
        });
        const shares = dimensions.map((each, i) => ({ size: each.gsize, items: owned(each, coordinates[i]!) }));
        const slowestFirst = order === ORDER_C ? shares : shares.reverse();
        const wanted = slowestFirst.reduce<number[]>(
          (list, { size, items }) => list.flatMap((at) => items.map((item) => at * size + item)),
          [0],
        );
        const type = darray(INT, arrayOf(dimensions, { size, rank, order }));
        assert.deepEqual([type.lb, type.extent], [0, 4 * whole]);
        assert.deepEqual(itemsOf(type), wanted);
        seen.push(...wanted);
      }
      assert.equal(new Set(seen).size, whole);
    },
  );
  fc.assert(property, { numRuns: 400 });
});

function arrayOf(dimensions: readonly Dimension[], place: Pick<Darray, "size" | "rank" | "order">): Darray {
  return {
    ...place,
    gsizes: dimensions.map((each) => each.gsize),
    distributions: dimensions.map((each) => each.distribution),
    dargs: dimensions.map((each) => each.darg),
    psizes: dimensions.map((each) => each.psize),
  };
}

test("M5 §5.1.3 subarray of a matrix, in both orders", () => {
  const box = { sizes: [4, 6], subsizes: [2, 3], starts: [1, 2] };
  assert.deepEqual(itemsOf(subarray(INT, { ...box, order: ORDER_C })), [8, 9, 10, 14, 15, 16]);
  assert.deepEqual(itemsOf(subarray(INT, { ...box, order: ORDER_FORTRAN })), [9, 10, 13, 14, 17, 18]);
  const type = subarray(INT, { ...box, order: ORDER_C });
  assert.equal(type.layout.kind, "repeat");
  assert.deepEqual(type.envelope.integers, [2, 4, 6, 2, 3, 1, 2, ORDER_C]);
  assert.equal(type.envelope.combiner, Combiner.SUBARRAY);
  const gaps = vector(SHORT, { count: 2, blocklength: 1, stride: 2 });
  assert.equal(subarray(gaps, { ...box, order: ORDER_C }).extent, 24 * gaps.extent);
});

test("M5 §5.1.4 darray keeps its arguments", () => {
  const array = {
    size: 6,
    rank: 3,
    gsizes: [8, 9],
    distributions: [DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC],
    dargs: [DISTRIBUTE_DFLT_DARG, 2],
    psizes: [2, 3],
    order: ORDER_C,
  };
  const { combiner, integers } = darray(INT, array).envelope;
  assert.equal(combiner, Combiner.DARRAY);
  assert.deepEqual(integers, [6, 3, 2, 8, 9, ...array.distributions, ...array.dargs, 2, 3, ORDER_C]);
});

test("M5 §5.1.3 §5.1.4 impossible arrays are refused with a reason", () => {
  const box = { sizes: [4], subsizes: [2], starts: [1], order: ORDER_C };
  const array = {
    size: 2,
    rank: 0,
    gsizes: [8],
    distributions: [DISTRIBUTE_BLOCK],
    dargs: [4],
    psizes: [2],
    order: ORDER_C,
  };
  assert.throws(() => subarray(INT, { ...box, starts: [3] }), {
    code: ErrorClass.ARG,
    message: "Cannot make the array datatype: dimension 0 takes 2 from 3 on and has 4",
  });
  for (const wrong of [
    { ...box, sizes: [] },
    { ...box, subsizes: [0] },
    { ...box, order: 1 },
    { ...box, starts: [-1] },
  ]) {
    assert.throws(() => subarray(INT, wrong), { code: ErrorClass.ARG });
  }
  for (const wrong of [
    { ...array, dargs: [3] },
    { ...array, psizes: [3] },
    { ...array, rank: 2 },
    { ...array, distributions: [DISTRIBUTE_NONE] },
    { ...array, distributions: [7] },
    { ...array, dargs: [0] },
    { ...array, gsizes: [0] },
  ]) {
    assert.throws(() => darray(INT, wrong), { code: ErrorClass.ARG });
  }
});
