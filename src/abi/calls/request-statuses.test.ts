import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { UNDEFINED } from "../../core/base/constants.ts";
import { passThrough } from "../../core/ft/pass-through.ts";
import { Recording } from "../../core/ft/recording-protocol.ts";
import { type TestProgram, testProgram } from "../testing/program.ts";
import { INT, SELF, TestRanks } from "../testing/ranks.ts";

const REQUEST_NULL = 0x180;
const ANY_SOURCE = -1;

/** Receives with the tags 0, 1, 2 …; the address of their handles. */
function receives(c: TestProgram, count: number): number {
  const handles = c.alloc(4 * count);
  for (let tag = 0; tag < count; tag++) c.call("MPI_Irecv", c.alloc(4), 1, INT, 0, tag, SELF, handles + 4 * tag);
  return handles;
}

/** Sends to itself; the message has arrived. */
function send(c: TestProgram, tag: number): void {
  c.call("MPI_Send", c.ints(5), 1, INT, 0, tag, SELF);
  c.settle();
}

describe("M4 §3.7.6 looking at requests leaves them as they are", () => {
  it("one", () => {
    const c = testProgram();
    const [handles, flag, status] = [receives(c, 1), c.alloc(4), c.alloc(32)];
    c.call("MPI_Request_get_status", c.int(handles), flag, status);
    equal(c.int(flag), 0);
    send(c, 0);
    for (let i = 0; i < 2; i++) c.call("MPI_Request_get_status", c.int(handles), flag, status);
    deepEqual([c.int(flag), c.int(status), c.get("MPI_Get_count", status, INT)], [1, 0, 1]);
    equal(c.call("MPI_Wait", handles, 0), 0);
    c.call("MPI_Request_get_status", REQUEST_NULL, flag, status);
    deepEqual([c.int(flag), c.int(status)], [1, ANY_SOURCE]);
    equal(c.end(), 0);
  });

  it("all, any and some of several", () => {
    const c = testProgram();
    const handles = receives(c, 3);
    const [flag, index, count, indices, statuses] = [c.alloc(4), c.alloc(4), c.alloc(4), c.alloc(12), c.alloc(96)];
    const tags = () => [c.int(statuses + 4), c.int(statuses + 36), c.int(statuses + 68)];
    c.call("MPI_Request_get_status_any", 3, handles, index, flag, statuses);
    deepEqual([c.int(flag), c.int(index)], [0, UNDEFINED]);
    send(c, 2);
    c.call("MPI_Request_get_status_any", 3, handles, index, flag, statuses);
    deepEqual([c.int(flag), c.int(index), tags()[0]], [1, 2, 2]);
    c.call("MPI_Request_get_status_all", 3, handles, flag, statuses);
    equal(c.int(flag), 0);
    send(c, 0);
    c.call("MPI_Request_get_status_some", 3, handles, count, indices, statuses);
    deepEqual([c.int(count), ...c.list(indices, 2), ...tags().slice(0, 2)], [2, 0, 2, 0, 2]);
    send(c, 1);
    c.call("MPI_Request_get_status_all", 3, handles, flag, statuses);
    deepEqual([c.int(flag), ...tags()], [1, 0, 1, 2]);
    c.call("MPI_Waitall", 3, handles, 0);
    c.call("MPI_Request_get_status_some", 3, handles, count, indices, statuses);
    equal(c.int(count), UNDEFINED);
    c.call("MPI_Request_get_status_any", 3, handles, index, flag, statuses);
    deepEqual([c.int(flag), c.int(index), c.int(statuses)], [1, UNDEFINED, ANY_SOURCE]);
    equal(c.end(), 0);
  });

  it("R5 the protocol hears of every message that the program has seen", () => {
    const recording = new Recording();
    const [c] = new TestRanks(1, { protocol: () => recording.around(passThrough) }).programs as [TestProgram];
    const seen = () => recording.calls.filter(({ hook }) => hook === "seen").map(({ answer }) => answer);
    const [handles, flag, status] = [receives(c, 1), c.alloc(4), c.alloc(32)];
    send(c, 0);
    deepEqual(seen(), [], "it has met its receive");
    c.call("MPI_Request_get_status", c.int(handles), flag, status);
    deepEqual([c.int(flag), ...seen()], [1, false]);
    c.call("MPI_Wait", handles, 0);
    deepEqual(seen(), [false, true]);
    send(c, 1);
    deepEqual(seen(), [false, true], "it has come");
    c.call("MPI_Iprobe", 0, 1, SELF, flag, status);
    deepEqual([c.int(flag), ...seen()], [1, false, true, false]);
    c.call("MPI_Recv", c.alloc(4), 1, INT, 0, 1, SELF, status);
    deepEqual(seen(), [false, true, false, true]);
  });
});
