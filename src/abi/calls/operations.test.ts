import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { errorsReturn } from "../../core/comm/error-handler.ts";
import { predefinedOps } from "../../core/comm/op/op-predefined.ts";
import { type TestProgram, testProgram, testPrograms } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, TestRanks, WORLD } from "../testing/ranks.ts";
import { CALL_BACK } from "../waiting/callbacks.ts";

const { DOUBLE, INT, TWO_INT } = predefinedTypes;
const { MAXLOC, REPLACE, SUM } = predefinedOps;

/** As C would have it: inout[i] = 10 × in[i] + inout[i], which tells left from right. */
function shiftAndAdd({ program }: TestProgram, seen: number[][] = []) {
  return (from: number, inout: number, lengthAt: number, typeAt: number): undefined => {
    const { ints, longs } = program;
    const length = ints[lengthAt >> 2]!;
    seen.push([length, Number(longs[lengthAt >> 3]), ints[typeAt >> 2]!]);
    for (let i = 0; i < length; i++) ints[(inout >> 2) + i] = 10 * ints[(from >> 2) + i]! + ints[(inout >> 2) + i]!;
  };
}

describe("MPI_Op_create", () => {
  const c = testProgram();

  it("an operation of the program's is made, commutes or not, and is freed", () => {
    const op = c.get("MPI_Op_create", c.function(shiftAndAdd(c)), 0);
    equal(c.get("MPI_Op_commutative", op), 0);
    equal(c.get("MPI_Op_commutative", c.get("MPI_Op_create_c", c.function(shiftAndAdd(c)), 1)), 1);
    const at = c.ints(op);
    c.call("MPI_Op_free", at);
    equal(c.int(at), 0x20);
    throws(() => c.get("MPI_Op_commutative", op), { code: ErrorClass.OP });
    throws(() => c.call("MPI_Op_free", at), { code: ErrorClass.OP });
  });

  it("predefined ones are not freed, and null is no function", () => {
    equal(c.get("MPI_Op_commutative", SUM.handle), 1);
    equal(c.get("MPI_Op_commutative", REPLACE.handle), 0);
    throws(() => c.call("MPI_Op_free", c.ints(SUM.handle)), { code: ErrorClass.OP, message: /MPI_SUM/ });
    throws(() => c.get("MPI_Op_create", 0, 1), { code: ErrorClass.ARG });
    throws(() => c.get("MPI_Op_commutative", INT.handle), { code: ErrorClass.OP });
  });
});

describe("MPI_Reduce_local", () => {
  const c = testProgram();

  it("a predefined operation, in both forms", () => {
    const into = c.ints(10, 20, 30);
    equal(c.call("MPI_Reduce_local", c.ints(1, 2, 3), into, 3, INT.handle, SUM.handle), 0);
    deepEqual(c.list(into, 3), [11, 22, 33]);
    c.call("MPI_Reduce_local_c", c.ints(1, 2, 3), into, 2n, INT.handle, SUM.handle);
    deepEqual(c.list(into, 3), [12, 24, 33]);
    const pairs = c.ints(5, 0, 9, 1);
    c.call("MPI_Reduce_local", c.ints(7, 3, 9, 0), pairs, 2, TWO_INT.handle, MAXLOC.handle);
    deepEqual(c.list(pairs, 4), [7, 3, 9, 0]);
  });

  it("one of the program's: C calls it, with length and datatype, on the buffers themselves", () => {
    const program = testProgram();
    const seen: number[][] = [];
    const fn = program.function(shiftAndAdd(program, seen));
    for (const name of ["MPI_Op_create", "MPI_Op_create_c"]) {
      const op = program.get(name, fn, 0);
      const into = program.ints(1, 2);
      equal(program.value("MPI_Reduce_local", program.ints(3, 4), into, 0, INT.handle, op), 0);
      equal(program.call("MPI_Reduce_local", program.ints(3, 4), into, 2, INT.handle, op), 0);
      deepEqual(program.list(into, 2), [31, 42]);
    }
    // The length is right as an int and as an MPI_Count.
    deepEqual(seen, [
      [2, 2, INT.handle],
      [2, 2, INT.handle],
    ]);
    equal(program.end(), 0);
  });

  it("asks for the call instead of calling", () => {
    const op = c.get("MPI_Op_create", c.function(shiftAndAdd(c)), 0);
    equal(c.value("MPI_Reduce_local", c.ints(1), c.ints(2), 1, INT.handle, op), CALL_BACK);
  });

  it("errors", () => {
    const reduce = (count: number, type: number, op: number, from = c.ints(1)) =>
      c.call("MPI_Reduce_local", from, c.ints(2), count, type, op);
    throws(() => reduce(-1, INT.handle, SUM.handle), { code: ErrorClass.COUNT });
    throws(() => reduce(1, INT.handle, 0x20), { code: ErrorClass.OP });
    throws(() => reduce(1, TWO_INT.handle, SUM.handle), { code: ErrorClass.OP });
    throws(() => reduce(1, INT.handle, SUM.handle, 1), { code: ErrorClass.BUFFER });
    const raw = c.get("MPI_Type_contiguous", 2, INT.handle);
    throws(() => reduce(1, raw, SUM.handle), { code: ErrorClass.TYPE });
    throws(() => c.call("MPI_Reduce_local_c", 64, 128, 2n ** 31n, DOUBLE.handle, SUM.handle), {
      code: ErrorClass.COUNT,
    });
  });

  it("codes are returned where the program wants them", () => {
    const program = testProgram();
    program.program.self.errorHandler = errorsReturn;
    equal(program.call("MPI_Reduce_local", 64, 128, 1, INT.handle, 0x20), ErrorClass.OP);
  });
});

describe("M4 §12.3.4 MPI_REPLACE and MPI_NO_OP", () => {
  it("are refused by every reduction", () => {
    const ranks = new TestRanks(2);
    ranks.all((program) => program.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN));
    const from = (program: TestProgram): number => program.ints(1, 2);
    for (const { handle } of [REPLACE, predefinedOps.NO_OP]) {
      const calls: ((program: TestProgram) => number)[] = [
        (c) => c.call("MPI_Reduce", from(c), from(c), 1, INT.handle, handle, 0, WORLD),
        (c) => c.call("MPI_Allreduce", from(c), from(c), 1, INT.handle, handle, WORLD),
        (c) => c.call("MPI_Scan", from(c), from(c), 1, INT.handle, handle, WORLD),
        (c) => c.call("MPI_Exscan", from(c), from(c), 1, INT.handle, handle, WORLD),
        (c) => c.call("MPI_Reduce_scatter_block", from(c), from(c), 1, INT.handle, handle, WORLD),
        (c) => c.call("MPI_Reduce_scatter", from(c), from(c), c.ints(1, 1), INT.handle, handle, WORLD),
        (c) => c.call("MPI_Iallreduce", from(c), from(c), 1, INT.handle, handle, WORLD, c.alloc(4)),
        (c) => c.call("MPI_Allreduce_init", from(c), from(c), 1, INT.handle, handle, WORLD, INFO_NULL, c.alloc(4)),
      ];
      for (const call of calls) deepEqual(ranks.all(call), [ErrorClass.OP, ErrorClass.OP]);
    }
    const alone = testProgram();
    throws(() => alone.call("MPI_Reduce_local", alone.ints(1), alone.ints(2), 1, INT.handle, REPLACE.handle), {
      code: ErrorClass.OP,
      message: /only one-sided communication/,
    });
  });
});

describe("operations of the program's in collectives", () => {
  it("combine in the order of the ranks", () => {
    const programs = testPrograms(3);
    const parts = programs.map((c, rank) => {
      const op = c.get("MPI_Op_create", c.function(shiftAndAdd(c)), 0);
      const result = c.alloc(4);
      const request = c.alloc(4);
      c.call("MPI_Iallreduce", c.ints(rank + 1), result, 1, INT.handle, op, 0x101, request);
      return { c, result, request };
    });
    // Each in turn as far as it gets: a test looks, and calls back what it is asked for.
    const flags = parts.map(() => 0);
    for (let round = 0; flags.includes(0) && round < 100; round++) {
      for (const [i, { c, request }] of parts.entries()) {
        const flag = c.alloc(4);
        c.settle();
        c.call("MPI_Test", request, flag, 0);
        flags[i] = flags[i]! | c.int(flag);
      }
    }
    deepEqual(
      parts.map(({ c, result }) => c.int(result)),
      [123, 123, 123],
    );
  });
});
