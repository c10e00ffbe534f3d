/** Calls that only some members of a communicator make, with the dead among them: nobody waits for ever. Rows U5 and U6. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { LayeredRank } from "../../sim/fault-layer/layered-rank.ts";
import type { Steps } from "../../sim/sim-process.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { Group } from "../comm/group.ts";
import type { Communicator } from "../process/communicator.ts";
import { CreateGroup } from "../process/communicators/create-group.ts";
import { CreateInter } from "../process/communicators/create-inter.ts";
import { CreateInterFromGroups } from "../process/communicators/create-inter-from-groups.ts";
import type { NewCommunicator } from "../process/communicators/new-communicator.ts";
import { inManyWorlds } from "./testing/many-worlds.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;

function* created(rank: LayeredRank, members: readonly number[], tag = 1): Steps<NewCommunicator> {
  return yield* rank.task(new CreateGroup(rank.world, Group.of(members), tag, rank.process.core));
}

/** The even and the odd ranks, each led by its first; the leaders meet in the world. */
function* between(rank: LayeredRank, half: Communicator): Steps<NewCommunicator> {
  const other = rank.rank % 2 === 0 ? 1 : 0;
  return yield* rank.task(new CreateInter(half, 0, rank.world, other, 7));
}

describe("U5: MPI_Comm_create_group under the layer", () => {
  const members = [1, 2, 3, 5, 6, 7];

  test("all live: they have their communicator, several times, and others beside it", () => {
    inManyWorlds(8, function* (rank) {
      for (let time = 0; time < 3; time++) {
        if (members.includes(rank.rank)) {
          const { result } = yield* created(rank, members);
          deepEqual((yield* rank.sum(result!, [rank.rank])).words, [24]);
          rank.operations.freeCommunicator(result!);
        }
        const pair = [rank.rank & ~1, rank.rank | 1];
        const { result } = yield* created(rank, pair);
        deepEqual((yield* rank.sum(result!, [1])).words, [2]);
        rank.operations.freeCommunicator(result!);
      }
      yield* rank.finalize();
    });
  });

  for (const dead of [[1], [3], [7], [1, 2], [2, 5, 6], [1, 3, 5, 6, 7]]) {
    test(`${dead} dead before the call: PROC_FAILED at all others`, () => {
      inManyWorlds(8, function* (rank) {
        if (dead.includes(rank.rank)) return yield* rank.die();
        if (members.includes(rank.rank)) equal((yield* created(rank, members)).error, PROC_FAILED);
        return yield* rank.finalize();
      });
    });
  }

  test("one dies while the others wait; whoever hears of it elsewhere does not come, and nobody waits for him", () => {
    for (const absent of members.filter((each) => each !== 3)) {
      inManyWorlds(8, function* (rank) {
        if (rank.rank === 3) {
          yield rank.process.compute(900_000);
          return yield* rank.die();
        }
        if (rank.rank === absent) equal((yield* rank.receive(rank.world, 3, 9, 1)).error, PROC_FAILED);
        else if (members.includes(rank.rank)) equal((yield* created(rank, members)).error, PROC_FAILED);
        const survivors = yield* rank.shrink(rank.world);
        deepEqual((yield* rank.sum(survivors!, [1])).words, [7]);
        return yield* rank.finalize();
      });
    }
  });

  test("one dies as soon as it has the communicator: all have it", () => {
    inManyWorlds(6, function* (rank) {
      const { result, error } = yield* created(rank, [0, 1, 2, 3, 4, 5]);
      equal(error, 0);
      if (rank.rank === 4) return yield* rank.die();
      equal(yield* rank.barrier(result!), PROC_FAILED);
      return yield* rank.finalize();
    });
  });

  test("the communicator is revoked by one that does not come", () => {
    inManyWorlds(6, function* (rank) {
      if (rank.rank === 2) {
        yield rank.process.compute(500_000);
        rank.operations.revoke(rank.world);
      } else equal((yield* created(rank, [0, 1, 2, 3, 4, 5])).error, REVOKED);
      yield* rank.finalize();
    });
  });
});

describe("U5: MPI_Intercomm_create under the layer", () => {
  test("all live", () => {
    inManyWorlds(6, function* (rank) {
      const half = (yield* rank.split(rank.world, rank.rank % 2))!;
      const { result } = yield* between(rank, half);
      equal(result!.remote!.size, 3);
      equal(yield* rank.barrier(result!), 0);
      yield* rank.finalize();
    });
  });

  for (const [what, dead] of [
    ["a leader", 1],
    ["a member that leads nothing", 3],
  ] as const) {
    test(`${what} is dead: PROC_FAILED on both sides`, () => {
      inManyWorlds(6, function* (rank) {
        const half = (yield* rank.split(rank.world, rank.rank % 2))!;
        if (rank.rank === dead) return yield* rank.die();
        equal((yield* between(rank, half)).error, PROC_FAILED);
        return yield* rank.finalize();
      });
    });
  }

  for (const dead of [[2, 3], [0, 1], [0, 3], [1, 2], [3], [2, 4, 5]]) {
    test(`${dead} dead, on both sides or one: PROC_FAILED at all; both shrink, and have it at the next attempt`, () => {
      inManyWorlds(8, function* (rank) {
        const half = (yield* rank.split(rank.world, rank.rank % 2))!;
        if (dead.includes(rank.rank)) {
          yield rank.process.compute((rank.rank * 700_000) % 1_100_000);
          return yield* rank.die();
        }
        equal((yield* between(rank, half)).error, PROC_FAILED);
        const left = (yield* rank.shrink(half))!;
        const living = rank.world.group.worldRanks().filter((each) => !dead.includes(each));
        const other = living.find((each) => each % 2 !== rank.rank % 2)!;
        for (let time = 0; time < 2; time++) {
          const task = yield* rank.task(new CreateInter(left, 0, rank.world, other, 7));
          equal(task.error, 0);
          const members = living.filter((each) => each % 2 !== rank.rank % 2);
          deepEqual(task.result!.remote!.worldRanks(), members);
          equal(yield* rank.barrier(task.result!), 0);
        }
        return yield* rank.finalize();
      });
    });
  }

  test("the other leader dies while this side waits for its words", () => {
    inManyWorlds(6, function* (rank) {
      const half = (yield* rank.split(rank.world, rank.rank % 2))!;
      if (rank.rank === 1) {
        yield rank.process.compute(2_000_000);
        return yield* rank.die();
      }
      // The odd ones never come to it.
      if (rank.rank % 2 === 0) equal((yield* between(rank, half)).error, PROC_FAILED);
      return yield* rank.finalize();
    });
  });

  test("of groups, without a communicator: one of them has a dead member", () => {
    inManyWorlds(6, function* (rank) {
      const { core } = rank.process;
      const isOdd = rank.rank % 2 === 1;
      if (rank.rank === 5) return yield* rank.die();
      const group = Group.of(isOdd ? [1, 3, 5] : [0, 2, 4]);
      const other = { kind: "leader", rank: isOdd ? 0 : 1 } as const;
      const task = new CreateInterFromGroups(group, 0, rank.rank < 2 ? other : null, 3, core);
      equal((yield* rank.task(task)).error, PROC_FAILED);
      return yield* rank.finalize();
    });
  });
});
