/** Buffered mode: MPI 5.0 §3.4 and §3.6. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const overheadBytes = 512;
const AUTOMATIC = 2;
const REQUEST_NULL = 0x180;

const attach = (c: TestProgram, bytes: number): number => {
  c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
  return c.call("MPI_Buffer_attach", c.alloc(bytes + overheadBytes), bytes + overheadBytes);
};

describe("M2 §3.6 the space of a buffered send", () => {
  for (const bytes of [0, 8, 8192, 100_000]) {
    it(`of ${bytes} bytes to oneself is free again when the message has been received`, () => {
      const [c] = new TestRanks(1).programs as [TestProgram];
      attach(c, bytes);
      const count = bytes / 4;
      const [from, to] = [c.alloc(bytes), c.alloc(bytes)];
      for (let round = 0; round < 3; round++) {
        equal(c.call("MPI_Bsend", from, count, INT, 0, 7, WORLD), 0);
        // A short message takes no space: it is with its receiver already.
        if (bytes === 100_000) equal(c.call("MPI_Bsend", from, count, INT, 0, 7, WORLD), ErrorClass.BUFFER);
        equal(c.call("MPI_Recv", to, count, INT, 0, 7, WORLD, 0), 0);
      }
    });

    it(`of ${bytes} bytes to another is free again when that one has answered`, () => {
      const ranks = new TestRanks(2, { nodes: 2 });
      const count = bytes / 4;
      ranks.all((c, rank) => {
        if (rank === 0) attach(c, bytes);
      });
      for (let round = 0; round < 3; round++) {
        const codes = ranks.all((c, rank) => {
          const data = c.alloc(bytes);
          if (rank === 0) return c.call("MPI_Bsend", data, count, INT, 1, 7, WORLD);
          return c.call("MPI_Recv", data, count, INT, 0, 7, WORLD, 0);
        });
        ranks.all((c, rank) => {
          const word = c.alloc(4);
          if (rank === 1) c.call("MPI_Send", word, 1, INT, 0, 8, WORLD);
          else c.call("MPI_Recv", word, 1, INT, 1, 8, WORLD, 0);
        });
        deepEqual(codes, [0, 0]);
      }
    });
  }

  it("has no bound with MPI_BUFFER_AUTOMATIC, which comes back from detaching it", () => {
    const [c] = new TestRanks(1).programs as [TestProgram];
    equal(c.call("MPI_Buffer_attach", AUTOMATIC, 0), 0);
    const data = c.alloc(4);
    for (let i = 0; i < 10; i++) equal(c.call("MPI_Bsend", data, 1, INT, 0, i, WORLD), 0);
    for (let i = 0; i < 10; i++) equal(c.call("MPI_Recv", data, 1, INT, 0, i, WORLD, 0), 0);
    const [address, size] = [c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Buffer_detach", address, size), 0);
    equal(c.int(address), AUTOMATIC);
  });
});

describe("M2 §3.6 MPI_Buffer_flush and MPI_Buffer_iflush", () => {
  it("are over when the messages have been received that were there, not those that come later", () => {
    const [c] = new TestRanks(1).programs as [TestProgram];
    attach(c, 4 * (8 + overheadBytes));
    const data = c.alloc(8);
    const flag = c.alloc(4);
    const isFlushed = (request: number): boolean => {
      equal(c.call("MPI_Test", request, flag, 0), 0);
      return c.int(flag) === 1;
    };
    equal(c.call("MPI_Buffer_flush"), 0);
    c.call("MPI_Bsend", data, 2, INT, 0, 1, WORLD);
    const request = c.alloc(4);
    equal(c.call("MPI_Buffer_iflush", request), 0);
    c.call("MPI_Bsend", data, 2, INT, 0, 2, WORLD);
    const later = c.alloc(4);
    equal(c.call("MPI_Buffer_iflush", later), 0);
    c.call("MPI_Recv", data, 2, INT, 0, 1, WORLD, 0);
    equal(isFlushed(request), true);
    equal(c.int(request), REQUEST_NULL);
    c.call("MPI_Recv", data, 2, INT, 0, 2, WORLD, 0);
    equal(isFlushed(later), true);
    equal(c.call("MPI_Buffer_flush"), 0);
  });

  it("wait for a message that is too long to leave before it is received", () => {
    const bytes = 1_000_000;
    const ranks = new TestRanks(2, { nodes: 2 });
    const done = ranks.all((c, rank) => {
      const data = c.alloc(bytes);
      if (rank === 1) return c.call("MPI_Recv", data, bytes / 4, INT, 0, 7, WORLD, 0);
      attach(c, bytes);
      c.call("MPI_Bsend", data, bytes / 4, INT, 1, 7, WORLD);
      return c.call("MPI_Buffer_flush");
    });
    deepEqual(done, [0, 0]);
  });
});
