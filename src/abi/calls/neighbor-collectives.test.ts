import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const BYTE = 0x247;
const REQUEST_NULL = 0x180;

/** A row of ranks that ends at both sides: each has a neighbour before, MPI_PROC_NULL for the first, and one behind. */
function rowOf(ranks: TestRanks, periodic = 0): number[] {
  return ranks.get("MPI_Cart_create", (c) => [WORLD, 1, c.ints(ranks.programs.length), c.ints(periodic), 0]);
}

/** Runs one collective in its three forms, twice each; what every rank got each time. */
function inAllForms(
  ranks: TestRanks,
  name: string,
  args: (c: TestProgram, rank: number) => { readonly args: readonly number[]; readonly into: number },
  words: number,
): number[][][] {
  const results: number[][][] = [];
  const calls = ranks.all(args);
  const take = () => results.push(ranks.all((c, rank) => c.list(calls[rank]!.into, words)));
  const clear = () =>
    ranks.all((c, rank) => c.program.ints.fill(-1, calls[rank]!.into >> 2, (calls[rank]!.into >> 2) + words));
  clear();
  ranks.all((c, rank) => equal(c.call(`MPI_Neighbor_${name}`, ...calls[rank]!.args), 0));
  take();
  clear();
  const requests = ranks.all((c) => c.alloc(4));
  ranks.all((c, rank) => equal(c.call(`MPI_Ineighbor_${name}`, ...calls[rank]!.args, requests[rank]!), 0));
  ranks.all((c, rank) => equal(c.call("MPI_Wait", requests[rank]!, 0), 0));
  take();
  ranks.all((c, rank) => c.call(`MPI_Neighbor_${name}_init`, ...calls[rank]!.args, INFO_NULL, requests[rank]!));
  for (let i = 0; i < 2; i++) {
    clear();
    ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
    ranks.all((c, rank) => equal(c.call("MPI_Wait", requests[rank]!, 0), 0));
    take();
  }
  ranks.all((c, rank) => {
    equal(c.call("MPI_Request_free", requests[rank]!), 0);
    equal(c.int(requests[rank]!), REQUEST_NULL);
  });
  return results;
}

describe("neighbourhood collectives", () => {
  it("allgather: what MPI_PROC_NULL would send stays as it was", () => {
    const ranks = new TestRanks(3);
    const row = rowOf(ranks);
    const results = inAllForms(
      ranks,
      "allgather",
      (c, rank) => {
        const into = c.alloc(16);
        return { args: [c.ints(rank, 10 * rank), 2, INT, into, 2, INT, row[rank]!], into };
      },
      4,
    );
    for (const result of results)
      deepEqual(result, [
        [-1, -1, 1, 10],
        [0, 0, 2, 20],
        [1, 10, -1, -1],
      ]);
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("allgatherv and alltoallv: parts of their own length and place", () => {
    const ranks = new TestRanks(3, { nodes: 3 });
    const row = rowOf(ranks, 1);
    const [before, behind] = [(rank: number) => (rank + 2) % 3, (rank: number) => (rank + 1) % 3];
    const gathered = inAllForms(
      ranks,
      "allgatherv",
      (c, rank) => {
        const into = c.alloc(20);
        const counts = c.ints(before(rank) + 1, behind(rank) + 1);
        return { args: [c.ints(rank, rank, rank), rank + 1, INT, into, counts, c.ints(3, 0), INT, row[rank]!], into };
      },
      5,
    );
    for (const result of gathered)
      deepEqual(result, [
        [1, 1, -1, 2, 2],
        [2, 2, 2, 0, -1],
        [0, -1, -1, 1, 1],
      ]);
    const exchanged = inAllForms(
      ranks,
      "alltoallv",
      (c, rank) => {
        const into = c.alloc(12);
        // One word to the one before, two to the one behind.
        const args = [c.ints(rank, 10 + rank, 20 + rank), c.ints(1, 2), c.ints(0, 1), INT];
        return { args: [...args, into, c.ints(2, 1), c.ints(1, 0), INT, row[rank]!], into };
      },
      3,
    );
    for (const result of exchanged)
      deepEqual(result, [
        [1, 12, 22],
        [2, 10, 20],
        [0, 11, 21],
      ]);
  });

  it("alltoall of a ring of two: what leaves to the left arrives from the right", () => {
    const ranks = new TestRanks(2);
    const row = rowOf(ranks, 1);
    const results = inAllForms(
      ranks,
      "alltoall",
      (c, rank) => {
        const into = c.alloc(8);
        return { args: [c.ints(10 * rank + 1, 10 * rank + 2), 1, INT, into, 1, INT, row[rank]!], into };
      },
      2,
    );
    for (const result of results)
      deepEqual(result, [
        [12, 11],
        [2, 1],
      ]);
  });

  it("alltoallw: a type of its own for every neighbour", () => {
    const ranks = new TestRanks(2);
    const row = rowOf(ranks);
    const pairs = ranks.all((c) => {
      const out = c.alloc(4);
      c.call("MPI_Type_vector", 2, 1, 2, INT, out);
      c.call("MPI_Type_commit", out);
      return c.int(out);
    });
    const results = inAllForms(
      ranks,
      "alltoallw",
      (c, rank) => {
        const into = c.alloc(24);
        // Rank 0 sends two words as bytes, rank 1 every second of its words.
        const types = [pairs[rank]!, BYTE];
        const sent = [c.ints(rank, 5, rank + 1, 6), c.ints(...(rank === 0 ? [0, 8] : [1, 0])), c.ints(0, 0)];
        const counts = c.ints(...(rank === 0 ? [0, 1] : [8, 0]));
        const received = [into, counts, c.ints(4, 4), c.ints(...types.toReversed())];
        return { args: [...sent, c.ints(...types), ...received, row[rank]!], into };
      },
      6,
    );
    for (const result of results)
      deepEqual(result, [
        [-1, 1, -1, 2, -1, -1],
        [-1, 0, 5, -1, -1, -1],
      ]);
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("a graph without edges has nothing to wait for; MPI_IN_PLACE is refused", () => {
    const ranks = new TestRanks(2);
    const graphs = ranks.get("MPI_Dist_graph_create", () => [WORLD, 0, 0, 0, 0, 10, INFO_NULL, 0]);
    ranks.all((c, rank) => {
      c.call("MPI_Comm_set_errhandler", graphs[rank]!, ERRORS_RETURN);
      equal(c.call("MPI_Neighbor_allgather", c.ints(1), 1, INT, 0, 1, INT, graphs[rank]!), 0);
      equal(c.call("MPI_Neighbor_alltoall", 0, 1, INT, 0, 1, INT, graphs[rank]!), 0);
      equal(c.call("MPI_Neighbor_alltoallv", 0, 0, 0, INT, 0, 0, 0, INT, graphs[rank]!), 0);
      equal(c.call("MPI_Neighbor_alltoall", 1, 1, INT, 0, 1, INT, graphs[rank]!), ErrorClass.BUFFER);
    });
  });
});
