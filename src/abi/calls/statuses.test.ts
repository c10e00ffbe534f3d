import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { statusBytes } from "../arguments/status.ts";
import { testProgram } from "../testing/program.ts";

const { CHAR, DOUBLE, INT } = predefinedTypes;
const c = testProgram();
const self = 0x102;

/** A status of a message of that many bytes. */
function statusOf(bytes: number): number {
  const status = c.alloc(statusBytes);
  const buffer = c.alloc(bytes);
  c.call("MPI_Send", buffer, bytes, CHAR.handle, 0, 7, self);
  c.call("MPI_Recv", buffer, bytes, CHAR.handle, 0, 7, self, status);
  return status;
}

/** By both forms. */
function countOf(name: "MPI_Get_count" | "MPI_Get_elements", status: number, type: number): number {
  const out = c.alloc(8);
  c.call(`${name}_c`, status, type, out);
  equal(c.get(name, status, type), c.long(out));
  return c.long(out);
}

describe("MPI_Get_count and MPI_Get_elements", () => {
  const struct = c.get("MPI_Type_create_struct", 2, c.ints(1, 1), c.ints(0, 8), c.ints(INT.handle, DOUBLE.handle));

  it("whole items, and UNDEFINED for what is none", () => {
    equal(countOf("MPI_Get_count", statusOf(12), INT.handle), 3);
    equal(countOf("MPI_Get_count", statusOf(13), INT.handle), UNDEFINED);
    equal(countOf("MPI_Get_count", statusOf(0), INT.handle), 0);
    equal(countOf("MPI_Get_count", statusOf(24), struct), 2);
    equal(countOf("MPI_Get_count", statusOf(16), struct), UNDEFINED);
  });

  it("elements of an incomplete item", () => {
    equal(countOf("MPI_Get_elements", statusOf(24), struct), 4);
    equal(countOf("MPI_Get_elements", statusOf(16), struct), 3);
    equal(countOf("MPI_Get_elements", statusOf(14), struct), UNDEFINED);
  });

  it("a datatype without data", () => {
    const empty = c.get("MPI_Type_contiguous", 0, INT.handle);
    equal(countOf("MPI_Get_count", statusOf(0), empty), 0);
    equal(countOf("MPI_Get_elements", statusOf(4), empty), UNDEFINED);
  });

  it("MPI_Status_set_elements: what it sets is found again", () => {
    const status = statusOf(0);
    c.call("MPI_Status_set_elements", status, struct, 5);
    equal(countOf("MPI_Get_elements", status, struct), 5);
    equal(countOf("MPI_Get_count", status, struct), UNDEFINED);
    c.call("MPI_Status_set_elements_c", status, struct, 4n);
    deepEqual([countOf("MPI_Get_elements", status, struct), countOf("MPI_Get_count", status, struct)], [4, 2]);
    throws(() => c.call("MPI_Status_set_elements", status, struct, -1), { code: ErrorClass.COUNT });
  });

  it("fields are read and written, and Fortran's statuses are the same words", () => {
    const [status, fortran, back] = [c.ints(1, 2, 3, 4, 5, 6, 7, 8), c.alloc(statusBytes), c.alloc(statusBytes)];
    c.call("MPI_Status_set_source", status, 11);
    c.call("MPI_Status_set_tag", status, 12);
    c.call("MPI_Status_set_error", status, 13);
    c.call("MPI_Status_c2f", status, fortran);
    c.call("MPI_Status_f2f08", fortran, back);
    deepEqual(c.list(back, 8), [11, 12, 13, 4, 5, 6, 7, 8]);
    const fields = ["source", "tag", "error"].map((field) => c.get(`MPI_Status_get_${field}`, back));
    deepEqual(fields, [11, 12, 13]);
    throws(() => c.call("MPI_Status_get_tag", status, 0), { code: ErrorClass.ARG });
  });

  it("more than fits into an int, or into 32 bits", () => {
    const status = statusOf(0);
    const out = c.alloc(8);
    for (const elements of [2 ** 31, 5 * 2 ** 32 + 3]) {
      c.call("MPI_Status_set_elements_c", status, DOUBLE.handle, BigInt(elements));
      c.call("MPI_Get_elements_c", status, DOUBLE.handle, out);
      equal(c.long(out), elements);
      equal(c.get("MPI_Get_count", status, DOUBLE.handle), UNDEFINED);
    }
    for (const elements of [2n ** 51n, 2n ** 59n + 1n]) {
      c.call("MPI_Status_set_elements_c", status, DOUBLE.handle, elements);
      for (const name of ["MPI_Get_elements_c", "MPI_Get_count_c"]) {
        c.call(name, status, DOUBLE.handle, out);
        equal(c.program.longs[out >> 3], elements);
      }
    }
    // The largest count there is, of a structure of several elements: what is set is found again.
    c.call("MPI_Status_set_elements_c", status, CHAR.handle, 2n ** 63n - 1n);
    c.call("MPI_Get_elements_c", status, CHAR.handle, out);
    equal(c.program.longs[out >> 3], 2n ** 63n - 1n);
    c.call("MPI_Status_set_elements_c", status, struct, 2n ** 58n + 1n);
    c.call("MPI_Get_elements_c", status, struct, out);
    equal(c.program.longs[out >> 3], 2n ** 58n + 1n);
    throws(() => c.call("MPI_Status_set_elements_c", status, DOUBLE.handle, 2n ** 60n), { code: ErrorClass.COUNT });
  });
});
