/** Requests in the data plane (ADR 76), call by call: which message goes to which receive, when the engine takes over, and what it then has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lightRequestsMax } from "../../core/p2p/light-requests.ts";
import { PlaneWorld, type PlaneWorldOptions, WAITS } from "./testing/plane-world.ts";

const COMM_WORLD = 0x101;
const ERRORS_RETURN = 0x143;
const REQUEST_NULL = 0x180;
const MPI_INT = 0x209;
const [ANY_SOURCE, ANY_TAG, PROC_NULL] = [-1, -2, -3];
const MPI_ERR_TRUNCATE = 15;
const MPI_ERR_IN_STATUS = 19;

const requestsAt = 1536;
const requestAt = (i: number): number => requestsAt + 4 * i;
const statusesAt = 2560;
const buffersAt = 8192;
const bufferAt = (i: number): number => buffersAt + 256 * i;

/** A world of ranks that have begun, and short names for calls. */
class Calls {
  readonly world: PlaneWorld;

  constructor(options: Partial<PlaneWorldOptions> = {}) {
    this.world = new PlaneWorld({
      ...{ ranks: 3, hasPlane: true, slots: 512, looksAhead: 256, unexpectedBytesMax: 1 << 24, beginsRequests: true },
      ...options,
    });
    for (let rank = 0; rank < this.world.ranks.length; rank++) {
      this.call(rank, "MPI_Init", 0, 0);
      this.call(rank, "MPI_Comm_set_errhandler", COMM_WORLD, ERRORS_RETURN);
    }
    // The engine shows the communicator to the plane, and opens the pass.
    for (let rank = 0; rank < this.world.ranks.length; rank++) this.exchange(rank);
    for (const { plane } of this.world.ranks) if (plane !== null) plane.light!.adoptions = 0;
  }

  call(rank: number, name: string, ...args: readonly number[]): number {
    return this.world.ranks[rank]!.call(name, ...args);
  }

  /** A message to itself. */
  exchange(rank: number): void {
    this.call(rank, "MPI_Send", bufferAt(0), 1, MPI_INT, rank, 0, COMM_WORLD);
    this.call(rank, "MPI_Recv", bufferAt(0), 1, MPI_INT, rank, 0, COMM_WORLD, 0);
  }

  ints(rank: number): Int32Array {
    return this.world.ranks[rank]!.ints;
  }

  /** One number, `count` times. */
  send(from: number, to: number, tag: number, value: number, count = 1): void {
    this.ints(from).fill(value, bufferAt(31) >> 2, (bufferAt(31) >> 2) + count);
    assert.equal(this.call(from, "MPI_Send", bufferAt(31), count, MPI_INT, to, tag, COMM_WORLD), 0);
  }

  /** The receive of that number, into the buffer of that number. */
  post(rank: number, i: number, source: number, tag: number, count = 1): void {
    this.ints(rank)[bufferAt(i) >> 2] = -99;
    const args = [bufferAt(i), count, MPI_INT, source, tag, COMM_WORLD, requestAt(i)];
    assert.equal(this.call(rank, "MPI_Irecv", ...args), 0);
  }

  wait(rank: number, i: number): number {
    return this.call(rank, "MPI_Wait", requestAt(i), statusesAt + 32 * i);
  }

  waitAll(rank: number, count: number): number {
    return this.call(rank, "MPI_Waitall", count, requestsAt, statusesAt);
  }

  /** What has come: the first number, and of the status source, tag and bytes; and that the request is none any more. */
  got(rank: number, i: number): number[] {
    const ints = this.ints(rank);
    assert.equal(ints[requestAt(i) >> 2], REQUEST_NULL);
    const at = (statusesAt + 32 * i) >> 2;
    return [ints[bufferAt(i) >> 2]!, ints[at]!, ints[at + 1]!, ints[at + 3]!];
  }

  adopted(rank: number): number {
    return this.world.ranks[rank]!.plane!.light!.adoptions;
  }

  light(rank: number): number {
    return this.world.ranks[rank]!.plane!.light!.count;
  }
}

describe("ADR 76: requests in the data plane", () => {
  test("messages go to receives in the order in which these were posted, and to those that want them", () => {
    const calls = new Calls();
    calls.post(0, 0, ANY_SOURCE, 5);
    calls.post(0, 1, 1, ANY_TAG);
    calls.post(0, 2, ANY_SOURCE, ANY_TAG);
    calls.post(0, 3, 2, 7);
    calls.send(1, 0, 7, 10); // the second: the first wants another tag
    calls.send(2, 0, 5, 20); // the first
    calls.send(2, 0, 7, 30); // the third, which was posted before the fourth
    calls.send(2, 0, 7, 40);
    assert.equal(calls.wait(0, 3), 0);
    assert.deepEqual(calls.got(0, 3), [40, 2, 7, 4]);
    assert.equal(calls.light(0), 3, "all have their messages");
    assert.equal(calls.waitAll(0, 4), 0);
    assert.deepEqual(
      [0, 1, 2].map((i) => calls.got(0, i)),
      [
        [20, 2, 5, 4],
        [10, 1, 7, 4],
        [30, 2, 7, 4],
      ],
    );
    const empty = (statusesAt + 96) >> 2;
    assert.deepEqual([...calls.ints(0).subarray(empty, empty + 2)], [ANY_SOURCE, ANY_TAG], "of a request that is none");
    assert.deepEqual([calls.adopted(0), calls.light(0)], [0, 0], "no engine has taken part");
  });

  test("messages that came before go to the next receive that wants them, others stay where they are", () => {
    const calls = new Calls();
    for (const [tag, value] of [
      [1, 10],
      [2, 20],
      [1, 30],
    ] as const)
      calls.send(1, 0, tag, value, 1);
    calls.send(2, 0, 1, 40, 40);
    calls.post(0, 0, 1, 2);
    assert.equal(calls.wait(0, 0), 0);
    calls.post(0, 1, 2, 1, 40);
    assert.equal(calls.wait(0, 1), 0);
    calls.post(0, 2, 1, ANY_TAG);
    calls.post(0, 3, 1, 1);
    assert.equal(calls.waitAll(0, 4), 0);
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => calls.got(0, i)[0]),
      [20, 40, 10, 30],
    );
    assert.equal(calls.ints(0)[(bufferAt(1) >> 2) + 39], 40);
    assert.equal(calls.adopted(0), 0);
  });

  test("a send is over at once, and nobody is nobody", () => {
    const calls = new Calls();
    calls.ints(0)[bufferAt(0) >> 2] = 77;
    for (const [i, dest] of [1, PROC_NULL].entries()) {
      const args = [bufferAt(0), 1, MPI_INT, dest, 3, COMM_WORLD, requestAt(i)];
      assert.equal(calls.call(0, "MPI_Isend", ...args), 0);
    }
    calls.post(0, 2, PROC_NULL, 3);
    assert.equal(calls.light(0), 3);
    assert.equal(calls.call(0, "MPI_Test", requestAt(2), 3584, statusesAt + 64), 0);
    assert.equal(calls.ints(0)[3584 >> 2], 1);
    assert.deepEqual(calls.got(0, 2), [-99, PROC_NULL, ANY_TAG, 0]);
    assert.equal(calls.waitAll(0, 2), 0);
    for (const i of [0, 1]) assert.deepEqual(calls.got(0, i).slice(1), [ANY_SOURCE, ANY_TAG, 0]);
    calls.post(1, 0, 0, 3);
    assert.equal(calls.wait(1, 0), 0);
    assert.deepEqual(calls.got(1, 0), [77, 0, 3, 4]);
    assert.deepEqual([calls.adopted(0), calls.adopted(1)], [0, 0]);
  });

  test("a blocking receive comes after those that are pending", () => {
    const calls = new Calls();
    calls.post(0, 0, 1, ANY_TAG);
    for (const value of [10, 20]) calls.send(1, 0, 1, value);
    assert.equal(calls.call(0, "MPI_Recv", bufferAt(1), 1, MPI_INT, 1, 1, COMM_WORLD, 0), 0);
    assert.equal(calls.wait(0, 0), 0);
    assert.deepEqual([calls.got(0, 0)[0], calls.ints(0)[bufferAt(1) >> 2]], [10, 20]);
    assert.equal(calls.adopted(0), 1);
  });

  test("too little room is the engine's to tell, and the rest of a list has its messages", () => {
    const calls = new Calls();
    for (const i of [0, 1, 2]) calls.post(0, i, 1, ANY_TAG);
    for (const [value, count] of [
      [10, 1],
      [20, 2],
      [30, 1],
    ] as const)
      calls.send(1, 0, 1, value, count);
    assert.equal(calls.waitAll(0, 3), MPI_ERR_IN_STATUS);
    const errors = [0, 1, 2].map((i) => calls.ints(0)[((statusesAt + 32 * i) >> 2) + 2]);
    assert.deepEqual(errors, [0, MPI_ERR_TRUNCATE, 0]);
    assert.deepEqual(calls.got(0, 0), [10, 1, 1, 4]);
    assert.deepEqual(calls.got(0, 2), [30, 1, 1, 4]);
    assert.equal(calls.adopted(0), 3, "one that was over, and two that were not");
  });

  test("a list with requests of both, or with one twice, is the engine's", () => {
    const calls = new Calls();
    calls.post(0, 0, 1, 1);
    const synchronous = [bufferAt(9), 1, MPI_INT, 1, 2, COMM_WORLD, requestAt(1)];
    assert.equal(calls.call(0, "MPI_Issend", ...synchronous), 0);
    assert.equal(calls.adopted(0), 1);
    assert.equal(calls.call(1, "MPI_Recv", bufferAt(0), 1, MPI_INT, 0, 2, COMM_WORLD, 0), 0);
    calls.send(1, 0, 1, 50);
    assert.equal(calls.waitAll(0, 2), 0);
    assert.equal(calls.got(0, 0)[0], 50);
    calls.exchange(0);
    calls.post(0, 0, 1, 1);
    calls.ints(0)[requestAt(1) >> 2] = calls.ints(0)[requestAt(0) >> 2]!;
    calls.send(1, 0, 1, 60);
    assert.equal(calls.waitAll(0, 2), 0);
    assert.equal(calls.got(0, 0)[0], 60);
    assert.equal(calls.adopted(0), 2);
  });

  test("where the table is full the engine begins requests, until there is room again", () => {
    const calls = new Calls();
    const many = lightRequestsMax + 6;
    for (let i = 0; i < many; i++) {
      const args = [bufferAt(i), 1, MPI_INT, 1, 1, COMM_WORLD, 1536 + 4 * i];
      assert.equal(calls.call(0, "MPI_Irecv", ...args), 0);
    }
    assert.deepEqual([calls.adopted(0), calls.light(0)], [lightRequestsMax, 0]);
    const handles = calls.ints(0).slice(requestsAt >> 2, (requestsAt >> 2) + many);
    assert.equal(new Set(handles).size, many, "every request has a handle of its own");
    for (let i = 0; i < many; i++) calls.send(1, 0, 1, 1000 + i);
    assert.equal(calls.call(0, "MPI_Waitall", many, requestsAt, 0), 0);
    for (let i = 0; i < many; i++) assert.equal(calls.ints(0)[bufferAt(i) >> 2], 1000 + i);
    // The next call of the engine finds that they have ended.
    assert.equal(calls.call(0, "MPI_Iprobe", 1, 9, COMM_WORLD, 3584, 0), 0);
    calls.exchange(0);
    calls.post(0, 0, 1, 1);
    assert.equal(calls.light(0), 1);
    calls.send(1, 0, 1, 5);
    assert.equal(calls.wait(0, 0), 0);
    assert.equal(calls.adopted(0), lightRequestsMax);
  });

  test("a handle that an engine's request has is not given away", () => {
    const calls = new Calls();
    calls.post(0, 0, 1, 1);
    assert.equal(calls.call(0, "MPI_Iprobe", 1, 9, COMM_WORLD, 3584, 0), 0);
    const handle = calls.ints(0)[requestAt(0) >> 2];
    calls.send(1, 0, 1, 1);
    calls.send(1, 0, 2, 2);
    // Its message has come, and the request stays; the pass is open again.
    assert.equal(calls.call(0, "MPI_Iprobe", 1, 9, COMM_WORLD, 3584, 0), 0);
    assert.equal(calls.call(0, "MPI_Recv", bufferAt(5), 1, MPI_INT, 1, 2, COMM_WORLD, 0), 0);
    calls.post(0, 1, 1, 3);
    assert.equal(calls.light(0), 1, "the plane has begun the second");
    assert.notEqual(calls.ints(0)[requestAt(1) >> 2], handle);
    calls.send(1, 0, 3, 3);
    assert.equal(calls.wait(0, 1), 0);
    assert.equal(calls.wait(0, 0), 0);
    assert.deepEqual([calls.got(0, 0)[0], calls.got(0, 1)[0]], [1, 3]);
  });

  test("addresses that are none, and handles that are none, are the engine's to refuse", () => {
    const calls = new Calls();
    const plain = new Calls({ hasPlane: false });
    calls.post(0, 0, 1, 1);
    plain.post(0, 0, 1, 1);
    for (const [name, ...args] of [
      ["MPI_Irecv", bufferAt(1), 1, MPI_INT, 1, 1, COMM_WORLD, 3],
      ["MPI_Isend", bufferAt(1), 1, MPI_INT, 1, 1, COMM_WORLD, 8],
      ["MPI_Wait", 2, 0],
      ["MPI_Wait", requestAt(0), 6],
      ["MPI_Waitall", 1 << 30, requestsAt, 0],
      ["MPI_Waitall", -1, requestsAt, 0],
      ["MPI_Waitall", 1, requestsAt, 6],
      ["MPI_Test", requestAt(0), 2, 0],
    ] as const) {
      const answer = calls.call(0, name, ...args);
      assert.equal(answer, plain.call(0, name, ...args), name);
      assert.ok(answer > 0, `${name}(${args.join(", ")}) → ${answer}`);
    }
    for (const each of [calls, plain]) {
      each.ints(0)[requestAt(2) >> 2] = 0x05000009;
      assert.ok(each.call(0, "MPI_Wait", requestAt(2), 0) > 0);
    }
  });

  test("receives that wait when a rank dies end as they do without a plane", () => {
    for (const isSent of [false, true]) {
      const [planed, plain] = [true, false].map((hasPlane) => {
        const calls = new Calls({ hasPlane });
        calls.post(0, 0, 1, 1);
        calls.post(0, 1, ANY_SOURCE, 9);
        calls.post(0, 2, 2, 2);
        if (hasPlane) assert.equal(calls.light(0), 3);
        if (isSent) calls.send(1, 0, 1, 10);
        calls.send(2, 0, 2, 20);
        calls.world.kill(1);
        const answers = [2, 0, 1].map((i) => calls.wait(0, i));
        const words = calls.ints(0);
        const handles = [0, 1, 2].map((i) => words[requestAt(i) >> 2] === REQUEST_NULL);
        const came = [0, 1, 2].map((i) => words[bufferAt(i) >> 2]);
        return { answers, handles, came, statuses: [...words.subarray(statusesAt >> 2, (statusesAt >> 2) + 24)] };
      });
      assert.deepEqual(planed, plain, `a message of the dead rank has come: ${isSent}`);
      assert.deepEqual(planed!.handles, [true, false, true], "one from anybody stays");
    }
  });

  test("a process that stops in a call which adopts nothing has no requests of its plane left", () => {
    for (const name of ["MPI_Wtime", "MPI_Send"] as const) {
      const calls = new Calls();
      const [own] = calls.world.ranks;
      assert.equal(calls.call(0, "MPI_Isend", bufferAt(0), 1, MPI_INT, 1, 3, COMM_WORLD, requestAt(0)), 0);
      calls.post(0, 1, 1, 1);
      calls.post(0, 2, 1, 2);
      calls.send(1, 0, 1, 10);
      calls.send(1, 0, 2, 20);
      assert.equal(calls.wait(0, 2), 0);
      const { words, at } = own!.program.suspension;
      words[at] = 1;
      const args = name === "MPI_Send" ? [bufferAt(0), 1, MPI_INT, 1, 3, COMM_WORLD] : [];
      assert.equal(calls.call(0, name, ...args), WAITS);
      words[at] = 0;
      assert.deepEqual([calls.adopted(0), calls.light(0)], [2, 0], name);
      assert.equal(own!.goOn(), 0);
      assert.equal(calls.waitAll(0, 2), 0);
      assert.deepEqual(calls.got(0, 1), [10, 1, 1, 4]);
    }
  });

  test("ranks that share a thread wait in their planes, and go to their engines when they shall stop", () => {
    const calls = new Calls({ planeWaits: "all" });
    const [own] = calls.world.ranks;
    for (const i of [0, 1]) calls.post(0, i, 1, 1 + i);
    assert.equal(calls.waitAll(0, 2), WAITS);
    calls.send(1, 0, 2, 20);
    assert.equal(own!.goOn(), WAITS);
    calls.send(1, 0, 1, 10);
    assert.equal(own!.goOn(), 0);
    assert.deepEqual([calls.got(0, 0)[0], calls.got(0, 1)[0], calls.adopted(0)], [10, 20, 0]);
    for (const i of [0, 1]) calls.post(0, i, 1, 1 + i);
    assert.equal(calls.wait(0, 0), WAITS);
    const images = calls.world.images();
    assert.equal(calls.adopted(0), 2);
    const fresh = new PlaneWorld({ ranks: 3, hasPlane: true, slots: 512, looksAhead: 256, beginsRequests: true });
    fresh.restore(images);
    fresh.ranks[0]!.waitIn(own!.waitsIn!.name, own!.waitsIn!.args);
    fresh.ranks[1]!.ints[bufferAt(30) >> 2] = 33;
    assert.equal(fresh.ranks[1]!.call("MPI_Send", bufferAt(30), 1, MPI_INT, 0, 1, COMM_WORLD), 0);
    assert.equal(fresh.ranks[0]!.goOn(), 0);
    assert.equal(fresh.ranks[0]!.ints[bufferAt(0) >> 2], 33);
  });
});
