import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import type { TestProgram } from "../testing/program.ts";
import { INFO_NULL, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const SUM = 0x21;
const DATATYPE_NULL = 0x200;

/** Two ints with a hole between them. */
function spreadType(c: TestProgram): number {
  const type = c.get("MPI_Type_vector", 2, 1, 2, INT);
  c.call("MPI_Type_commit", c.ints(type));
  return type;
}

function start(ranks: TestRanks, requests: readonly number[]): void {
  ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
  ranks.all((c, rank) => equal(c.call("MPI_Wait", requests[rank]!, 0), 0));
}

/** A sum of two ints with a hole between, which also notes the sizes of the datatypes that it is called with. */
function addingOperation(c: TestProgram, sizes: number[]): number {
  const add = c.function((left, right, length, type) => {
    sizes.push(c.get("MPI_Type_size", c.int(type!)));
    for (let i = 0; i < c.int(length!); i++) {
      for (const at of [12 * i, 12 * i + 8]) c.program.ints[(right! + at) >> 2]! += c.int(left! + at);
    }
    return 0;
  });
  return c.get("MPI_Op_create", add, 1);
}

describe("M4 §6.12 persistent collectives", () => {
  it("keep what the handles and arrays of the init call meant", () => {
    const ranks = new TestRanks(3);
    const calls = ranks.all((c, rank) => {
      const [from, into, request] = [c.ints(rank, -1, 10 * rank), c.alloc(3 * 8), c.alloc(4)];
      const [type, counts, offsets] = [spreadType(c), c.ints(2, 2, 2), c.ints(0, 2, 4)];
      c.call("MPI_Allgatherv_init", from, 1, type, into, counts, offsets, INT, WORLD, INFO_NULL, request);
      // The program frees the type; its handle means another one soon. Arrays are its own again.
      c.call("MPI_Type_free", c.ints(type));
      c.get("MPI_Type_contiguous", 100, INT);
      c.program.putList(counts, [99, 99, 99]);
      c.program.putList(offsets, [99, 99, 99]);
      return { from, into, request };
    });
    for (const more of [0, 100]) {
      ranks.all((c, rank) => c.program.putList(calls[rank]!.from, [rank + more, -1, 10 * rank]));
      start(
        ranks,
        calls.map(({ request }) => request),
      );
      deepEqual(
        ranks.all((c, rank) => c.list(calls[rank]!.into, 6)),
        new Array(3).fill([more, 0, more + 1, 10, more + 2, 20]),
      );
    }
  });

  it("whose operation and datatype are freed: the operation gets a handle that means the type", () => {
    const ranks = new TestRanks(2);
    const sizes: number[] = [];
    const calls = ranks.all((c, rank) => {
      const [from, into, request] = [c.ints(rank + 1, -1, 5), c.alloc(12), c.alloc(4)];
      const [type, op] = [spreadType(c), addingOperation(c, sizes)];
      c.call("MPI_Allreduce_init", from, into, 1, type, op, WORLD, INFO_NULL, request);
      const at = c.ints(type);
      c.call("MPI_Type_free", at);
      equal(c.int(at), DATATYPE_NULL);
      c.get("MPI_Type_contiguous", 100, INT);
      c.call("MPI_Op_free", c.ints(op));
      return { into, request, types: c.program.types.list().length };
    });
    for (let i = 0; i < 2; i++) {
      start(
        ranks,
        calls.map(({ request }) => request),
      );
      deepEqual(
        ranks.all((c, rank) => [c.int(calls[rank]!.into), c.int(calls[rank]!.into + 8)]),
        [
          [3, 10],
          [3, 10],
        ],
      );
    }
    equal(sizes.length > 0, true);
    deepEqual(new Set(sizes), new Set([8]));
    ranks.all((c, rank) => equal(c.program.types.list().length, calls[rank]!.types, "the handle is gone again"));
  });
});

describe("M4 §5.1.9 a datatype that is freed during a reduction", () => {
  it("has its handle until the end", () => {
    const ranks = new TestRanks(2);
    const sizes: number[] = [];
    const calls = ranks.all((c) => {
      const [into, request] = [c.alloc(12), c.alloc(4)];
      const [type, op] = [spreadType(c), addingOperation(c, sizes)];
      c.call("MPI_Iallreduce", c.ints(1, -1, 2), into, 1, type, op, WORLD, request);
      c.call("MPI_Type_free", c.ints(type));
      equal(c.get("MPI_Type_contiguous", 100, INT) === type, false);
      return { type, into, request };
    });
    ranks.all((c, rank) => equal(c.call("MPI_Wait", calls[rank]!.request, 0), 0));
    deepEqual(new Set(sizes), new Set([8]));
    ranks.all((c, rank) => {
      deepEqual([c.int(calls[rank]!.into), c.int(calls[rank]!.into + 8)], [2, 4]);
      equal(c.program.types.find(calls[rank]!.type), undefined);
    });
  });
});

describe("M4 §6.9 reductions across an inter-communicator", () => {
  it("reduce: only the root gets the result, of the other group", () => {
    const ranks = new TestRanks(4);
    const halves = ranks.get("MPI_Comm_split", (_, rank) => [WORLD, rank % 2, rank]);
    const inter = ranks.get("MPI_Intercomm_create", (_, rank) => [halves[rank]!, 0, WORLD, 1 - (rank % 2), 7]);
    const [ROOT, PROC_NULL] = [-4, -3];
    const results = ranks.all((c, rank) => {
      const into = c.ints(-1);
      const root = rank % 2 === 1 ? 0 : rank === 0 ? ROOT : PROC_NULL;
      equal(c.call("MPI_Reduce", c.ints(rank), into, 1, INT, SUM, root, inter[rank]!), 0);
      return c.int(into);
    });
    deepEqual(results, [4, -1, -1, -1]);
  });
});

describe("M4 §6.11.2 exscan", () => {
  it("reads no result buffer of the first rank, and leaves it as it was", () => {
    const ranks = new TestRanks(3);
    const results = ranks.all((c, rank) => {
      const into = c.ints(-1, -2, -3);
      const [type, op] = [spreadType(c), addingOperation(c, [])];
      const farAway = 2 ** 31 - 64;
      const target = rank === 0 ? farAway : into;
      equal(c.call("MPI_Exscan", c.ints(rank + 1, 0, 10), target, 1, type, op, WORLD), 0);
      return c.list(into, 3);
    });
    deepEqual(results, [
      [-1, -2, -3],
      [1, -2, 10],
      [3, -2, 20],
    ]);
  });

  it("in place: the first rank's elements are sent, and stay", () => {
    const ranks = new TestRanks(3);
    const results = ranks.all((c, rank) => {
      const into = c.ints(rank + 1, -2, 10);
      const [type, op] = [spreadType(c), addingOperation(c, [])];
      equal(c.call("MPI_Exscan", 1, into, 1, type, op, WORLD), 0);
      return c.list(into, 3);
    });
    deepEqual(results, [
      [1, -2, 10],
      [1, -2, 10],
      [3, -2, 20],
    ]);
  });
});
