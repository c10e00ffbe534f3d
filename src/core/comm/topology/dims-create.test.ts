import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import { dimsCreate } from "./dims-create.ts";

test("M4 §8.5.2 Dims_create, the standard's examples", () => {
  assert.deepEqual(dimsCreate(6, [0, 0]), [3, 2]);
  assert.deepEqual(dimsCreate(7, [0, 0]), [7, 1]);
  assert.deepEqual(dimsCreate(6, [0, 3, 0]), [2, 3, 1]);
  assert.throws(() => dimsCreate(7, [0, 3, 0]), {
    code: ErrorClass.DIMS,
    message: "Cannot make a grid of 7 processes: the fixed dimensions hold 3, which must divide it",
  });
});

test("M4 §8.5.2 Dims_create is as balanced as any factorisation, checked against all of them", () => {
  const factorisations = (product: number, count: number, most: number): number[][] => {
    if (count === 0) return product === 1 ? [[]] : [];
    const first = Array.from({ length: Math.min(product, most) }, (_, i) => i + 1).filter((i) => product % i === 0);
    return first.flatMap((i) => factorisations(product / i, count - 1, i).map((rest) => [i, ...rest]));
  };
  for (let nodes = 1; nodes <= 200; nodes++) {
    for (let count = 1; count <= 4; count++) {
      const dims = dimsCreate(nodes, new Array(count).fill(0));
      const spreads = factorisations(nodes, count, nodes).map((list) => list[0]! - list.at(-1)!);
      assert.equal(
        dims.reduce((a, b) => a * b, 1),
        nodes,
      );
      assert.deepEqual(
        dims,
        [...dims].sort((a, b) => b - a),
      );
      assert.equal(dims[0]! - dims.at(-1)!, Math.min(...spreads), `${nodes} in ${count}`);
    }
  }
});

test("M4 §8.5.2 Dims_create, of equally balanced grids, gives the one that MPICH does", () => {
  assert.deepEqual(dimsCreate(10800, [0, 0, 0]), [27, 20, 20]);
  assert.deepEqual(dimsCreate(98784, [0, 0, 0, 0, 0]), [14, 14, 9, 8, 7]);
});

test("M4 §8.5.2 Dims_create leaves fixed dimensions alone and fills the others in order", () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 36864 }),
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }),
    (free, dims) => {
      const fixed = dims.reduce((product, dim) => (dim === 0 ? product : product * dim), 1);
      const hasFree = dims.includes(0);
      const made = dimsCreate(hasFree ? free * fixed : fixed, dims);
      assert.ok(dims.every((dim, i) => dim === 0 || made[i] === dim));
      const filled = made.filter((_, i) => dims[i] === 0);
      assert.equal(
        filled.reduce((a, b) => a * b, 1),
        hasFree ? free : 1,
      );
      assert.deepEqual(
        filled,
        [...filled].sort((a, b) => b - a),
      );
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test("M4 §8.5.2 Dims_create copes with large and rich numbers, and refuses wrong ones", () => {
  assert.deepEqual(dimsCreate(720720, [0, 0, 0]), [91, 90, 88]);
  assert.deepEqual(dimsCreate(2 ** 30, new Array(10).fill(0)), new Array(10).fill(8));
  assert.deepEqual(dimsCreate(2147483647, [0, 0]), [2147483647, 1]);
  assert.deepEqual(dimsCreate(12, [3, 4]), [3, 4]);
  assert.throws(() => dimsCreate(12, [3, 2]), { code: ErrorClass.DIMS });
  assert.throws(() => dimsCreate(12, [-1, 0]), { code: ErrorClass.DIMS });
  assert.throws(() => dimsCreate(0, [0]), { code: ErrorClass.ARG });
});
