/** Blocking collectives that are their own synchronisation, with deaths and revocations around them. Rows U5 and U6; ADR 58. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import type { LayeredRank } from "../../sim/fault-layer/layered-rank.ts";
import { type LayeredOutcome, type LayeredProgram, runLayered } from "../../sim/fault-layer/layered-world.ts";
import { mixed } from "../../sim/script/mixed-number.ts";
import type { Steps } from "../../sim/sim-process.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { equalBlocks } from "../coll/engine/rounds.ts";
import { Duplicate } from "../process/new-communicators.ts";
import { backgroundWays } from "./background-way.ts";
import { inManyWorlds } from "./testing/many-worlds.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;
const ranks = 6;
/** Purposes of reports that are no collective's: to free, to shrink, to agree. */
const otherPurposes = ["2", "4", "8"];

const reportsOfCollectives = ({ said }: LayeredOutcome): string[] =>
  said.filter((line) => / REPORT /.test(line) && !otherPurposes.includes(line.split(" ")[5]!));

/** Members that are slow in different places under each seed; every message takes its own time. */
function underSeeds(program: (seed: number) => LayeredProgram, check: (seed: number) => void): void {
  for (let seed = 1; seed <= tries(12, 600); seed++) {
    const background = backgroundWays[seed % 2]!;
    const cost = { jitterNs: seed % 3 === 0 ? 0 : 60_000, eagerBytesMax: seed % 4 === 0 ? 0 : 4_096 };
    const { stuck, left } = runLayered({ ranks, seed, cost, background, fanOut: 1 + (seed % 3) }, program(seed));
    deepEqual({ stuck, left }, { stuck: [], left: [] }, `seed ${seed}`);
    check(seed);
  }
}

/** Sums, each right, until one fails: how many went well, and the error. */
function* sumUntil(rank: LayeredRank, seed: number, isLeft: (step: number) => boolean): Steps<[number, number]> {
  for (let step = 0; ; step++) {
    yield rank.process.compute(mixed(seed, step, rank.rank) % 40_000);
    if (isLeft(step)) return [step, 0];
    const { error, words } = yield* rank.sum(rank.world, [rank.rank, step]);
    if (error !== 0) return [step, error];
    deepEqual(words, [15, ranks * step], `seed ${seed}, step ${step}, rank ${rank.rank}`);
  }
}

describe("U5: a collective whose result is made of all members' is its own synchronisation", () => {
  test("between nodes nobody reports for it, and barriers and broadcasts are reported for", () => {
    const outcome = runLayered({ ranks }, function* (rank) {
      for (let i = 0; i < 10; i++) deepEqual((yield* rank.sum(rank.world, [rank.rank, i])).words, [15, 6 * i]);
      const [one, all] = [rank.put([rank.rank]), rank.put([0, 0, 0, 0, 0, 0])];
      equal(yield* rank.end(rank.equal(rank.world, "allgather", one, all, { bytes: 4, form: "blocking" })), 0);
      deepEqual(rank.take(all, ranks), [0, 1, 2, 3, 4, 5]);
      rank.take(one, 1);
      yield* rank.finalize();
    });
    deepEqual(reportsOfCollectives(outcome), []);
    const others = runLayered({ ranks }, function* (rank) {
      equal(yield* rank.barrier(rank.world), 0);
      deepEqual((yield* rank.broadcast(rank.world, 1, [rank.rank])).words, [1]);
      // Nothing is sent where there is nothing to sum.
      equal((yield* rank.sum(rank.world, [])).error, 0);
      yield* rank.finalize();
    });
    equal(reportsOfCollectives(others).length, 3 * (ranks - 1));
  });

  test("U5 §5.2.2: whoever dies between two of them, the last one went well at all members or at none", () => {
    let reached: number[] = [];
    underSeeds(
      (seed) => {
        reached = [];
        const dead = [mixed(seed, 1) % ranks, mixed(seed, 2) % ranks];
        const last = [mixed(seed, 3) % 6, mixed(seed, 4) % 6];
        return function* (rank) {
          const dies = (step: number): boolean =>
            dead.some((each, index) => each === rank.rank && step === last[index]!);
          const [step, error] = yield* sumUntil(rank, seed, dies);
          if (error === 0) return yield* rank.die();
          equal(error, PROC_FAILED);
          reached.push(step);
          equal((yield* rank.sum(rank.world, [1])).error, PROC_FAILED);
          const survivors = yield* rank.shrink(rank.world);
          ok((yield* rank.sum(survivors!, [1])).words[0]! >= ranks - 2);
          return yield* rank.finalize();
        };
      },
      (seed) => equal(new Set(reached).size, 1, `seed ${seed}: ${reached}`),
    );
  });

  test("U6 §5.3.8.3: whenever it is revoked, the last one went well at all members or at none", () => {
    let reached: number[] = [];
    underSeeds(
      (seed) => {
        reached = [];
        return function* (rank) {
          const revokes = mixed(seed, 1) % ranks === rank.rank || mixed(seed, 2) % ranks === rank.rank;
          const [step, error] = yield* sumUntil(rank, seed, (at) => revokes && at === mixed(seed, 3) % 6);
          if (error === 0) rank.operations.revoke(rank.world);
          else equal(error, REVOKED);
          reached.push(step);
          equal((yield* rank.sum(rank.world, [1])).error, REVOKED);
          equal((yield* rank.agree(rank.world, 3)).flags, 3);
          const again = yield* rank.shrink(rank.world);
          equal((yield* rank.sum(again!, [1])).words[0], ranks);
          yield* rank.finalize();
        };
      },
      (seed) => equal(new Set(reached).size, 1, `seed ${seed}: ${reached}`),
    );
  });

  test("U6: a member whose arguments are refused revokes, and those that wait for it hear so", () => {
    inManyWorlds(4, function* (rank) {
      const { world, operations } = rank;
      equal((yield* rank.sum(world, new Array<number>(200).fill(1))).error, 0);
      if (rank.rank === 1) {
        operations.refuse(world);
        operations.revoke(world);
      } else equal((yield* rank.sum(world, new Array<number>(200).fill(1))).error, REVOKED);
      equal((yield* rank.agree(world, 1)).flags, 1);
      yield* rank.finalize();
    });
  });

  test("U6: one dies whose arguments were refused", () => {
    inManyWorlds(4, function* (rank) {
      const { world, operations } = rank;
      if (rank.rank === 2) {
        operations.refuse(world);
        return yield* rank.die();
      }
      equal((yield* rank.sum(world, new Array<number>(200).fill(1))).error, PROC_FAILED);
      return yield* rank.finalize();
    });
  });

  test("U6: calls that wait for a verdict in the background are over before it begins", () => {
    for (const ending of ["well", "revoked", "dead"] as const) {
      inManyWorlds(4, function* (rank) {
        const { world, operations } = rank;
        const blocks = equalBlocks(4, 4);
        const [from, to] = [rank.put([1, 2, 3, 4]), rank.put([0, 0, 0, 0])];
        const alltoallv = { kind: "alltoallv", ...world.place, sends: blocks, receives: blocks } as const;
        const exchange = operations.startBlocks(world, alltoallv, from, to, null, "nonblocking");
        if (rank.rank === 3 && ending === "dead") {
          const { layer } = operations;
          layer.die();
          yield rank.process.until("the end of all, dead", () => layer.isOver);
          operations.end(exchange);
        } else {
          const copied = operations.startTask(new Duplicate(world));
          if (rank.rank === 3 && ending === "revoked") operations.revoke(world);
          const { error } = yield* rank.sum(world, new Array<number>(200).fill(1));
          equal(error, { well: 0, revoked: REVOKED, dead: PROC_FAILED }[ending]);
          yield* rank.end(exchange);
          yield* rank.end(copied);
          yield* rank.finalize();
        }
        for (const at of [from, to]) rank.take(at, 4);
      });
    }
  });

  test("one that dies while it waits in it has come to it: it goes well at all", () => {
    inManyWorlds(5, function* (rank) {
      const { world, operations } = rank;
      if (rank.rank === 1) {
        const [send, receive] = [rank.put(new Array<number>(200).fill(1)), rank.put(new Array<number>(200).fill(0))];
        const request = rank.startSum(world, send, receive, 200);
        yield rank.process.compute(1_000);
        operations.layer.die();
        const { layer } = operations;
        yield rank.process.until("the end of all, dead", () => layer.isOver);
        operations.end(request);
        rank.take(send, 200);
        rank.take(receive, 200);
        return;
      }
      yield rank.process.compute(1_000_000);
      const { error, words } = yield* rank.sum(world, new Array<number>(200).fill(1));
      // On a board it may be taken for one that has not come: it has arrived, and nobody else is there yet.
      deepEqual([error, words[199]], [0, 5]);
      equal((yield* rank.sum(world, new Array<number>(200).fill(1))).error, PROC_FAILED);
      yield* rank.finalize();
    });
  });
});
