import { deepEqual, equal, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { errorsReturn } from "../../core/comm/error-handler.ts";
import { type TestProgram, testProgram } from "../testing/program.ts";
import { INT, SELF } from "../testing/ranks.ts";

const REQUEST_NULL = 0x180;
const [SOURCE, TAG, ERROR] = [0, 4, 8];

interface Made {
  readonly c: TestProgram;
  /** Which functions were called, in order, with their arguments. */
  readonly seen: string[];
  /** Address of a new request, whose extra state is `extra`. */
  start(extra: number): number;
}

/** Functions that note their calls; `codes` is what they give. */
function made(codes: { query?: number; free?: number; cancel?: number } = {}): Made {
  const c = testProgram();
  c.program.self.errorHandler = errorsReturn;
  const seen: string[] = [];
  const query = c.function((extra, status) => {
    seen.push(`query ${extra}`);
    c.program.putList(status!, [extra!, 2 * extra!]);
    c.call("MPI_Status_set_elements", status!, INT, 3);
    return codes.query ?? 0;
  });
  const free = c.function((extra) => {
    seen.push(`free ${extra}`);
    return codes.free ?? 0;
  });
  const cancel = c.function((extra, complete) => {
    seen.push(`cancel ${extra} ${complete}`);
    return codes.cancel ?? 0;
  });
  const start = (extra: number): number => {
    const request = c.alloc(4);
    equal(c.call("MPI_Grequest_start", query, free, cancel, extra, request), 0);
    return request;
  };
  return { c, seen, start };
}

describe("M4 §13.2 generalized requests", () => {
  it("wait: the status is the query function's, then the free function is called", () => {
    const { c, seen, start } = made();
    const request = start(5);
    const [flag, status] = [c.alloc(4), c.alloc(32)];
    c.call("MPI_Test", request, flag, status);
    equal(c.int(flag), 0);
    equal(c.call("MPI_Grequest_complete", c.int(request)), 0);
    equal(c.call("MPI_Grequest_complete", c.int(request)), ErrorClass.REQUEST);
    deepEqual(seen, []);
    equal(c.call("MPI_Wait", request, status), 0);
    deepEqual(seen, ["query 5", "free 5"]);
    deepEqual([c.int(status + SOURCE), c.int(status + TAG)], [5, 10]);
    equal(c.get("MPI_Get_count", status, INT), 3);
    equal(c.int(request), REQUEST_NULL);
    equal(c.end(), 0);
  });

  it("get_status asks as often as it is called, and frees nothing", () => {
    const { c, seen, start } = made();
    const request = start(1);
    const [flag, status] = [c.alloc(4), c.alloc(32)];
    const look = () => c.call("MPI_Request_get_status", c.int(request), flag, status);
    look();
    equal(c.int(flag), 0);
    c.call("MPI_Grequest_complete", c.int(request));
    look();
    look();
    deepEqual([c.int(flag), c.int(status + TAG)], [1, 2]);
    c.call("MPI_Test", request, flag, 0);
    deepEqual(seen, ["query 1", "query 1", "query 1", "free 1"]);
    equal(c.end(), 0);
  });

  it("among others: waitall, testany, waitsome", () => {
    const { c, seen, start } = made();
    const requests = c.alloc(12);
    const [index, flag, statuses] = [c.alloc(4), c.alloc(4), c.alloc(96)];
    const fill = (...extras: number[]) =>
      c.program.putList(
        requests,
        extras.map((extra) => c.int(start(extra))),
      );
    fill(1, 2, 3);
    c.call("MPI_Grequest_complete", c.list(requests, 3)[1]!);
    c.call("MPI_Testany", 3, requests, index, flag, statuses);
    deepEqual([c.int(index), c.int(flag), c.int(statuses)], [1, 1, 2]);
    c.call("MPI_Grequest_complete", c.list(requests, 3)[2]!);
    const [outcount, indices] = [c.alloc(4), c.alloc(12)];
    c.call("MPI_Waitsome", 3, requests, outcount, indices, statuses);
    deepEqual([c.int(outcount), c.int(indices), c.int(statuses)], [1, 2, 3]);
    c.call("MPI_Grequest_complete", c.int(requests));
    const into = c.alloc(4);
    c.call("MPI_Irecv", into, 1, INT, 0, 0, SELF, requests + 4);
    c.call("MPI_Send", c.ints(9), 1, INT, 0, 0, SELF);
    equal(c.call("MPI_Waitall", 3, requests, statuses), 0);
    deepEqual([c.int(into), c.int(statuses), c.int(statuses + 32)], [9, 1, 0]);
    deepEqual(seen, ["query 2", "free 2", "query 3", "free 3", "query 1", "free 1"]);
    equal(c.end(), 0);
  });

  for (const call of ["MPI_Waitsome", "MPI_Testsome", "MPI_Waitall"] as const) {
    it(`${call}: a request that is listed twice ends once`, () => {
      const { c, seen, start } = made();
      const requests = c.alloc(16);
      c.call("MPI_Isend", c.ints(9), 1, INT, 0, 0, SELF, requests);
      const general = c.int(start(1));
      c.program.putList(requests, [c.int(requests), c.int(requests), general, general]);
      c.call("MPI_Grequest_complete", general);
      const [outcount, indices, statuses] = [c.alloc(4), c.alloc(16), c.alloc(4 * 32)];
      if (call === "MPI_Waitall") equal(c.call(call, 4, requests, statuses), 0);
      else {
        equal(c.call(call, 4, requests, outcount, indices, statuses), 0);
        deepEqual([c.int(outcount), ...c.list(indices, 2)], [2, 0, 2]);
      }
      deepEqual(c.list(requests, 4), [REQUEST_NULL, REQUEST_NULL, REQUEST_NULL, REQUEST_NULL]);
      equal(seen.filter((said) => said === "free 1").length, 1);
      // Two that are made now do not share a handle.
      for (const at of [requests, requests + 4]) c.call("MPI_Irecv", c.alloc(4), 1, INT, 0, 0, SELF, at);
      notEqual(c.int(requests), c.int(requests + 4));
      c.call("MPI_Send", c.ints(9), 1, INT, 0, 0, SELF);
      equal(c.call("MPI_Waitall", 2, requests, 0), 0);
      equal(c.end(), 0);
    });
  }

  it("freed before it is complete: the free function is called at the end", () => {
    const { c, seen, start } = made();
    const request = start(4);
    const handle = c.int(request);
    equal(c.call("MPI_Request_free", request), 0);
    equal(c.int(request), REQUEST_NULL);
    deepEqual(seen, []);
    equal(c.call("MPI_Grequest_complete", handle), 0);
    deepEqual(seen, ["free 4"]);
    equal(c.call("MPI_Grequest_complete", handle), ErrorClass.REQUEST);
    const second = start(6);
    c.call("MPI_Grequest_complete", c.int(second));
    equal(c.call("MPI_Request_free", second), 0);
    deepEqual(seen, ["free 4", "free 6"]);
    equal(c.end(), 0);
  });

  it("cancel: the program's function is told whether it is complete", () => {
    const { c, seen, start } = made();
    const request = start(8);
    equal(c.call("MPI_Cancel", request), 0);
    c.call("MPI_Grequest_complete", c.int(request));
    equal(c.call("MPI_Cancel", request), 0);
    c.call("MPI_Wait", request, 0);
    deepEqual(seen, ["cancel 8 0", "cancel 8 1", "query 8", "free 8"]);
  });

  it("error codes of the functions are those of the calls", () => {
    const failing = made({ query: ErrorClass.IO, free: ErrorClass.OTHER, cancel: ErrorClass.ARG });
    const { c, start } = failing;
    const request = start(1);
    equal(c.call("MPI_Cancel", request), ErrorClass.ARG);
    c.call("MPI_Grequest_complete", c.int(request));
    const statuses = c.alloc(32);
    equal(c.call("MPI_Waitall", 1, request, statuses), ErrorClass.IN_STATUS);
    equal(c.int(statuses + ERROR), ErrorClass.IO, "the query function's");
    const second = start(2);
    c.call("MPI_Grequest_complete", c.int(second));
    equal(c.call("MPI_Request_free", second), ErrorClass.OTHER);
    equal(c.int(second), REQUEST_NULL);
    equal(c.end(), 0);
  });
});
