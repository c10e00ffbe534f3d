import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { errorsReturn } from "../../core/comm/error-handler.ts";
import { predefinedOps } from "../../core/comm/op/op-predefined.ts";
import type { Call } from "../call-table.ts";
import { importNames, type TestProgram, testProgram, testPrograms } from "../testing/program.ts";
import { largeCountCalls } from "./large-count.ts";

const { INT } = predefinedTypes;
const { SUM } = predefinedOps;
const [world, self] = [0x101, 0x102];

describe("_c forms of messages", () => {
  const c = testProgram();

  it("go and come as those of the plain forms", () => {
    const [status, to] = [c.alloc(32), c.alloc(12)];
    c.call("MPI_Send_c", c.ints(4, 5, 6), 3n, INT.handle, 0, 1, self);
    c.call("MPI_Recv_c", to, 3n, INT.handle, 0, 1, self, status);
    deepEqual(c.list(to, 3), [4, 5, 6]);
    const request = c.alloc(4);
    c.call("MPI_Isend_c", c.ints(7), 1n, INT.handle, 0, 2, self, request);
    c.call("MPI_Sendrecv_c", c.ints(8), 1n, INT.handle, 0, 3, to, 1n, INT.handle, 0, 2, self, status);
    c.call("MPI_Recv_c", to + 4, 1n, INT.handle, 0, 3, self, 0);
    c.call("MPI_Wait", request, 0);
    deepEqual(c.list(to, 3), [7, 8, 6]);
  });

  it("refuse a count that is no int, in the name of the communicator", () => {
    const send = () => c.call("MPI_Send_c", 64, 2n ** 31n, INT.handle, 0, 1, self);
    throws(send, {
      code: ErrorClass.COUNT,
      message: /^Cannot use a count of 2147483648: a message has at most 2147483647 elements; send it in pieces/,
    });
    const other = testProgram();
    other.program.world.errorHandler = errorsReturn;
    equal(other.call("MPI_Bcast_c", 64, 2n ** 40n, INT.handle, 0, world), ErrorClass.COUNT);
    // What fits but is negative is the plain form's to refuse.
    throws(() => c.call("MPI_Send_c", 64, -1n, INT.handle, 0, 1, self), { code: ErrorClass.COUNT });
  });

  it("a detached buffer's size has all its bytes", () => {
    c.call("MPI_Buffer_attach_c", 2048, 4096n);
    const [address, size] = [c.alloc(4), c.longs(-1)];
    c.call("MPI_Buffer_detach_c", address, size);
    deepEqual([c.int(address), c.long(size)], [2048, 4096]);
    throws(() => c.call("MPI_Buffer_attach_c", 2048, 2n ** 33n), { code: ErrorClass.BUFFER });
  });
});

describe("_c forms of collectives", () => {
  /** The `_c` form of a plain one that only looks at its arguments. */
  function formOf(c: TestProgram, name: string, look: (args: number[]) => void): Call {
    const plain = (...args: number[]): number => {
      look(args);
      return 0;
    };
    return largeCountCalls(c.program, { [name]: plain })[`${name}_c`]!;
  }

  it("arrays of counts become ints, displacements stay", () => {
    const [c] = testPrograms(3) as [TestProgram];
    const [counts, displacements] = [c.longs(1, 2, 3), c.ints(9, 8, 7)];
    const seen: number[][] = [];
    const look = (args: number[]) => seen.push(c.list(args[4]!, 3), [args[1]!, args[5]!]);
    formOf(c, "MPI_Allgatherv", look)(64, 4n, INT.handle, 128, counts, displacements, INT.handle, world);
    deepEqual(seen, [
      [1, 2, 3],
      [4, displacements],
    ]);
    const both = (args: number[]) => seen.push(c.list(args[1]!, 3), c.list(args[5]!, 3));
    const others = c.longs(4, 5, 6);
    formOf(c, "MPI_Ialltoallw", both)(64, counts, 0, 0, 128, others, 0, 0, world, 0);
    deepEqual(seen.slice(2), [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    equal(c.end(), 0);
  });

  it("arrays that mean nothing here are not read", () => {
    const [first, second] = testPrograms(2) as [TestProgram, TestProgram];
    const rubbish = (c: TestProgram) => c.longs(2n ** 50n, 2n ** 50n);
    let calls = 0;
    const count = () => calls++;
    formOf(second, "MPI_Gatherv", count)(64, 1n, INT.handle, 0, rubbish(second), 0, INT.handle, 0, world);
    formOf(second, "MPI_Scatterv", count)(0, rubbish(second), 0, INT.handle, 64, 1n, INT.handle, 0, world);
    const sends = [1, rubbish(first), 0, INT.handle] as const;
    formOf(first, "MPI_Alltoallv", count)(...sends, 64, first.longs(1, 1), 0, INT.handle, world);
    equal(calls, 3);
    const gather = formOf(first, "MPI_Gatherv", count);
    throws(() => gather(64, 1n, INT.handle, 0, rubbish(first), 0, INT.handle, 0, world), { code: ErrorClass.COUNT });
    equal(calls, 3);
    equal(first.end() + second.end(), 0);
  });

  it("run, in all three forms", () => {
    const c = testProgram();
    const into = c.alloc(12);
    c.call("MPI_Allreduce_c", c.ints(5), into, 1n, INT.handle, SUM.handle, world);
    c.call("MPI_Gatherv_c", c.ints(6), 1n, INT.handle, into, c.longs(1), c.ints(1), INT.handle, 0, world);
    const request = c.alloc(4);
    c.call("MPI_Ireduce_scatter_c", c.ints(7), into + 8, c.longs(1), INT.handle, SUM.handle, world, request);
    c.call("MPI_Wait", request, 0);
    deepEqual(c.list(into, 3), [5, 6, 7]);
  });

  it("persistent ones have read their counts when they are made", () => {
    const c = testProgram();
    const [from, into, counts, request] = [c.ints(1), c.alloc(8), c.longs(1), c.alloc(4)];
    const args = [from, 1n, INT.handle, into, counts, c.ints(1), INT.handle, world, 0, request];
    c.call("MPI_Allgatherv_init_c", ...args);
    c.program.longs[counts >> 3] = 99n;
    for (const value of [3, 4]) {
      c.program.putList(from, [value]);
      c.call("MPI_Start", request);
      c.call("MPI_Wait", request, 0);
      equal(c.int(into + 4), value);
    }
    c.call("MPI_Request_free", request);
    equal(c.end(), 0);
  });
});

describe("names", () => {
  it("are functions that C programs import, and none of point-to-point and collectives is missing", () => {
    const c = testProgram();
    const plain: Record<string, Call> = Object.fromEntries(importNames.map((name) => [name, () => 0]));
    const names = Object.keys(largeCountCalls(c.program, plain));
    for (const name of names) ok(importNames.includes(name), name);
    // Datatypes, packing and operations have files of their own; windows and files are other chapters.
    const elsewhere = /^MPI_(Type|Pack|Unpack|Get|Status|Op|Win|Put|Accumulate|Rput|Rget|Raccumulate|File|Register)_/;
    const missing = importNames.filter((name) => name.endsWith("_c") && !names.includes(name) && !elsewhere.test(name));
    deepEqual(missing, []);
  });
});
