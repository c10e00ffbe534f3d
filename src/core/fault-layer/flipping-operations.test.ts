/** Bits of messages that flip. Row U8: section 5.4 of the thesis. */
import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import type { LayeredRank } from "../../sim/fault-layer/layered-rank.ts";
import { type LayeredOutcome, type LayeredProgram, runLayered } from "../../sim/fault-layer/layered-world.ts";
import { exactReductions } from "../../sim/script/reductions.ts";
import type { Pointer } from "../base/brand.ts";
import { equalBlocks } from "../coll/engine/rounds.ts";

const nowhere = 0 as Pointer;
const zeros = (count: number): number[] => new Array<number>(count).fill(0);
const onesIn = (words: readonly number[]): number =>
  words.reduce((sum, word) => sum + (word >>> 0).toString(2).replaceAll("0", "").length, 0);

function run(ranks: number, flipProbability: number, program: LayeredProgram): LayeredOutcome {
  const outcome = runLayered({ ranks, flipProbability }, program);
  deepEqual({ stuck: outcome.stuck, left: outcome.left }, { stuck: [], left: [] });
  return outcome;
}

test("U8 §5.4: every bit that a receiver finds changed was flipped, and the sender's memory is as it was", () => {
  let ones = 0;
  const count = 2_000;
  const { ranks } = run(2, 0.01, function* (rank) {
    for (const words of [1, 64, count]) {
      const at = rank.put(zeros(words));
      if (rank.rank === 0) equal(yield* rank.end(rank.isend(rank.world, 1, 3, at, words, 0)), 0);
      else ones += onesIn((yield* rank.receive(rank.world, 0, 3, words)).words);
      deepEqual(rank.take(at, words), zeros(words));
    }
    yield* rank.finalize();
  });
  equal(ones, ranks[0]!.flips.count);
  const bits = 32 * (1 + 64 + count);
  // Five standard deviations of the binomial distribution.
  ok(Math.abs(ones - bits * 0.01) < 5 * Math.sqrt(bits * 0.01 * 0.99), `${ones} of ${bits}`);
});

test("U8 §5.4: with probability 1 all of them, with a small one most messages none; the layer's own words never", () => {
  const received: number[][] = [];
  run(2, 1, function* (rank) {
    if (rank.rank === 0) yield* rank.send(rank.world, 1, 3, [0, 0x0f0f0f0f]);
    else received.push([...(yield* rank.receive(rank.world, 0, 3, 2)).words]);
    yield* rank.finalize();
  });
  deepEqual(received, [[-1, ~0x0f0f0f0f]]);
  run(5, 1e-12, function* (rank) {
    deepEqual((yield* rank.sum(rank.world, [rank.rank])).words, [10]);
    if (rank.rank === 3) return yield* rank.die();
    equal((yield* rank.sum(rank.world, [1])).words.length, 1);
    return yield* rank.finalize();
  });
});

/** Each collective with one contribution of zeros; what comes out, and the words that were given in afterwards. */
const collectives: Readonly<Record<string, (rank: LayeredRank, given: Pointer, result: Pointer) => number>> = {
  bcast: ({ operations, world }, given) =>
    operations.startEqual(world, "bcast", nowhere, given, { bytes: 16, root: 1, form: "blocking" }),
  allgather: ({ operations, world }, given, result) =>
    operations.startEqual(world, "allgather", given, result, { bytes: 16, form: "blocking" }),
  alltoall: ({ operations, world }, given, result) =>
    operations.startEqual(world, "alltoall", given, result, { bytes: 4, form: "blocking" }),
  gather: ({ operations, world }, given, result) =>
    operations.startEqual(world, "gather", given, result, { bytes: 16, root: 2, form: "blocking" }),
  scatter: ({ operations, world }, given, result) =>
    operations.startEqual(world, "scatter", given, result, { bytes: 4, root: 0, form: "blocking" }),
  allreduce: ({ operations, world }, given, result) =>
    operations.startReduction(world, "allreduce", given, result, { bytes: 16, form: "blocking" }, exactReductions.sum),
  iallreduce: ({ operations, world }, given, result) =>
    operations.startReduction(world, "allreduce", given, result, { bytes: 16 }, exactReductions.sum),
  allgatherv: ({ operations, world }, given, result) => {
    const { rank, size, memberNodes: nodes } = world;
    const collective = { kind: "allgatherv", rank, size, blocks: equalBlocks(size, 16), nodes } as const;
    return operations.startBlocks(world, collective, given, result, null, "blocking");
  },
  alltoallv: ({ operations, world }, given, result) => {
    const { rank, size } = world;
    const blocks = equalBlocks(size, 4);
    const collective = { kind: "alltoallv", rank, size, sends: blocks, receives: blocks } as const;
    return operations.startBlocks(world, collective, given, result, null, "blocking");
  },
};

for (const [name, start] of Object.entries(collectives)) {
  test(`U8 §5.4: what is given into a collective flips on its way, not where it is: ${name}`, () => {
    const size = 4;
    const results: number[][] = [];
    const { ranks } = run(size, 0.2, function* (rank) {
      const [given, result] = [rank.put(zeros(size)), rank.put(zeros(4 * size))];
      equal(yield* rank.end(start(rank, given, result) as Parameters<typeof rank.end>[0]), 0);
      const isRoot = name !== "bcast" || rank.rank === 1;
      const words = rank.take(given, size);
      if (isRoot) deepEqual(words, zeros(size));
      else results.push(words);
      results.push(rank.take(result, 4 * size));
      yield* rank.finalize();
    });
    ok(ranks.some(({ flips }) => flips.count > 0));
    notDeepEqual(
      results.flat().filter((word) => word !== 0),
      [],
    );
  });
}
