import assert from "node:assert/strict";
import { test } from "node:test";
import { allgathervRing } from "../intra/allgatherv-ring.ts";
import { allreduceRabenseifner } from "../intra/allreduce-rabenseifner.ts";
import { allreduceRecursiveDoubling } from "../intra/allreduce-recursive-doubling.ts";
import { barrierDissemination } from "../intra/barrier-dissemination.ts";
import { CollectiveWorld, type CollectiveWorldOptions, random, rubbish } from "../testing/collective-world.ts";
import { assertBytes, canonical, pattern, ranksOf, reductions } from "../testing/data.ts";
import { checkMatching } from "../testing/matching-sends.ts";
import { equalBlocks, receive, region, send } from "./rounds.ts";
import type { Schedule } from "./schedule.ts";

const peerFailed = 75;
const reduction = reductions[0]!;
const elements = 24;
const bytes = elements * reduction.elementBytes;

/** Starts an allreduce on every rank; the function returned checks the results. */
function startAllreduce(
  world: CollectiveWorld,
  build = allreduceRecursiveDoubling,
  given = { channel: 0, tag: 0, request: 0 },
) {
  const { size } = world;
  const parts = ranksOf(size).map((rank) => reduction.contribution(rank + given.tag, elements));
  const results = ranksOf(size).map(() => rubbish(bytes));
  const start = (rank: number) => {
    const schedule = build({ rank, size, bytes, elementBytes: reduction.elementBytes });
    world.start(rank, given.request, { schedule, send: parts[rank]!, receive: results[rank]!, ...given });
  };
  const check = () => {
    const expected = canonical(parts, reduction.combine);
    for (const result of results) assertBytes(result, expected, `allreduce ${given.tag} on ${given.channel}`);
  };
  return { start, check };
}

test("M3 executor: operations of several communicators, started in different orders, never take each other's messages", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const world = new CollectiveWorld(7, { seed, combine: reduction.combine });
    const draw = random(seed);
    const operations = ranksOf(3).map((channel) =>
      ranksOf(4).map((tag) => {
        const build = tag % 2 === 0 ? allreduceRecursiveDoubling : allreduceRabenseifner;
        return startAllreduce(world, build, { channel, tag, request: channel * 10 + tag });
      }),
    );
    for (const rank of ranksOf(7)) {
      // On one communicator in the same order on every rank, between communicators in any order.
      const next = [0, 0, 0];
      while (next.some((tag) => tag < 4)) {
        const channel = draw(3);
        operations[channel]![next[channel]!++]?.start(rank);
        if (draw(3) === 0) world.settle(draw(20));
      }
    }
    world.settle();
    world.checkClean();
    for (const operation of operations.flat()) operation.check();
    for (const finished of world.finished) assert.equal(finished.size, 12);
  }
});

test("M3 executor: combinations that the program does later", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new CollectiveWorld(6, { seed, combine: reduction.combine, deferReductions: true });
    const { start, check } = startAllreduce(world, allreduceRabenseifner);
    for (const rank of ranksOf(6)) start(rank);
    world.settle();
    world.checkClean();
    check();
  }
});

test("M3 executor: a process captured at any moment goes on from its image", () => {
  for (let steps = 0; steps < 120; steps += 3) {
    for (const deferReductions of [false, true]) {
      const options: CollectiveWorldOptions = { seed: steps + 1, combine: reduction.combine, deferReductions };
      const world = new CollectiveWorld(5, options);
      const { start, check } = startAllreduce(world, allreduceRabenseifner);
      for (const rank of ranksOf(5)) start(rank);
      world.settle(steps);
      for (const rank of ranksOf(5)) world.captureAndRestore(rank);
      world.settle();
      world.checkClean();
      check();
    }
  }
});

test("M3 executor: a restored process starts further operations in free places of its table", () => {
  const world = new CollectiveWorld(2, { combine: reduction.combine });
  const first = startAllreduce(world, allreduceRecursiveDoubling, { channel: 0, tag: 0, request: 0 });
  const second = startAllreduce(world, allreduceRecursiveDoubling, { channel: 0, tag: 1, request: 1 });
  first.start(0);
  second.start(0);
  world.captureAndRestore(0);
  const third = startAllreduce(world, allreduceRecursiveDoubling, { channel: 0, tag: 2, request: 2 });
  third.start(0);
  for (const operation of [first, second, third]) operation.start(1);
  world.settle();
  world.checkClean();
  for (const operation of [first, second, third]) operation.check();
});

test("M3 executor: a failed peer ends the operations that wait for it, once, and no other", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new CollectiveWorld(4, { seed, combine: reduction.combine });
    const { start } = startAllreduce(world);
    // Rank 3 never starts the operation: 2 waits for it, 0 and 1 wait for 2 and 3.
    for (const rank of [0, 1, 2]) start(rank);
    // A pair that does not need rank 3.
    const pair = ranksOf(2).map((rank) => ({ schedule: barrierDissemination({ rank, size: 2 }), channel: 1 }));
    world.start(0, 1, pair[0]!);
    world.settle();
    world.kill(3, peerFailed);
    world.settle();
    assert.equal(world.finished[2]!.get(0), peerFailed);
    assert.equal(world.executors[2]!.active, 0, "the failed operation still holds its messages");
    assert.equal(world.finished[0]!.has(1), false, "an operation failed that has nothing to do with rank 3");
    world.start(1, 1, pair[1]!);
    world.settle();
    assert.equal(world.finished[0]!.get(1), 0);
    assert.equal(world.finished[1]!.get(1), 0);
  }
});

test("M3 executor: scratch memory of a failed operation is kept until its last message has ended", () => {
  const world = new CollectiveWorld(3, { combine: reduction.combine });
  // Rank 0 waits for 1 and 2 in one round, in its scratch space; 1 dies, and the receive from 2 is matched already or cancelled.
  const schedule: Schedule = {
    rounds: [[receive(1, region("scratch", 0, 8)), receive(2, region("scratch", 8, 8))]],
    scratchBytes: 16,
  };
  world.start(0, 0, { schedule });
  world.kill(1, peerFailed);
  world.settle();
  assert.equal(world.finished[0]!.get(0), peerFailed);
  assert.equal(world.executors[0]!.active, 0);
});

test("M3 executor: the next operation may be started when one is over", () => {
  const size = 5;
  let world: CollectiveWorld;
  const start = (rank: number, request: number) =>
    world.start(rank, request, { schedule: barrierDissemination({ rank, size }), tag: request });
  const finished = (rank: number, request: number) => {
    if (request < 9) start(rank, request + 1);
  };
  world = new CollectiveWorld(size, { finished });
  for (const rank of ranksOf(size)) start(rank, 0);
  world.settle();
  world.checkClean();
  for (const finished of world.finished) assert.equal(finished.size, 10);
});

test("M3 executor: an operation without messages is over when it has been started", () => {
  const world = new CollectiveWorld(1);
  const data = pattern(1, 2, 9);
  const result = rubbish(9);
  const schedule = allgathervRing({ rank: 0, size: 1, blocks: equalBlocks(1, 9) });
  world.start(0, 5, { schedule, send: data, receive: result });
  assert.equal(world.finished[0]!.get(5), 0);
  assert.equal(world.executors[0]!.active, 0);
  assertBytes(result, data, "copy");
});

test("M3 matching: schedules that do not fit together are found", () => {
  const one = (...steps: Schedule["rounds"][number]): Schedule => ({ rounds: [steps], scratchBytes: 16 });
  const eight = region("scratch", 0, 8);
  const four = region("scratch", 0, 4);
  checkMatching([one(send(1, eight), send(1, four)), one(receive(0, eight), receive(0, four))]);
  const swapped = [one(send(1, eight), send(1, four)), one(receive(0, four), receive(0, eight))];
  assert.throws(() => checkMatching(swapped), /messages from 0 to 1 have lengths 8,4, receives 4,8/);
  assert.throws(() => checkMatching([one(send(1, eight)), { rounds: [], scratchBytes: 0 }]), /from 0 to 1/);
  assert.throws(() => checkMatching([one(send(0, eight))]), /names 0 as its peer/);
  assert.throws(
    () => checkMatching([one(send(1, region("scratch", 9, 8))), one(receive(0, eight))]),
    /a step is wrong/,
  );
});
