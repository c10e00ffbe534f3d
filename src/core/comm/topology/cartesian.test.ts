import assert from "node:assert/strict";
import { test } from "node:test";
import { PROC_NULL, UNDEFINED } from "../../base/constants.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import { CartesianTopology } from "./cartesian.ts";

const grids = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), { minLength: 1, maxLength: 4 }).map(
  (sides) =>
    new CartesianTopology(
      sides.map((side) => side[0]),
      sides.map((side) => side[1]),
      256,
    ),
);

test("M4 §8.5.5 Cart_coords and Cart_rank are each other's way back, row-major", () => {
  fc.assert(
    fc.property(grids, (grid) => {
      for (let rank = 0; rank < grid.size; rank++) assert.equal(grid.rank(grid.coordinates(rank)), rank);
      const last = grid.coordinates(grid.size - 1);
      assert.deepEqual(
        last,
        grid.dims.map((dim) => dim - 1),
      );
    }),
  );
  assert.deepEqual(new CartesianTopology([2, 3], [false, false], 6).coordinates(4), [1, 1]);
});

test("M4 §8.5.5 Cart_rank wraps rings and refuses what is outside of an open dimension", () => {
  const grid = new CartesianTopology([3, 4], [false, true], 12);
  assert.equal(grid.rank([1, 5]), grid.rank([1, 1]));
  assert.equal(grid.rank([2, -1]), 11);
  assert.throws(() => grid.rank([3, 0]), {
    code: ErrorClass.ARG,
    message: "Cannot find the rank: coordinate 0 is 3 and must be 0 to 2",
  });
  assert.throws(() => grid.coordinates(12), { code: ErrorClass.RANK });
});

test("M4 §8.5.6 Cart_shift: source and destination mirror each other, PROC_NULL at open ends", () => {
  fc.assert(
    fc.property(grids, fc.integer({ min: -5, max: 5 }), (grid, displacement) => {
      for (let rank = 0; rank < grid.size; rank++) {
        grid.dims.forEach((dim, direction) => {
          const { source, destination } = grid.shift(rank, direction, displacement);
          const at = grid.coordinates(rank)[direction]! + displacement;
          const isInside = grid.periods[direction] || (at >= 0 && at < dim);
          assert.equal(destination === PROC_NULL, !isInside);
          if (destination !== PROC_NULL) assert.equal(grid.shift(destination, direction, displacement).source, rank);
          if (source !== PROC_NULL) assert.equal(grid.shift(source, direction, displacement).destination, rank);
        });
      }
    }),
  );
  assert.throws(() => new CartesianTopology([2], [true], 2).shift(0, 1, 1), { code: ErrorClass.ARG });
});

test("M4 §8.5.7 Cart_sub: the standard's 2 × 3 × 4 grid without its first dimension", () => {
  const grid = new CartesianTopology([2, 3, 4], [false, true, false], 24);
  const slices = Array.from({ length: 24 }, (_, rank) => grid.sub(rank, [false, true, true]));
  assert.deepEqual(
    slices.map(({ color }) => color),
    Array.from({ length: 24 }, (_, rank) => Math.floor(rank / 12)),
  );
  assert.deepEqual(
    slices.map(({ key }) => key),
    Array.from({ length: 24 }, (_, rank) => rank % 12),
  );
  assert.deepEqual(
    [slices[0]!.topology.dims, slices[0]!.topology.periods],
    [
      [3, 4],
      [true, false],
    ],
  );
  const point = grid.sub(7, [false, false, false]);
  assert.deepEqual([point.color, point.key, point.topology.size], [7, 0, 1]);
});

test("M4 §8.6 neighbours: before and behind in every dimension", () => {
  const grid = new CartesianTopology([2, 3], [false, true], 6);
  assert.deepEqual(grid.neighbours(0).sources, [PROC_NULL, 3, 2, 1]);
  assert.deepEqual(grid.neighbours(0).destinations, [PROC_NULL, 3, 2, 1]);
  assert.deepEqual(grid.neighbours(5).sources, [2, PROC_NULL, 4, 3]);
  assert.deepEqual(new CartesianTopology([], [], 3).neighbours(0).sources, []);
});

test("M4 §8.5.1 Cart_create and §8.5.8 Cart_map: left-out processes, impossible grids", () => {
  const grid = new CartesianTopology([2, 2], [true, true], 5);
  assert.deepEqual(
    [0, 3, 4].map((rank) => grid.map(rank)),
    [0, 3, UNDEFINED],
  );
  assert.equal(new CartesianTopology([], [], 4).size, 1);
  assert.throws(() => new CartesianTopology([2, 3], [true, true], 5), {
    code: ErrorClass.ARG,
    message: "Cannot make the grid: it takes 6 processes and the communicator has 5",
  });
  assert.throws(() => new CartesianTopology([0], [true], 5), { code: ErrorClass.DIMS });
  assert.throws(() => new CartesianTopology([2], [], 5), { code: ErrorClass.ARG });
});
