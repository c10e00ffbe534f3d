import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { CART, DIST_GRAPH, GRAPH, PROC_NULL, UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { COMM_NULL, ERRORS_RETURN, INFO_NULL, TestRanks, WORLD } from "../testing/ranks.ts";

const UNWEIGHTED = 10;
const WEIGHTS_EMPTY = 11;

/** 2 × 3, the second dimension a ring; rank 6 is left out. */
function gridOf(ranks: TestRanks): number[] {
  return ranks.get("MPI_Cart_create", (c) => [WORLD, 2, c.ints(2, 3), c.ints(0, 1), 1]);
}

describe("grids", () => {
  it("create leaves out who is beyond; coordinates, ranks, shifts", () => {
    const ranks = new TestRanks(7, { nodes: 2 });
    const grid = gridOf(ranks);
    equal(grid[6], COMM_NULL);
    ranks.all((c, rank) => {
      const comm = grid[rank]!;
      if (comm === COMM_NULL) return;
      equal(c.get("MPI_Topo_test", comm), CART);
      equal(c.get("MPI_Topo_test", WORLD), UNDEFINED);
      equal(c.get("MPI_Cartdim_get", comm), 2);
      const [dims, periods, coords] = [c.alloc(8), c.alloc(8), c.alloc(8)];
      equal(c.call("MPI_Cart_get", comm, 2, dims, periods, coords), 0);
      const place = [Math.floor(rank / 3), rank % 3];
      deepEqual([c.list(dims, 2), c.list(periods, 2), c.list(coords, 2)], [[2, 3], [0, 1], place]);
      equal(c.get("MPI_Cart_rank", comm, c.ints(place[0]!, place[1]! + 3)), rank);
      // Room for one of two.
      const few = c.ints(-1, -1);
      c.call("MPI_Cart_coords", comm, rank, 1, few);
      deepEqual(c.list(few, 2), [place[0], -1]);
      const [source, dest] = [c.alloc(4), c.alloc(4)];
      c.call("MPI_Cart_shift", comm, 0, 1, source, dest);
      deepEqual([c.int(source), c.int(dest)], rank < 3 ? [PROC_NULL, rank + 3] : [rank - 3, PROC_NULL]);
      c.call("MPI_Cart_shift", comm, 1, -1, source, dest);
      deepEqual(
        [c.int(source), c.int(dest)],
        [rank - (rank % 3) + ((rank + 1) % 3), rank - (rank % 3) + ((rank + 2) % 3)],
      );
    });
    equal(
      ranks.programs[6]!.get("MPI_Cart_map", WORLD, 2, ranks.programs[6]!.ints(2, 3), ranks.programs[6]!.ints(0, 0)),
      UNDEFINED,
    );
  });

  it("sub: slices keep their part of the grid; a duplicate has the grid too", () => {
    const ranks = new TestRanks(6);
    const grid = gridOf(ranks);
    const columns = ranks.get("MPI_Cart_sub", (c, rank) => [grid[rank]!, c.ints(1, 0)]);
    const points = ranks.get("MPI_Cart_sub", (c, rank) => [grid[rank]!, c.ints(0, 0)]);
    const copies = ranks.get("MPI_Comm_dup", (_, rank) => [grid[rank]!]);
    ranks.all((c, rank) => {
      equal(c.get("MPI_Comm_size", columns[rank]!), 2);
      equal(c.get("MPI_Comm_rank", columns[rank]!), Math.floor(rank / 3));
      equal(c.get("MPI_Cartdim_get", columns[rank]!), 1);
      deepEqual([c.get("MPI_Comm_size", points[rank]!), c.get("MPI_Cartdim_get", points[rank]!)], [1, 0]);
      equal(c.get("MPI_Cart_rank", points[rank]!, 0), 0);
      equal(c.get("MPI_Topo_test", copies[rank]!), CART);
    });
  });

  it("dims_create and errors", () => {
    const [c] = new TestRanks(1).programs;
    c!.call("MPI_Comm_set_errhandler", 0x102, ERRORS_RETURN);
    c!.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const dims = c!.ints(0, 3, 0);
    equal(c!.call("MPI_Dims_create", 24, 3, dims), 0);
    deepEqual(c!.list(dims, 3), [4, 3, 2]);
    equal(c!.call("MPI_Dims_create", 7, 3, c!.ints(0, 3, 0)), ErrorClass.DIMS);
    equal(c!.call("MPI_Dims_create", 7, -1, 0), ErrorClass.DIMS);
    const create = (count: number, ...lengths: number[]) => {
      const out = c!.alloc(4);
      const code = c!.call("MPI_Cart_create", WORLD, count, c!.ints(...lengths), c!.ints(...lengths), 0, out);
      equal(c!.int(out), COMM_NULL);
      return code;
    };
    equal(create(1, 2), ErrorClass.ARG);
    equal(create(1, 0), ErrorClass.DIMS);
    equal(create(-1), ErrorClass.DIMS);
    equal(c!.call("MPI_Cart_rank", WORLD, 0, c!.alloc(4)), ErrorClass.TOPOLOGY);
    equal(c!.call("MPI_Graphdims_get", WORLD, c!.alloc(4), c!.alloc(4)), ErrorClass.TOPOLOGY);
    equal(c!.call("MPI_Neighbor_allgather", 0, 0, 0x209, 0, 0, 0x209, WORLD), ErrorClass.TOPOLOGY);
  });
});

describe("graphs", () => {
  it("known as a whole: the example of the standard", () => {
    const ranks = new TestRanks(5);
    const graph = ranks.get("MPI_Graph_create", (c) => [WORLD, 4, c.ints(2, 3, 4, 6), c.ints(1, 3, 0, 3, 0, 2), 0]);
    equal(graph[4], COMM_NULL);
    ranks.all((c, rank) => {
      if (rank === 4) return;
      equal(c.get("MPI_Topo_test", graph[rank]!), GRAPH);
      const [nodes, edges] = [c.alloc(4), c.alloc(4)];
      c.call("MPI_Graphdims_get", graph[rank]!, nodes, edges);
      deepEqual([c.int(nodes), c.int(edges)], [4, 6]);
      const [index, list] = [c.alloc(16), c.alloc(24)];
      c.call("MPI_Graph_get", graph[rank]!, 4, 6, index, list);
      deepEqual(
        [c.list(index, 4), c.list(list, 6)],
        [
          [2, 3, 4, 6],
          [1, 3, 0, 3, 0, 2],
        ],
      );
      equal(c.get("MPI_Graph_neighbors_count", graph[rank]!, 3), 2);
      const neighbours = c.alloc(8);
      c.call("MPI_Graph_neighbors", graph[rank]!, 3, 2, neighbours);
      deepEqual(c.list(neighbours, 2), [0, 2]);
    });
    deepEqual(
      ranks.get("MPI_Graph_create", () => [WORLD, 0, 0, 0, 0]),
      new Array(5).fill(COMM_NULL),
    );
  });

  it("each knows its own: adjacent, weighted or not", () => {
    const ranks = new TestRanks(3);
    const ring = ranks.get("MPI_Dist_graph_create_adjacent", (c, rank) => {
      const [before, behind] = [(rank + 2) % 3, (rank + 1) % 3];
      return [WORLD, 1, c.ints(before), c.ints(before), 1, c.ints(behind), c.ints(rank), INFO_NULL, 0];
    });
    const plain = ranks.get("MPI_Dist_graph_create_adjacent", () => [
      ...[WORLD, 0, 0, UNWEIGHTED, 0, 0, UNWEIGHTED, INFO_NULL, 0],
    ]);
    const empty = ranks.get("MPI_Dist_graph_create_adjacent", () => [
      ...[WORLD, 0, 0, WEIGHTS_EMPTY, 0, 0, WEIGHTS_EMPTY, INFO_NULL, 0],
    ]);
    ranks.all((c, rank) => {
      equal(c.get("MPI_Topo_test", ring[rank]!), DIST_GRAPH);
      const counts = (comm: number) => {
        const at = c.alloc(12);
        c.call("MPI_Dist_graph_neighbors_count", comm, at, at + 4, at + 8);
        return c.list(at, 3);
      };
      deepEqual(
        [counts(ring[rank]!), counts(plain[rank]!), counts(empty[rank]!)],
        [
          [1, 1, 1],
          [0, 0, 0],
          [0, 0, 1],
        ],
      );
      const at = c.alloc(16);
      c.call("MPI_Dist_graph_neighbors", ring[rank]!, 1, at, at + 4, 1, at + 8, at + 12);
      deepEqual(c.list(at, 4), [(rank + 2) % 3, (rank + 2) % 3, (rank + 1) % 3, rank]);
      equal(c.call("MPI_Dist_graph_neighbors", ring[rank]!, 1, at, UNWEIGHTED, 1, at + 8, UNWEIGHTED), 0);
    });
  });

  it("any rank brings any edges: all by rank 0, or each its own", () => {
    for (const nodes of [1, 2]) {
      const ranks = new TestRanks(4, { nodes, seed: nodes });
      const [destinations, degrees, starts] = [
        [1, 3, 0, 3, 0, 2],
        [2, 1, 1, 2],
        [0, 2, 3, 4],
      ];
      const byFirst = ranks.get("MPI_Dist_graph_create", (c, rank) => {
        const lists = [c.ints(0, 1, 2, 3), c.ints(...degrees), c.ints(...destinations), c.ints(9, 8, 7, 6, 5, 4)];
        return rank === 0 ? [WORLD, 4, ...lists, INFO_NULL, 0] : [WORLD, 0, 0, 0, 0, WEIGHTS_EMPTY, INFO_NULL, 0];
      });
      const byEach = ranks.get("MPI_Dist_graph_create", (c, rank) => {
        const own = destinations.slice(starts[rank], starts[rank]! + degrees[rank]!);
        return [WORLD, 1, c.ints(rank), c.ints(own.length), c.ints(...own), UNWEIGHTED, INFO_NULL, 1];
      });
      const lists = (comms: readonly number[]) =>
        ranks.all((c, rank) => {
          const [sources, weights, dests] = [c.alloc(16), c.ints(0, 0, 0, 0), c.alloc(16)];
          c.call("MPI_Dist_graph_neighbors", comms[rank]!, 4, sources, weights, 4, dests, UNWEIGHTED);
          const at = c.alloc(12);
          c.call("MPI_Dist_graph_neighbors_count", comms[rank]!, at, at + 4, at + 8);
          return [c.list(sources, c.int(at)), c.list(weights, c.int(at)), c.list(dests, c.int(at + 4))];
        });
      deepEqual(lists(byFirst), [
        [
          [1, 3],
          [7, 5],
          [1, 3],
        ],
        [[0], [9], [0]],
        [[3], [4], [3]],
        [
          [0, 2],
          [8, 6],
          [0, 2],
        ],
      ]);
      deepEqual(lists(byEach)[3], [
        [0, 2],
        [0, 0],
        [0, 2],
      ]);
      equal(Math.max(...ranks.all((c) => c.end())), 0);
    }
  });

  it("refuses edges to ranks that are none, degrees and weights below 0", () => {
    const [c] = new TestRanks(1).programs;
    c!.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const create = (degree: number, to: number, weight: number) =>
      c!.call(
        "MPI_Dist_graph_create",
        WORLD,
        1,
        c!.ints(0),
        c!.ints(degree),
        c!.ints(to),
        c!.ints(weight),
        INFO_NULL,
        0,
        c!.alloc(4),
      );
    equal(create(1, 1, 1), ErrorClass.RANK);
    equal(create(-1, 0, 1), ErrorClass.ARG);
    equal(create(1, 0, -1), ErrorClass.ARG);
    equal(c!.call("MPI_Graph_create", WORLD, 1, c!.ints(1), c!.ints(1), 0, c!.alloc(4)), ErrorClass.TOPOLOGY);
  });
});
