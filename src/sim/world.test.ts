import { deepEqual, equal, match, notDeepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { long } from "../../test/long.ts";
import type { Pointer } from "../core/base/brand.ts";
import { ANY_SOURCE } from "../core/base/constants.ts";
import { R_ERROR, R_STATUS_SOURCE, SendMode } from "../core/request/records.ts";
import type { SimProcess } from "./sim-process.ts";
import { World } from "./world.ts";

const nothing = 0 as Pointer;
const context = 2;

/** Sends and receives words one after the other, blocking. */
function* send(process: SimProcess, to: number, value: number) {
  const buffer = process.memory.allocate(4);
  process.memory.arena.words[buffer >> 2] = value;
  const request = process.engine.startSend(buffer, 4, to, 0, context, SendMode.STANDARD);
  yield request;
  process.engine.giveBack(request);
  process.memory.free(buffer);
}

function* receive(process: SimProcess, source: number) {
  const buffer = process.memory.allocate(4);
  const request = process.engine.startReceive(buffer, 4, source, 0, context);
  yield request;
  const value = process.memory.arena.words[buffer >> 2]!;
  const from = process.engine.records.get(request, R_STATUS_SOURCE);
  process.engine.giveBack(request);
  process.memory.free(buffer);
  return { value, from };
}

describe("a simulated world", () => {
  it("runs programs written as generators; time is what messages and computing cost", () => {
    const world = new World({ ranks: 2, nodes: 2, cost: { jitterNs: 0, latencyBetweenNs: 5_000, wakeNs: 0 } });
    const seen: number[] = [];
    world.start(0, function* (process) {
      yield process.compute(1_000);
      yield* send(process, 1, 42);
    });
    world.start(1, function* (process) {
      const { value } = yield* receive(process, 0);
      seen.push(value, world.nowNs);
    });
    deepEqual(world.run(), []);
    equal(seen[0], 42);
    ok(seen[1]! >= 6_000 && seen[1]! < 6_100, `at ${seen[1]} ns`);
  });

  it("moves messages of a process that naps, and none of one that computes", () => {
    const bytes = 1 << 17;
    const receivedNs = (rests: "nap" | "compute"): number => {
      const world = new World({ ranks: 2, nodes: 2 });
      let atNs = 0;
      world.start(0, function* (process) {
        const request = process.engine.startSend(
          process.memory.allocate(bytes),
          bytes,
          1,
          0,
          context,
          SendMode.STANDARD,
        );
        yield rests === "nap" ? process.nap("a while", 50_000_000) : process.compute(50_000_000);
        yield request;
      });
      world.start(1, function* (process) {
        yield process.engine.startReceive(process.memory.allocate(bytes), bytes, 0, 0, context);
        atNs = world.nowNs;
      });
      deepEqual(world.run(), []);
      ok(world.nowNs >= 50_000_000);
      return atNs;
    };
    ok(receivedNs("nap") < 50_000_000);
    ok(receivedNs("compute") > 50_000_000);
  });

  it("keeps the order inside a channel, and only there", () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World({ ranks: 3, nodes: 3, seed, cost: { jitterNs: 50_000 } });
      const seen: number[] = [];
      for (const rank of [1, 2]) {
        world.start(rank, function* (process) {
          for (let i = 0; i < 5; i++) yield* send(process, 0, 10 * rank + i);
        });
      }
      world.start(0, function* (process) {
        for (let i = 0; i < 10; i++) seen.push((yield* receive(process, ANY_SOURCE)).value);
      });
      deepEqual(world.run(), []);
      for (const rank of [1, 2]) {
        deepEqual(
          seen.filter((value) => Math.floor(value / 10) === rank),
          [0, 1, 2, 3, 4].map((i) => 10 * rank + i),
        );
      }
      orders.add(seen.join());
    }
    ok(orders.size > 5, `${orders.size} different orders in 20 seeds`);
  });

  it("a process that has finished can run another program, and waits for what that one says", () => {
    const world = new World({ ranks: 1 });
    let asked = 0;
    world.start(0, function* (process) {
      yield process.until("something", () => ++asked > 0);
    });
    deepEqual(world.run(), []);
    let isRun = false;
    world.start(0, function* (process) {
      isRun = true;
      yield process.compute(1);
    });
    deepEqual(world.run(), []);
    deepEqual([isRun, asked], [true, 1]);
  });

  it("says who waits for what when it is stuck", () => {
    const world = new World({ ranks: 2 });
    world.start(0, function* (process) {
      yield* receive(process, 1);
    });
    world.start(1, function* () {});
    const [stuck, ...more] = world.run();
    deepEqual(more, []);
    equal(stuck!.rank, 0);
    match(stuck!.waitsFor, /^receive from rank 1, tag 0, context 2, up to 4 bytes \(posted\)$/);
  });

  it("the same seed gives the same run, another seed another", () => {
    const run = (seed: number): string[] => {
      const lines: string[] = [];
      const world = new World({ ranks: 5, nodes: 2, seed, listener: (line) => lines.push(line) });
      world.startAll(function* (process) {
        for (let i = 0; i < 3; i++) {
          for (let to = 0; to < 5; to++) yield* send(process, to, i);
          for (let from = 0; from < 5; from++) yield* receive(process, from);
        }
      });
      deepEqual(world.run(), []);
      return [...lines, world.trace.hash];
    };
    deepEqual(run(1), run(1));
    notDeepEqual(run(1), run(2));
  });

  it("a crashed process does nothing any more, and the others hear of it in one order", () => {
    const lines: string[] = [];
    const world = new World({
      ranks: 5,
      nodes: 5,
      cost: { detectionNs: 10_000, jitterNs: 10_000 },
      listener: (line) => lines.push(line),
    });
    let ran = false;
    for (const rank of [0, 1, 2]) {
      world.start(rank, function* ({ engine, until }) {
        yield until("both deaths", () => engine.peers.hasFailed(3) && engine.peers.hasFailed(4));
      });
    }
    world.start(3, function* (process) {
      yield process.compute(1_000_000);
      ran = true;
    });
    world.planCrash(500, 4);
    world.planCrash(501, 3);
    deepEqual(world.run(), []);
    equal(ran, false);
    const notices = lines.filter((line) => line.includes("notice")).map((line) => line.trim().split(/ +/).slice(2));
    for (const rank of ["0", "1", "2"]) {
      deepEqual(
        notices.filter(([who]) => who === rank).map(([, dead]) => dead),
        ["4", "3"],
      );
    }
  });

  it("a node takes all its processes with it", () => {
    const world = new World({ ranks: 6, nodes: 3 });
    world.planNodeCrash(10, 1);
    deepEqual(world.run(), []);
    deepEqual(
      world.processes.filter(({ state }) => state === "dead").map(({ rank }) => rank),
      [2, 3],
    );
  });

  it("what was in flight at a crash arrives up to some packet of each channel, or as the model says", () => {
    for (const [inFlightAtCrash, least, most] of [
      ["delivered", 20, 20],
      ["lost", 0, 0],
      ["either", 0, 20],
    ] as const) {
      const counts = new Set<number>();
      for (let seed = 1; seed <= 10; seed++) {
        const world = new World({ ranks: 2, nodes: 2, seed, cost: { inFlightAtCrash } });
        const { engine } = world.processes[0]!;
        for (let i = 0; i < 20; i++) engine.sendNow(nothing, 0, 1, i, context);
        world.planCrash(1, 0);
        deepEqual(world.run(), []);
        let arrived = 0;
        while (world.processes[1]!.engine.probe(0, arrived, context) >= 0) arrived++;
        equal(world.processes[1]!.engine.unexpected.count, arrived, "the first ones, without a gap");
        ok(arrived >= least && arrived <= most);
        counts.add(arrived);
        equal(world.network.packetsInFlight, 0);
      }
      equal(counts.size > 1, inFlightAtCrash === "either");
    }
  });

  it("4096 processes exchange in 12 rounds, in one thread, in seconds and with little memory", long, () => {
    const ranks = 4096;
    const world = new World({ ranks, nodes: 64 });
    let errors = 0;
    world.startAll(function* ({ rank, engine }) {
      for (let distance = 1; distance < ranks; distance *= 2) {
        const requests = [
          engine.startReceive(nothing, 0, (rank + ranks - distance) % ranks, 0, context),
          engine.startSend(nothing, 0, (rank + distance) % ranks, 0, context, SendMode.STANDARD),
        ];
        for (const request of requests) {
          yield request;
          errors += engine.records.get(request, R_ERROR);
          engine.giveBack(request);
        }
      }
    });
    deepEqual(world.run(), []);
    equal(errors, 0);
    equal(world.network.packetsSent, 12 * ranks);
    equal(
      world.processes.every(({ state }) => state === "finished"),
      true,
    );
  });
});
