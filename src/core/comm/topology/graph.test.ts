import assert from "node:assert/strict";
import { test } from "node:test";
import { UNDEFINED } from "../../base/constants.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import { GraphTopology } from "./graph.ts";

test("M4 §8.5.3 Graph_create, the standard's example", () => {
  const graph = new GraphTopology([2, 3, 4, 6], [1, 3, 0, 3, 0, 2], 5);
  assert.deepEqual(
    [0, 1, 2, 3].map((rank) => graph.neighboursOf(rank)),
    [[1, 3], [0], [3], [0, 2]],
  );
  assert.deepEqual(graph.neighbours(3), { sources: [0, 2], destinations: [0, 2] });
  assert.deepEqual(
    [3, 4].map((rank) => graph.map(rank)),
    [3, UNDEFINED],
  );
  assert.throws(() => graph.neighboursOf(4), { code: ErrorClass.RANK });
});

test("M4 §8.5.3 a graph may be empty, have loops and edges twice", () => {
  assert.deepEqual(new GraphTopology([], [], 3).size, 0);
  assert.deepEqual(new GraphTopology([3, 3], [0, 1, 1], 2).neighboursOf(0), [0, 1, 1]);
});

test("M4 §8.5.3 impossible graphs", () => {
  assert.throws(() => new GraphTopology([1, 2], [1, 0], 1), { code: ErrorClass.ARG });
  assert.throws(() => new GraphTopology([2, 1], [1, 0], 2), { code: ErrorClass.TOPOLOGY });
  assert.throws(() => new GraphTopology([1, 3], [1, 0], 2), { code: ErrorClass.TOPOLOGY });
  assert.throws(() => new GraphTopology([1, 2], [1, 2], 2), {
    code: ErrorClass.TOPOLOGY,
    message: "Cannot make the graph: an edge leads to node 2 and the nodes are 0 to 1",
  });
});
