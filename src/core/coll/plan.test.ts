import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchedule } from "./engine/compiled-schedule.ts";
import { CompiledScheduleCache, schedulesMax } from "./engine/compiled-schedule-cache.ts";
import { equalBlocks } from "./engine/rounds.ts";
import { type Collective, plan } from "./plan.ts";
import {
  allgatherShortBytesMax,
  allreduceHierarchicalBytesMax,
  allreduceShortBytesMax,
  alltoallShortBytesMax,
  bcastLongBytes,
  chooseAllgather,
  chooseAllreduce,
  chooseAlltoall,
  chooseBarrier,
  chooseBcast,
  chooseReduce,
  chooseReduceScatter,
  reduceScatterShortBytesMax,
  reduceShortBytesMax,
} from "./select.ts";
import { memberNodesOf, ranksOf, reductions } from "./testing/data.ts";
import { checkMatching } from "./testing/matching-sends.ts";
import { always, never, runReduction } from "./testing/reduce.ts";

const twoNodes = [0, 0, 0, 0, 1, 1, 1, 1];

test("M3 selection: short, long, on several nodes", () => {
  assert.equal(chooseBarrier({ nodes: twoNodes }), "hierarchical");
  assert.equal(chooseBarrier({ nodes: [3, 3] }), "dissemination");
  assert.equal(chooseBarrier({ nodes: [1, 2] }), "dissemination");
  assert.equal(chooseBcast({ size: 8, bytes: 10 }), "binomial");
  assert.equal(chooseBcast({ size: 8, bytes: bcastLongBytes }), "scatter-allgather");
  assert.equal(chooseBcast({ size: 8, bytes: 10, nodes: twoNodes }), "hierarchical");
  assert.equal(chooseAllgather({ size: 8, bytes: 10 }), "recursive-doubling");
  assert.equal(chooseAllgather({ size: 7, bytes: 10 }), "bruck");
  assert.equal(chooseAllgather({ size: 7, bytes: allgatherShortBytesMax + 1 }), "ring");
  assert.equal(chooseAlltoall({ size: 8, bytes: alltoallShortBytesMax }), "bruck");
  assert.equal(chooseAlltoall({ size: 8, bytes: alltoallShortBytesMax + 1 }), "pairwise");
  assert.equal(chooseReduce({ size: 8, bytes: 8, elementBytes: 8 }), "tree");
  assert.equal(chooseReduce({ size: 8, bytes: 8, elementBytes: 8, nodes: twoNodes }), "hierarchical");
  assert.equal(chooseReduce({ size: 8, bytes: reduceShortBytesMax + 8, elementBytes: 8 }), "rabenseifner");
  assert.equal(chooseAllreduce({ size: 8, bytes: 8, elementBytes: 8 }), "recursive-doubling");
  assert.equal(chooseAllreduce({ size: 8, bytes: allreduceShortBytesMax + 8, elementBytes: 8 }), "rabenseifner");
  assert.equal(chooseAllreduce({ size: 8, bytes: 1 << 20, elementBytes: 1 << 20 }), "recursive-doubling");
  assert.equal(chooseAllreduce({ size: 8, bytes: 8, elementBytes: 8, nodes: twoNodes }), "hierarchical");
  const long = { size: 8, bytes: allreduceHierarchicalBytesMax + 8, elementBytes: 8, nodes: twoNodes };
  assert.equal(chooseAllreduce(long), "rabenseifner");
  assert.equal(chooseReduceScatter({ size: 7, bytes: 8 }), "halving");
  assert.equal(chooseReduceScatter({ size: 7, bytes: reduceScatterShortBytesMax + 1 }), "pairwise");
  assert.equal(chooseReduceScatter({ size: 8, bytes: reduceScatterShortBytesMax + 1 }), "halving");
});

/** Every collective at a size, with and without in-place on some ranks. */
function collectivesOf(rank: number, size: number, bytes: number, nodes: readonly number[]): Collective[] {
  const root = size >> 1;
  const inPlace = rank % 2 === 1;
  const atRoot = rank === root;
  const blocks = equalBlocks(size, bytes);
  const vector = { bytes, elementBytes: 8 };
  const unequal = { bytes: ranksOf(size).map((of) => (of % 3) * 8), offsets: ranksOf(size).map((of) => of * 24) };
  return [
    { kind: "barrier", rank, size, nodes },
    { kind: "bcast", rank, size, root, bytes, nodes },
    { kind: "gather", rank, size, root, bytes, inPlace: atRoot },
    { kind: "scatter", rank, size, root, bytes, inPlace: atRoot },
    { kind: "gatherv", rank, size, root, bytes, blocks },
    { kind: "scatterv", rank, size, root, bytes, blocks },
    { kind: "allgather", rank, size, bytes, nodes, inPlace },
    { kind: "allgatherv", rank, size, blocks: unequal, nodes, inPlace },
    { kind: "alltoall", rank, size, bytes, inPlace },
    { kind: "alltoallv", rank, size, sends: blocks, receives: blocks, inPlace },
    { kind: "reduce", rank, size, root, ...vector, nodes, inPlace: atRoot },
    { kind: "allreduce", rank, size, ...vector, nodes, inPlace },
    { kind: "reduce_scatter_block", rank, size, ...vector, inPlace },
    { kind: "reduce_scatter", rank, size, segments: unequal.bytes, elementBytes: 8, inPlace },
    { kind: "scan", rank, size, ...vector, inPlace },
    { kind: "exscan", rank, size, ...vector, inPlace },
  ];
}

test("M3 selection: all ranks choose alike, whoever is in place, at every size of message", () => {
  for (const size of [1, 2, 5, 8, 12, 33]) {
    const alone = ranksOf(size).map(() => 0);
    for (const nodes of [alone, memberNodesOf(size)[0]!]) {
      for (const bytes of [0, 8, 24 * 1024, 400 * 1024]) {
        const calls = ranksOf(size).map((rank) => collectivesOf(rank, size, bytes, nodes));
        for (const index of calls[0]!.keys()) checkMatching(calls.map((ofRank) => plan(ofRank[index]!)));
      }
    }
  }
});

test("M3 selection: an allreduce has the same bits whatever is chosen", () => {
  const size = 12;
  for (const elements of [1, 3000, 20000]) {
    for (const nodes of [undefined, ...memberNodesOf(size)]) {
      for (const inPlace of [never, always]) {
        runReduction({
          size,
          elements,
          reduction: reductions[0]!,
          inPlace,
          build: (rank, vector) => plan({ kind: "allreduce", rank, size, nodes, ...vector }),
        });
      }
    }
  }
});

test("M3 program cache: finds what was kept, by every part of the key, and holds a bounded number", () => {
  const cache = new CompiledScheduleCache();
  const programs = ranksOf(schedulesMax + 5).map((bytes) =>
    compileSchedule(plan({ kind: "bcast", rank: 0, size: 2, root: 0, bytes })),
  );
  assert.equal(cache.find(0, 0, 0, 0, 0), undefined);
  for (const [index, program] of programs.entries()) cache.keep([1, index, 0, 8, 0], program);
  for (const [index, program] of programs.entries()) {
    assert.equal(cache.find(1, index, 0, 8, 0), index < 5 ? undefined : program);
  }
  for (const key of [
    [2, 9, 0, 8, 0],
    [1, 9, 1, 8, 0],
    [1, 9, 0, 4, 0],
    [1, 9, 0, 8, 1],
  ] as [number, number, number, number, number][]) {
    assert.equal(cache.find(...key), undefined);
  }
});
