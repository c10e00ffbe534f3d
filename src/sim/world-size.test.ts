/**
 * Worlds of many processes: state grows with use, so what a process costs does not depend on how many others there are, and what
 * is as long as the world is there once.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { runInNewContext } from "node:vm";
import { long } from "../../test/long.ts";
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { R_ERROR, SendMode } from "../core/request/records.ts";
import { setFlagsFor } from "../v8/flags.ts";
import type { SimProcess, Steps } from "./sim-process.ts";
import { World } from "./world.ts";

const nothing = 0 as Pointer;
const ranksOfNode = 16;
/** A fifth more than it is: one byte for each rank, in a table of each process, would be too much. */
const idleBytesMax = 18_000;
/** With the programs of the collectives that were run. */
const usedBytesMax = 22_000;
/** With two barriers of that many processes: programs, and peers that every one of them has met. */
const metBytesMax = 26_000;

/** What lives, in bytes. */
function bytesNow(): number {
  setFlagsFor("collect garbage on demand");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function* end({ engine }: SimProcess, request: RecordId): Steps {
  yield request;
  equal(engine.records.get(request, R_ERROR), ErrorClass.SUCCESS);
  engine.giveBack(request);
}

/** One message goes round; who has had it is idle again. */
function* ring(process: SimProcess): Steps {
  const { core, memory, rank } = process;
  const { world, ranks } = core;
  const [left, right] = [(rank + ranks - 1) % ranks, (rank + 1) % ranks];
  const at = memory.allocate(8);
  const { words } = memory.arena;
  if (rank > 0) yield* end(process, core.startReceive(world, at, 8, left, 1));
  words[at >> 2] = rank === 0 ? 1 : words[at >> 2]! + 1;
  yield* end(process, core.startSend(world, at, 8, right, 1, SendMode.STANDARD));
  if (rank === 0) {
    yield* end(process, core.startReceive(world, at, 8, left, 1));
    equal(words[at >> 2], ranks, "everybody has had it");
  }
  memory.free(at);
}

function* barrier(process: SimProcess, comm: Communicator): Steps {
  yield* end(process, process.core.collectives.startEqual(comm, "barrier", nothing, nothing, {}));
}

interface Sizes {
  readonly idle: number;
  readonly used: number;
}

/** Bytes of each process: of an idle world, and after its program. */
function sizesOf(ranks: number, program: (process: SimProcess) => Steps): Sizes {
  const before = bytesNow();
  const world = new World({ ranks, nodes: ranks / ranksOfNode });
  const idle = (bytesNow() - before) / ranks;
  world.startAll(program);
  deepEqual(world.run(), []);
  const used = (bytesNow() - before) / ranks;
  ok(world.processes.every(({ state }) => state === "finished"));
  // What is as long as the world is there once, not once for each process.
  const [first, second] = world.processes.map(({ core }) => core.world.memberNodes);
  ok(first === second && first?.length === ranks);
  return { idle, used };
}

describe("worlds of many processes", () => {
  it("state grows with use: 4096 processes and a message through all of them", () => {
    const { idle, used } = sizesOf(4096, ring);
    ok(idle < idleBytesMax, `${idle} bytes for each idle process`);
    ok(used < usedBytesMax, `${used} bytes for each process that has received and sent`);
  });

  it(
    "state grows with use: 36 864 processes, a message through all of them and barriers, in less than 8 GB",
    long,
    () => {
      const { idle, used } = sizesOf(36_864, function* (process) {
        yield* ring(process);
        yield* barrier(process, process.core.world);
        yield* end(process, process.core.startFinalBarrier());
      });
      ok(idle < idleBytesMax, `${idle} bytes for each idle process`);
      ok(used < metBytesMax, `${used} bytes for each process that has received and sent`);
      const { rss } = process.memoryUsage();
      ok(rss < 8e9, `${rss} bytes`);
    },
  );
});
