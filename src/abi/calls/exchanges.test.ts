import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { ERRORS_RETURN, INT, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const REQUEST_NULL = 0x180;
const PROC_NULL = -3;

describe("M4 §3.7.8 MPI_Isendrecv", () => {
  it("around a ring: one request, whose status is that of the received message", () => {
    const ranks = new TestRanks(3);
    const calls = ranks.all((c, rank) => {
      const [into, request, status] = [c.alloc(8), c.alloc(4), c.alloc(32)];
      const [right, left] = [(rank + 1) % 3, (rank + 2) % 3];
      const sent = [c.ints(rank, 10 * rank), 2, INT, right, 7] as const;
      equal(c.call("MPI_Isendrecv", ...sent, into, 2, INT, left, 7, WORLD, request), 0);
      return { into, request, status };
    });
    ranks.all((c, rank) => equal(c.call("MPI_Wait", calls[rank]!.request, calls[rank]!.status), 0));
    ranks.all((c, rank) => {
      const { into, request, status } = calls[rank]!;
      const left = (rank + 2) % 3;
      deepEqual(c.list(into, 2), [left, 10 * left]);
      deepEqual(c.list(status, 2), [left, 7]);
      equal(c.get("MPI_Get_count", status, INT), 2);
      equal(c.int(request), REQUEST_NULL);
    });
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("replace: of a datatype with holes, freed before it is complete, MPI_PROC_NULL at the ends", () => {
    const ranks = new TestRanks(2);
    const calls = ranks.all((c, rank) => {
      const type = c.get("MPI_Type_vector", 2, 1, 2, INT);
      c.call("MPI_Type_commit", c.ints(type));
      const [buffer, request] = [c.ints(rank, -1, 10 * rank), c.alloc(4)];
      // Rank 0 sends to the right and receives nothing, rank 1 receives and sends nothing.
      const [dest, source] = rank === 0 ? [1, PROC_NULL] : [PROC_NULL, 0];
      equal(c.call("MPI_Isendrecv_replace", buffer, 1, type, dest, 3, source, 3, WORLD, request), 0);
      if (rank === 0) equal(c.call("MPI_Request_free", request), 0);
      return { buffer, request };
    });
    ranks.all((c, rank) => equal(c.call("MPI_Wait", calls[rank]!.request, 0), 0));
    deepEqual(
      ranks.all((c, rank) => c.list(calls[rank]!.buffer, 3)),
      [
        [0, -1, 0],
        [0, -1, 0],
      ],
    );
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("starts nothing when half of it is wrong, and tells that a message was too long", () => {
    const [c] = new TestRanks(1).programs;
    c!.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
    const [from, into, request] = [c!.ints(1, 2), c!.alloc(8), c!.ints(REQUEST_NULL)];
    equal(c!.call("MPI_Isendrecv", from, 2, INT, 9, 0, into, 2, INT, 0, 0, SELF, request), ErrorClass.RANK);
    equal(c!.call("MPI_Isendrecv", from, 2, INT, 0, 0, into, -1, INT, 0, 0, SELF, request), ErrorClass.COUNT);
    equal(c!.int(request), REQUEST_NULL);
    equal(c!.call("MPI_Isendrecv", from, 2, INT, 0, 0, into, 1, INT, 0, 0, SELF, request), 0);
    equal(c!.call("MPI_Cancel", request), ErrorClass.REQUEST);
    equal(c!.call("MPI_Wait", request, 0), ErrorClass.TRUNCATE);
    equal(c!.end(), 0);
  });
});
