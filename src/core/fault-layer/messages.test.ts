/** Messages under the layer, in simulated worlds. Row U4: sections 5.2.1, 5.3.1, 5.3.3, 5.3.9 of the thesis. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { runLayered } from "../../sim/fault-layer/layered-world.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { SendMode } from "../request/records.ts";
import { inManyWorlds } from "./testing/many-worlds.ts";

const { PROC_FAILED, PROC_FAILED_PENDING } = ErrorClass;

const message = (length: number, first: number): number[] => Array.from({ length }, (_, i) => first + i);

test("U4 §5.2.1 case 1: a message between the living arrives as it was sent, short or long", () => {
  inManyWorlds(2, function* (rank) {
    for (const length of [1, 40, 3_000]) {
      if (rank.rank === 0) equal(yield* rank.send(rank.world, 1, 3, message(length, 7)), 0);
      else deepEqual((yield* rank.receive(rank.world, 0, 3, length)).words, message(length, 7));
    }
    yield* rank.finalize();
  });
});

test("U4 §5.2.1 case 2 and 3: a send to the dead and a receive from it end with PROC_FAILED", () => {
  inManyWorlds(3, function* (rank) {
    if (rank.rank === 2) return yield* rank.die();
    if (rank.rank === 0) {
      yield rank.process.compute(3_000_000);
      equal(yield* rank.send(rank.world, 2, 3, message(40, 1)), PROC_FAILED);
      equal(yield* rank.send(rank.world, 2, 3, message(3_000, 1)), PROC_FAILED);
    } else equal((yield* rank.receive(rank.world, 2, 3, 40)).error, PROC_FAILED);
    return yield* rank.finalize();
  });
});

test("U4: a standard send of a few words is over before its receive is there; the receiver's layer answers from other calls", () => {
  const order: string[] = [];
  const { stuck } = runLayered({ ranks: 3 }, function* (rank) {
    if (rank.rank === 0) {
      yield* rank.send(rank.world, 1, 3, [5]);
      order.push("sent");
      yield* rank.send(rank.world, 2, 3, [6]);
    } else if (rank.rank === 1) {
      // It waits for somebody else's message first, which comes only after the send is over.
      yield* rank.receive(rank.world, 2, 4, 1);
      yield* rank.receive(rank.world, 0, 3, 1);
      order.push("received");
    } else {
      yield* rank.receive(rank.world, 0, 3, 1);
      yield* rank.send(rank.world, 1, 4, [7]);
    }
    yield* rank.finalize();
  });
  deepEqual(stuck, []);
  deepEqual(order, ["sent", "received"]);
});

test("U4 §5.3.1: what the dead sent in life is received, in any world; then PROC_FAILED", () => {
  inManyWorlds(3, function* (rank) {
    const { world } = rank;
    if (rank.rank === 1) {
      const [short, long] = [rank.put(message(10, 1)), rank.put(message(2_000, 2))];
      const requests = [
        rank.isend(world, 0, 1, short, 10, SendMode.STANDARD),
        rank.isend(world, 0, 2, long, 2_000, SendMode.STANDARD),
      ];
      rank.operations.layer.die();
      const { layer } = rank.operations;
      yield rank.process.until("the end of all, dead", () => layer.isOver);
      for (const request of requests) rank.operations.end(request);
      for (const at of [short, long]) rank.process.memory.free(at);
      return;
    }
    if (rank.rank === 0) {
      const first = yield* rank.receive(world, 1, 2, 2_000);
      deepEqual(first.words, message(2_000, 2));
      deepEqual((yield* rank.receive(world, 1, 1, 10)).words, message(10, 1));
      equal((yield* rank.receive(world, 1, 1, 10)).error, PROC_FAILED);
    }
    yield* rank.finalize();
  });
});

test("U4 Figure 5.5: blocking and non-blocking messages with different tags do not take each other's answers", () => {
  inManyWorlds(2, function* (rank) {
    const { world } = rank;
    if (rank.rank === 0) {
      const at = rank.put([1]);
      const request = rank.isend(world, 1, 1, at, 1, SendMode.SYNCHRONOUS);
      equal(yield* rank.send(world, 1, 2, [2]), 0);
      equal(yield* rank.end(request), 0);
      rank.take(at, 1);
    } else {
      deepEqual((yield* rank.receive(world, 0, 2, 1)).words, [2]);
      deepEqual((yield* rank.receive(world, 0, 1, 1)).words, [1]);
    }
    yield* rank.finalize();
  });
});

test("U6 §5.3.3: a synchronous send that nobody receives fails when its receiver dies, and the dead receives it by command", () => {
  inManyWorlds(
    2,
    function* (rank) {
      if (rank.rank === 1) {
        yield rank.process.compute(500_000);
        return yield* rank.die();
      }
      equal(yield* rank.send(rank.world, 1, 3, message(3_000, 1), SendMode.SYNCHRONOUS), PROC_FAILED);
      return yield* rank.finalize();
    },
    ({ said }) => equal(said.includes("0 -> 1 RECEIVE 2"), true),
  );
});

test("U4 §5.2.1 case 4 and 5: a receive from anybody stands still at a death, until it is acknowledged", () => {
  inManyWorlds(3, function* (rank) {
    const { world, operations, process } = rank;
    if (rank.rank === 2) return yield* rank.die();
    if (rank.rank === 1) {
      yield* rank.receive(world, 0, 9, 1);
      equal(yield* rank.send(world, 0, 3, [5]), 0);
      return yield* rank.finalize();
    }
    const at = rank.put([0]);
    const request = operations.startReceive(world, at, 4, ANY_SOURCE, 3);
    yield process.until("the pending receive", () => operations.isComplete(request));
    equal(operations.errorOf(request), PROC_FAILED_PENDING);
    equal(operations.isStalled(request), true);
    equal(operations.probeError(world, ANY_SOURCE), PROC_FAILED_PENDING);
    deepEqual(operations.acknowledgedOf(world).worldRanks(), []);
    rank.acknowledgeAll(world);
    deepEqual(operations.acknowledgedOf(world).worldRanks(), [2]);
    equal(operations.isComplete(request), false);
    yield* rank.send(world, 1, 9, [0]);
    equal(yield* rank.end(request), 0);
    deepEqual(rank.take(at, 1), [5]);
    return yield* rank.finalize();
  });
});

test("U4 §5.3.9: a probe finds the length of a message, and says PROC_FAILED of the dead", () => {
  inManyWorlds(3, function* (rank) {
    const { world, operations, process } = rank;
    if (rank.rank === 2) return yield* rank.die();
    if (rank.rank === 1) yield* rank.send(world, 0, 3, message(70, 1));
    else {
      let envelope = -1 as RecordId;
      yield process.until("a probe", () => {
        envelope = operations.probe(world, 1, ANY_TAG);
        return envelope >= 0;
      });
      const outcome = { source: 0, tag: 0, bytes: 0, error: 0, cancelled: false };
      operations.readEnvelope(world, envelope, outcome);
      deepEqual([outcome.source, outcome.tag, outcome.bytes], [1, 3, 280]);
      deepEqual((yield* rank.receive(world, 1, 3, 70)).words, message(70, 1));
      yield process.until("a probe of the dead", () => {
        equal(operations.probe(world, 2, 3), -1);
        return operations.probeError(world, 2) === PROC_FAILED;
      });
    }
    return yield* rank.finalize();
  });
});
