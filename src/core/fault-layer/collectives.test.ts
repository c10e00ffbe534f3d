/** Blocking collectives, and repairs by them, under the layer. Rows U5 and U6: sections 5.3.2, 5.3.7 and 5.3.8 of the thesis. */
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { LayeredRank } from "../../sim/fault-layer/layered-rank.ts";
import { runLayered } from "../../sim/fault-layer/layered-world.ts";
import type { Steps } from "../../sim/sim-process.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { Split } from "../process/communicators/split.ts";
import { inManyWorlds } from "./testing/many-worlds.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;

describe("U5 §5.3.2: the dead are known to all members before a blocking collective", () => {
  test("case 1, Figure 5.6: nobody is dead, and the collective is carried out", () => {
    inManyWorlds(7, function* (rank) {
      const { world } = rank;
      equal(yield* rank.barrier(world), 0);
      deepEqual(yield* rank.sum(world, [rank.rank, 1]), { error: 0, words: [21, 7] });
      const sent = rank.rank === 5 ? [8, 9] : [0, 0];
      deepEqual(yield* rank.broadcast(world, 5, sent), { error: 0, words: [8, 9] });
      const half = yield* rank.split(world, rank.rank % 2);
      deepEqual((yield* rank.sum(half!, [1])).words, [rank.rank % 2 === 0 ? 4 : 3]);
      yield* rank.finalize();
    });
  });

  for (const dead of [[3], [1, 4, 5], [0], [0, 6], [0, 1, 2, 3, 4, 5]]) {
    test(`case 2, Figure 5.7: ${dead} dead: everybody else gets PROC_FAILED, and knows them`, () => {
      inManyWorlds(7, function* (rank) {
        const { world } = rank;
        equal(yield* rank.barrier(world), 0);
        if (dead.includes(rank.rank)) return yield* rank.die();
        equal((yield* rank.sum(world, [1])).error, PROC_FAILED);
        deepEqual(rank.operations.failedOf(world).worldRanks().sort(), dead);
        equal(yield* rank.barrier(world), PROC_FAILED);
        equal(yield* rank.split(world, 0), null);
        return yield* rank.finalize();
      });
    });
  }

  test("Figure 5.1: one dies while another is in the barrier already", () => {
    inManyWorlds(4, function* (rank) {
      if (rank.rank === 3) {
        yield rank.process.compute(800_000);
        return yield* rank.die();
      }
      equal(yield* rank.barrier(rank.world), PROC_FAILED);
      return yield* rank.finalize();
    });
  });

  test("Figure 5.2: two dead members of two communicators that overlap, with collectives in both at once", () => {
    inManyWorlds(6, (rank) => overlapping(rank));
  });

  /** {0, 1, 2, 3} and {2, 3, 4, 5} (its steps: test/scenarios/fault-layer/figure-5-2.txt): those that die are members of both, and one of them is the root of the second. */
  function* overlapping(rank: LayeredRank): Steps {
    const { world } = rank;
    const one = yield* rank.split(world, rank.rank < 4 ? 0 : 1);
    const other = yield* rank.split(world, rank.rank >= 2 ? 0 : 1);
    if (rank.rank === 2 || rank.rank === 3) return yield* rank.die();
    const mine = rank.rank < 2 ? one! : other!;
    deepEqual((yield* rank.broadcast(mine, 0, [1])).error, PROC_FAILED);
    equal(yield* rank.barrier(mine), PROC_FAILED);
    return yield* rank.finalize();
  }
});

test("U6 §5.3.7: MPI_Finalize ends all, also where nobody lives", () => {
  inManyWorlds(5, function* (rank) {
    if (rank.rank % 2 === 0) return yield* rank.die();
    return yield* rank.finalize();
  });
  inManyWorlds(4, function* (rank) {
    yield* rank.split(rank.world, rank.rank % 2);
    yield* rank.die();
  });
});

for (const dying of [0, 3, 6]) {
  test(`U6 §5.3.7: rank ${dying} dies while it waits in the making of a communicator: all have it, and it ends with all of them`, () => {
    inManyWorlds(8, function* (rank) {
      const split = new Split(rank.world, rank.rank % 2, rank.rank);
      if (rank.rank === dying) {
        // It has reported when it dies, long before the others come.
        rank.operations.startTask(split);
        yield rank.process.compute(1_000);
        return yield* rank.die();
      }
      yield rank.process.compute(2_000_000);
      const { error, result } = yield* rank.task(split);
      equal(error, 0);
      const isBroken = rank.rank % 2 === dying % 2;
      equal(yield* rank.barrier(result!), isBroken ? PROC_FAILED : 0);
      return yield* rank.finalize();
    });
  });
}

test("U6 §5.3.8.1, Figure 5.10: four dead, the root among them; the other two go on, and the new communicator works (Test 9)", () => {
  inManyWorlds(6, function* (rank) {
    const { world } = rank;
    if (![1, 4].includes(rank.rank)) return yield* rank.die();
    const survivors = yield* rank.shrink(world);
    deepEqual(survivors?.group.worldRanks(), [1, 4]);
    deepEqual(yield* rank.broadcast(survivors!, 1, rank.rank === 4 ? [77] : [0]), { error: 0, words: [77] });
    deepEqual((yield* rank.sum(survivors!, [rank.rank])).words, [5]);
    const again = yield* rank.shrink(survivors!);
    deepEqual(again?.group.worldRanks(), [1, 4]);
    notEqual(again!.context, survivors!.context);
    return yield* rank.finalize();
  });
});

test("U3 §5.3.8.2: agree is the AND of those that live; PROC_FAILED at all until all have acknowledged the dead", () => {
  inManyWorlds(5, function* (rank) {
    const { world } = rank;
    deepEqual((yield* rank.agree(world, ~(1 << rank.rank))).flags, ~31);
    if (rank.rank === 2) return yield* rank.die();
    const flags = rank.rank === 4 ? 0b101 : 0b111;
    const first = yield* rank.agree(world, flags);
    deepEqual([first.flags, first.error], [0b101, PROC_FAILED]);
    if (rank.rank !== 3) rank.acknowledgeAll(world);
    equal((yield* rank.agree(world, 1)).error, PROC_FAILED, "rank 3 has not acknowledged");
    if (rank.rank === 3) rank.acknowledgeAll(world);
    const last = yield* rank.agree(world, flags);
    deepEqual([last.flags, last.error], [0b101, 0]);
    return yield* rank.finalize();
  });
});

describe("U6 §5.3.8.3: revocation", () => {
  test("whatever the others are in ends, and all of them agree and shrink (Test 10)", () => {
    inManyWorlds(6, function* (rank) {
      const { world } = rank;
      if (rank.rank === 4) {
        yield rank.process.compute(300_000);
        rank.operations.revoke(world);
      }
      // Different calls, none of which could end: the revoking rank comes to none of them.
      const calls = [
        () => rank.barrier(world),
        () => rank.receive(world, 4, 3, 1),
        () => rank.sum(world, [1]),
        () => rank.receive(world, 4, 3, 1),
        () => rank.barrier(world),
        () => rank.barrier(world),
      ];
      const outcome = yield* calls[rank.rank]!();
      equal(typeof outcome === "number" ? outcome : outcome.error, REVOKED);
      equal(yield* rank.send(world, 0, 3, [1]), REVOKED);
      equal(yield* rank.barrier(world), REVOKED);
      equal(yield* rank.split(world, 0), null);
      const { flags, error } = yield* rank.agree(world, 1 << rank.rank);
      deepEqual([flags, error], [0, 0]);
      const copy = yield* rank.shrink(world);
      deepEqual((yield* rank.sum(copy!, [1])).words, [6]);
      yield* rank.finalize();
    });
  });

  test("a member that agrees before it hears of it moves to the new tags", () => {
    inManyWorlds(5, function* (rank) {
      const { world } = rank;
      if (rank.rank === 0) {
        yield rank.process.compute(200_000);
        rank.operations.revoke(world);
        yield rank.process.compute(200_000);
      }
      equal((yield* rank.agree(world, rank.rank)).flags, 0);
      yield* rank.finalize();
    });
  });

  test("several revoke at once, the root is dead", () => {
    inManyWorlds(6, function* (rank) {
      const { world } = rank;
      if (rank.rank === 0) return yield* rank.die();
      if (rank.rank % 2 === 0) rank.operations.revoke(world);
      const error = yield* rank.barrier(world);
      equal(error === REVOKED || error === PROC_FAILED, true);
      rank.operations.revoke(world);
      const survivors = yield* rank.shrink(world);
      deepEqual((yield* rank.sum(survivors!, [1])).words, [5]);
      return yield* rank.finalize();
    });
  });
});

test("U3: revoke, shrink, agree and acknowledgements are the layer's own: the base hears of no death and no revocation", () => {
  inManyWorlds(
    5,
    function* (rank) {
      const { world, operations } = rank;
      if (rank.rank === 3) return yield* rank.die();
      equal(yield* rank.barrier(world), PROC_FAILED);
      rank.acknowledgeAll(world);
      equal((yield* rank.agree(world, 6)).flags, 6);
      operations.revoke(world);
      equal(yield* rank.barrier(world), REVOKED);
      const survivors = yield* rank.shrink(world);
      equal((yield* rank.sum(survivors!, [1])).words[0], 4);
      return yield* rank.finalize();
    },
    ({ world }) => {
      for (const { core } of world.processes) {
        const { failures, revocations, agreements } = core;
        const known = [failures.count, revocations.count, agreements.has(core.world.context), core.world.isRevoked];
        deepEqual(known, [0, 0, false, false]);
      }
    },
  );
});

test("U6: a member that has seen the death in a message agrees while the others are in a collective", () => {
  inManyWorlds(4, function* (rank) {
    const { world } = rank;
    if (rank.rank === 3) return yield* rank.die();
    if (rank.rank === 0) equal((yield* rank.receive(world, 3, 1, 1)).error, PROC_FAILED);
    else equal(yield* rank.barrier(world), PROC_FAILED);
    equal((yield* rank.agree(world, rank.rank === 0 ? 0 : 1)).flags, 0);
    return yield* rank.finalize();
  });
});

test("members that call different things, with nobody dead, hear that they are wrong", () => {
  const { stuck } = runLayered({ ranks: 2 }, function* (rank) {
    if (rank.rank === 0) equal(yield* rank.barrier(rank.world), ErrorClass.OTHER);
    equal((yield* rank.agree(rank.world, 3)).flags, 3);
    yield* rank.finalize();
  });
  deepEqual(stuck, []);
});
