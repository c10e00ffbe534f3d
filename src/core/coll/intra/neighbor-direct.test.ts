import assert from "node:assert/strict";
import { test } from "node:test";
import { PROC_NULL } from "../../base/constants.ts";
import { packed, sum } from "../engine/rounds.ts";
import { planNeighbor } from "../inter/plan-inter.ts";
import { random, rubbish, run } from "../testing/collective-world.ts";
import { roundsOf } from "../testing/cost.ts";
import { assertBytes, pattern, ranksOf, sizes } from "../testing/data.ts";
import { neighborDirect } from "./neighbor-direct.ts";

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

/** A graph with several edges between some ranks and from some ranks to themselves. */
function edgesOf(size: number): Edge[] {
  const draw = random(size);
  return Array.from({ length: size * 3 }, () => ({ from: draw(size), to: draw(size), bytes: draw(5) }));
}

test("M3 neighbor_alltoall(v, w): what each edge carries arrives, also with several edges between two ranks", () => {
  for (const size of sizes) {
    const edges = edgesOf(size);
    const data = (edge: Edge) => pattern(edges.indexOf(edge), 0, edge.bytes);
    const setups = ranksOf(size).map((rank) => {
      // The k-th edge to a rank is that rank's k-th edge from this one, because both lists are in the order of the edges.
      const out = edges.filter((edge) => edge.from === rank);
      const into = edges.filter((edge) => edge.to === rank);
      const sends = packed(out.map((edge) => edge.bytes));
      const receives = packed(into.map((edge) => edge.bytes));
      const leaving = rubbish(sum(sends.bytes));
      for (const [index, edge] of out.entries()) leaving.set(data(edge), sends.offsets[index]!);
      const expected = rubbish(sum(receives.bytes));
      for (const [index, edge] of into.entries()) expected.set(data(edge), receives.offsets[index]!);
      const schedule = neighborDirect({
        rank,
        sources: into.map((edge) => edge.from),
        destinations: out.map((edge) => edge.to),
        sends,
        receives,
      });
      assert.ok(roundsOf(schedule) <= 1);
      return { schedule, send: leaving, receive: rubbish(expected.length), expected };
    });
    run(setups, { seed: size });
    for (const [rank, { receive, expected }] of setups.entries())
      assertBytes(receive, expected, `rank ${rank} of ${size}`);
  }
});

test("M3 neighbor_allgather(v): everybody has the blocks of its sources, PROC_NULL leaves its block alone", () => {
  for (const size of sizes) {
    // A line: the ends have no neighbour on one side.
    const block = (rank: number) => pattern(rank, 7, 1 + (rank % 3));
    const setups = ranksOf(size).map((rank) => {
      const neighbours = [rank > 0 ? rank - 1 : PROC_NULL, rank + 1 < size ? rank + 1 : PROC_NULL];
      const receives = { bytes: neighbours.map((peer) => (peer < 0 ? 3 : block(peer).length)), offsets: [0, 4] };
      const call = { rank, sources: neighbours, destinations: neighbours, bytes: block(rank).length, receives };
      const expected = rubbish(8);
      for (const [index, peer] of neighbours.entries()) if (peer >= 0) expected.set(block(peer), index * 4);
      return {
        schedule: planNeighbor({ kind: "neighbor_allgatherv", ...call }),
        send: block(rank),
        receive: rubbish(8),
        expected,
      };
    });
    run(setups, { seed: size });
    for (const [rank, { receive, expected }] of setups.entries())
      assertBytes(receive, expected, `rank ${rank} of ${size}`);
  }
});

test("M3 neighbor_alltoall on a grid: what leaves in one direction comes from the other, also with 1 or 2 ranks a dimension", () => {
  for (const [width, height] of [
    [1, 1],
    [2, 1],
    [1, 2],
    [2, 2],
    [3, 1],
    [3, 2],
    [4, 3],
  ] as const) {
    const size = width * height;
    const at = (x: number, y: number) => ((x + width) % width) * height + ((y + height) % height);
    const blocks = { bytes: [4, 4, 4, 4], offsets: [0, 4, 8, 12] };
    const block = (rank: number, direction: number) => pattern(rank, direction, 4);
    const setups = ranksOf(size).map((rank) => {
      const [x, y] = [Math.floor(rank / height), rank % height];
      const neighbours = [at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)];
      const leaving = rubbish(16);
      const expected = rubbish(16);
      for (const [direction, peer] of neighbours.entries()) {
        leaving.set(block(rank, direction), direction * 4);
        expected.set(block(peer, direction ^ 1), direction * 4);
      }
      const call = { rank, sources: neighbours, destinations: neighbours, sends: blocks, receives: blocks };
      return { schedule: neighborDirect({ ...call, cartesian: true }), send: leaving, receive: rubbish(16), expected };
    });
    run(setups, { seed: size });
    for (const [rank, { receive, expected }] of setups.entries()) {
      assertBytes(receive, expected, `rank ${rank} of a ${width}×${height} grid`);
    }
  }
});
