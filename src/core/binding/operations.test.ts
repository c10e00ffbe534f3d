import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { INT, TestRanks, WORLD } from "../../abi/testing/ranks.ts";
import { Mpi } from "../../mpi/mpi.ts";
import { World } from "../../sim/world.ts";
import { assert } from "../base/assert.ts";
import { noSpawner } from "../process/spawner.ts";
import { Now, type Operations } from "./operations.ts";
import { ProcessOperations } from "./process-operations.ts";
import { type Watched, watched } from "./testing/watched-operations.ts";

/** A TypeScript program alone in its world; what is between it and its process. */
function typeScriptProgram(layer: (operations: Operations) => Watched = watched): { mpi: Mpi; layer: Watched } {
  const world = new World({ ranks: 1 });
  const { core } = world.processes[0]!;
  const waitUntil = (isReady: () => boolean): boolean => {
    while (!isReady()) {
      const before = world.trace.events;
      const moved = core.progress();
      world.run();
      assert(moved || isReady() || world.trace.events > before, "the program waits for what never comes");
    }
    return true;
  };
  const unused = (): never => {
    throw new Error("nobody asks for that here");
  };
  const host = {
    process: core,
    survivesDeaths: true,
    spawner: noSpawner(1, "this is a test"),
    processorName: "test",
    wait: (request: Parameters<Operations["wait"]>[0]) => waitUntil(() => core.engine.isComplete(request)),
    waitUntil,
    look: () => void core.progress(),
    receiveNow: () => Now.MUST_POST,
    waitForGate: unused,
    whenReady: unused,
    abort: unused,
    result: unused,
    checkpoint: unused,
    restored: () => null,
    now: () => 0,
    moveClockTo: unused,
    awaiting: 0,
    exit: unused,
    tracer: null,
  };
  const between = layer(new ProcessOperations(host));
  return { mpi: new Mpi(host, between.operations), layer: between };
}

/** What both programs below do, as a layer between them and their processes sees it. Mode 0 is standard, 3 buffered. */
const story = [
  // A request each.
  "startReceive 8 0 5",
  "startSend 8 0 5 0",
  "given back",
  "given back",
  // A blocking send, a probe, a blocking receive that must be posted.
  "sendNow 8 0 6",
  "receiveNow 8 0 6",
  "startReceive 8 0 6",
  "given back",
  // A matched probe and its receive.
  "sendNow 8 0 7",
  "startMatchedReceive",
  "given back",
  // A buffered send, which the program never hears of again.
  "startSend 8 0 8 3",
  "given back",
  "receiveNow 8 0 8",
  "startReceive 8 0 8",
  "given back",
  // A receive that is cancelled.
  "startReceive 8 0 9",
  "given back",
  // Collectives, and a communicator.
  "startEqual barrier",
  "given back",
  "startEqual bcast",
  "given back",
  "startReduction allreduce",
  "given back",
  "startTask",
  "given back",
];

describe("M2 a layer between a program and its process sees what the program does, whichever face it uses", () => {
  it("in TypeScript", () => {
    const { mpi, layer } = typeScriptProgram();
    const { world } = mpi;
    const data = new Int32Array(2);
    const receive = world.irecv(data, { source: 0, tag: 5 });
    const send = world.isend(Int32Array.of(1, 2), { dest: 0, tag: 5 });
    send.wait();
    receive.wait();
    world.send(data, { dest: 0, tag: 6 });
    world.probe({ source: 0, tag: 6 });
    world.recv(data, { source: 0, tag: 6 });
    world.send(data, { dest: 0, tag: 7 });
    world.mprobe({ source: 0, tag: 7 }).recv(data);
    world.bsend(data, { dest: 0, tag: 8 });
    world.recv(data, { source: 0, tag: 8 });
    const never = world.irecv(data, { source: 0, tag: 9 });
    never.cancel();
    equal(never.wait().cancelled, true);
    world.barrier();
    world.bcast(data);
    world.allreduce(data, mpi.SUM);
    world.dup();
    // The request of the buffered send that the program gets is one to nobody, and complete from the start.
    deepEqual(
      layer.log.filter((line) => !line.startsWith("startSend 0 -3")),
      story,
    );
    equal([...layer.open.values()].join(), "startSend");
  });

  it("in C", () => {
    const [c] = new TestRanks(1).programs;
    const { log, open } = c!.watched;
    const before = log.length;
    const call = (name: string, ...args: number[]) => equal(c!.call(name, ...args), 0, name);
    const [data, other, request, status, message] = [
      c!.ints(1, 2),
      c!.ints(0, 0),
      c!.alloc(8),
      c!.alloc(32),
      c!.alloc(4),
    ];
    call("MPI_Irecv", other, 2, INT, 0, 5, WORLD, request);
    call("MPI_Isend", data, 2, INT, 0, 5, WORLD, request + 4);
    call("MPI_Wait", request + 4, 0);
    call("MPI_Wait", request, 0);
    call("MPI_Send", data, 2, INT, 0, 6, WORLD);
    call("MPI_Probe", 0, 6, WORLD, status);
    call("MPI_Recv", other, 2, INT, 0, 6, WORLD, 0);
    call("MPI_Send", data, 2, INT, 0, 7, WORLD);
    call("MPI_Mprobe", 0, 7, WORLD, message, 0);
    call("MPI_Mrecv", other, 2, INT, message, 0);
    call("MPI_Bsend", data, 2, INT, 0, 8, WORLD);
    call("MPI_Recv", other, 2, INT, 0, 8, WORLD, 0);
    call("MPI_Irecv", other, 2, INT, 0, 9, WORLD, request);
    call("MPI_Cancel", request);
    call("MPI_Wait", request, status);
    equal(c!.get("MPI_Test_cancelled", status), 1);
    call("MPI_Barrier", WORLD);
    call("MPI_Bcast", data, 2, INT, 0, WORLD);
    call("MPI_Allreduce", data, other, 2, INT, SUM, WORLD);
    call("MPI_Comm_dup", WORLD, request);
    deepEqual(log.slice(before), story);
    equal(open.size, 0);
  });

  it("a face that gives a request back twice, or asks about one that is gone, is found out", () => {
    const { operations } = typeScriptProgram().layer;
    const request = operations.startOwn();
    throws(() => operations.end(request), /not over/);
    operations.completeOwn(request);
    operations.end(request);
    throws(() => operations.end(request), /not under way/);
    throws(() => operations.isComplete(request), /not under way/);
  });

  it("what the layer answers is what the program sees", () => {
    /** Every send by the short way fails, so the program must start one with a request. */
    const slow = (operations: Operations): Watched =>
      watched(
        new Proxy(operations, {
          get: (target, name) => {
            if (name === "sendNow") return () => false;
            const value: unknown = Reflect.get(target, name, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
      );
    const { mpi, layer } = typeScriptProgram(slow);
    mpi.world.send(Int32Array.of(7), { dest: 0, tag: 1 });
    const got = new Int32Array(1);
    mpi.world.recv(got, { source: 0, tag: 1 });
    equal(got[0], 7);
    deepEqual(layer.log.slice(0, 2), ["sendNow 4 0 1", "startSend 4 0 1 0"]);
  });
});

/** The ABI's MPI_SUM. */
const SUM = 0x21;
