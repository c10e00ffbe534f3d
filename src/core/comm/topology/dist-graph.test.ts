import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import fc from "../../base/testing/properties.ts";
import { adjacentOf, DistGraphTopology, edgesOf } from "./dist-graph.ts";

test("M4 §8.5.4 Dist_graph_create_adjacent keeps order, repeats and weights", () => {
  const graph = new DistGraphTopology(
    { sources: [2, 2], destinations: [1], sourceWeights: [5, 6], destinationWeights: [0] },
    3,
  );
  assert.deepEqual(graph.neighbours().sources, [2, 2]);
  assert.ok(graph.isWeighted);
  assert.ok(!new DistGraphTopology({ sources: [], destinations: [] }, 3).isWeighted);
});

test("M4 §8.5.4 Dist_graph_create: whoever brings an edge, both its ends get it", () => {
  const rank = fc.nat(4);
  const edge = fc.tuple(rank, rank, fc.nat(9));
  const property = fc.property(
    fc.array(fc.array(edge, { maxLength: 6 }), { minLength: 5, maxLength: 5 }),
    (brought) => {
      const all = brought.map((edges) =>
        edgesOf(
          {
            sources: edges.map((each) => each[0]),
            degrees: edges.map(() => 1),
            destinations: edges.map((each) => each[1]),
            weights: edges.map((each) => each[2]),
          },
          5,
        ),
      );
      const gathered = Int32Array.from(all.flatMap((edges) => [...edges]));
      const flat = brought.flat();
      for (let self = 0; self < 5; self++) {
        const graph = new DistGraphTopology(adjacentOf(self, gathered, true), 5);
        const [into, out] = [flat.filter((each) => each[1] === self), flat.filter((each) => each[0] === self)];
        assert.deepEqual(
          graph.sources,
          into.map((each) => each[0]),
        );
        assert.deepEqual(
          graph.sourceWeights,
          into.map((each) => each[2]),
        );
        assert.deepEqual(
          graph.destinations,
          out.map((each) => each[1]),
        );
        assert.deepEqual(
          graph.destinationWeights,
          out.map((each) => each[2]),
        );
      }
    },
  );
  fc.assert(property);
});

test("M4 §8.5.4 several destinations for one source, unweighted", () => {
  const edges = edgesOf({ sources: [1, 0], degrees: [2, 0], destinations: [0, 2] }, 3);
  assert.deepEqual([...edges], [1, 0, 0, 1, 2, 0]);
  assert.deepEqual(adjacentOf(1, edges, false), { sources: [], destinations: [0, 2] });
});

test("M4 §8.5.4 impossible graphs", () => {
  const good = { sources: [0], degrees: [1], destinations: [1] };
  assert.throws(() => edgesOf({ ...good, destinations: [3] }, 3), {
    code: ErrorClass.RANK,
    message: "Cannot make the graph: an edge names rank 3 and the communicator has ranks 0 to 2",
  });
  for (const wrong of [
    { ...good, degrees: [2] },
    { ...good, degrees: [-1] },
    { ...good, degrees: [] },
    { ...good, weights: [-1] },
    { ...good, weights: [] },
  ]) {
    assert.throws(() => edgesOf(wrong, 3), { code: ErrorClass.ARG });
  }
  assert.throws(() => new DistGraphTopology({ sources: [0], destinations: [0], sourceWeights: [1] }, 1), {
    code: ErrorClass.ARG,
  });
  assert.throws(() => new DistGraphTopology({ sources: [-1], destinations: [] }, 1), { code: ErrorClass.RANK });
});
