/** Blocking collectives whose members meet at a board, with the dead among them. Rows U5 and U6; ADR 56. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import { type LayeredOutcome, type LayeredProgram, runLayered } from "../../sim/fault-layer/layered-world.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { backgroundWays } from "./background-way.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;

/** On one node, whose boards take messages of up to ten integers. */
function onOneNode(ranks: number, program: LayeredProgram): LayeredOutcome {
  let last: LayeredOutcome | null = null;
  for (let seed = 1; seed <= tries(4, 200); seed++) {
    const background = backgroundWays[seed % 2]!;
    const boards = { count: 4, bytesMax: 40 };
    const cost = { jitterNs: seed % 3 === 0 ? 0 : 50_000 };
    last = runLayered({ ranks, nodes: 1, boards, seed, cost, background }, program);
    const { stuck, left } = last;
    deepEqual({ stuck, left }, { stuck: [], left: [] }, `seed ${seed}`);
  }
  return last!;
}

describe("U5: collectives of the members of one node under the layer", () => {
  test("short ones are on the board, long ones behind it or their own synchronisation: no report and no verdict for any", () => {
    const long = new Array<number>(50).fill(1);
    const { world, said } = onOneNode(5, function* (rank) {
      for (let i = 0; i < 10; i++) {
        deepEqual((yield* rank.sum(rank.world, [rank.rank, 1])).words, [10, 5]);
        deepEqual((yield* rank.sum(rank.world, long)).words[49], 5);
        deepEqual((yield* rank.broadcast(rank.world, 2, long)).words[49], 1);
        equal(yield* rank.barrier(rank.world), 0);
      }
      yield* rank.finalize();
    });
    equal(world.boardCounts.meetings, 30);
    const free = 8;
    deepEqual(
      said.filter((line) => / REPORT /.test(line) && line.split(" ")[5] !== `${free}`),
      [],
    );
  });

  for (const dead of [[4], [0], [0, 2, 3]]) {
    test(`${dead} dead: everybody else takes its arrival back, and gets PROC_FAILED from then on`, () => {
      const { world } = onOneNode(5, function* (rank) {
        equal((yield* rank.sum(rank.world, [1])).words[0], 5);
        if (dead.includes(rank.rank)) {
          yield rank.process.compute(300_000);
          return yield* rank.die();
        }
        equal((yield* rank.sum(rank.world, [1])).error, PROC_FAILED);
        equal((yield* rank.sum(rank.world, new Array<number>(50).fill(1))).error, PROC_FAILED);
        const survivors = yield* rank.shrink(rank.world);
        equal((yield* rank.sum(survivors!, [1])).words[0], 5 - dead.length);
        return yield* rank.finalize();
      });
      equal(world.boardCounts.meetings, 1);
      ok(world.boardCounts.withdrawn > 0);
    });
  }

  test("one that came through a gate and died there has taken part: its last collective went well at all", () => {
    onOneNode(4, function* (rank) {
      for (let i = 0; i < 6; i++) equal((yield* rank.sum(rank.world, [i])).words[0], 4 * i);
      if (rank.rank === 2) return yield* rank.die();
      equal((yield* rank.sum(rank.world, [1])).error, PROC_FAILED);
      return yield* rank.finalize();
    });
  });

  test("U6 §5.3.8.3: a revocation lets all out who wait at the gate; agreeing and shrinking go on", () => {
    onOneNode(5, function* (rank) {
      const { world } = rank;
      equal(yield* rank.barrier(world), 0);
      if (rank.rank === 3) {
        yield rank.process.compute(300_000);
        rank.operations.revoke(world);
      }
      equal((yield* rank.sum(world, [1])).error, REVOKED);
      equal(yield* rank.barrier(world), REVOKED);
      equal((yield* rank.agree(world, 1)).flags, 1);
      const again = yield* rank.shrink(world);
      equal((yield* rank.sum(again!, [1])).words[0], 5);
      yield* rank.finalize();
    });
  });

  test("who has heard of the death and agrees instead is waited for by nobody at the gate", () => {
    onOneNode(4, function* (rank) {
      const { world } = rank;
      if (rank.rank === 3) return yield* rank.die();
      if (rank.rank === 0) equal((yield* rank.receive(world, 3, 1, 1)).error, PROC_FAILED);
      else equal((yield* rank.sum(world, [1])).error, PROC_FAILED);
      rank.acknowledgeAll(world);
      equal((yield* rank.agree(world, 1)).flags, 1);
      return yield* rank.finalize();
    });
  });
});

test("U5 §5.3.4: members that have met at a board have started all before it, and the list of recent collectives stays short", () => {
  onOneNode(3, function* (rank) {
    const { world, operations } = rank;
    for (let i = 0; i < 20; i++) {
      const at = rank.put([rank.rank]);
      const request = rank.equal(world, "bcast", at, at, { bytes: 4, root: 0 });
      equal(yield* rank.end(request), 0);
      equal(rank.take(at, 1)[0], 0);
      equal(yield* rank.barrier(world), 0);
      ok(operations.layer.memberOf(world).recent.since(0).length <= 1);
    }
    yield* rank.finalize();
  });
});
