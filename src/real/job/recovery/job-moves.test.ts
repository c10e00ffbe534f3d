import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "../../../core/service/placement.ts";
import { JobMoves, type Moved } from "./job-moves.ts";

const options = {
  nodes: 4,
  ranks: 4,
  placement: placementOf([0, 1, 2, 3]),
  setOf: [0, 1, 2, 3],
  canSplit: true,
  isJoined: false,
  areLinksAlike: () => true,
};
const running = { outcome: undefined };
const rank = (number: number, replica: number | null = null): Moved => ({ kind: "rank", rank: number, replica });

/** What is said to a part, and its answers: node 3 cannot be drained. */
function part(): { drained: unknown[]; drain(...order: unknown[]): string } {
  const drained: unknown[] = [];
  const drain = (...order: unknown[]): string => {
    drained.push(order);
    return order[0] === 3 ? "it cannot be" : "";
  };
  return { drained, drain };
}

test("D5 where lost replicas come back as clones all is their business", () => {
  const moved: unknown[] = [];
  const clones = {
    move: (order: unknown) => {
      moved.push(order);
      return "it cannot be";
    },
  };
  const moves = new JobMoves(options, { core: running, clones, recovery: null, relocation: null });
  const order = { moved: rank(7, 1), onto: 12 };
  equal(moves.move(order), "it cannot be");
  deepEqual(moved, [order]);
});

test("D5 under a protocol that takes checkpoints a rank is moved onto any node, a whole node in its place by another process", () => {
  const moved: unknown[] = [];
  const move = (order: unknown): string => {
    moved.push(order);
    return "";
  };
  const recovery = { ...part(), move };
  const parts = { core: running, clones: null, recovery, relocation: null };
  const moves = new JobMoves(options, parts);
  const set = { ...options, placement: placementOf([0, 0, 1, 1]), setOf: [0, 0, 1, 1], nodes: 2 };
  equal(moves.move({ moved: rank(1), onto: null }), "");
  equal(moves.move({ moved: rank(1, 0), onto: 4 }), "");
  equal(moves.move({ moved: { kind: "node", node: 3 }, onto: null }), "it cannot be");
  deepEqual(recovery.drained, [[1], [1], [3]]);
  equal(moves.move({ moved: rank(1), onto: 2 }), "");
  equal(new JobMoves(set, parts).move({ moved: rank(1), onto: 2 }), "");
  equal(new JobMoves({ ...set, canSplit: false }, parts).move({ moved: rank(1), onto: 2 }), "");
  deepEqual(moved, [
    { ranks: [1], from: 1, node: 2, split: null },
    { ranks: [1], from: 0, node: 2, split: 0 },
  ]);
  const obstacles = [
    moves.move({ moved: rank(1, 1), onto: null }),
    moves.move({ moved: rank(1), onto: 1 }),
    new JobMoves({ ...options, isJoined: true }, parts).move({ moved: rank(1), onto: 2 }),
    new JobMoves({ ...options, areLinksAlike: () => false }, parts).move({ moved: rank(1), onto: 2 }),
  ];
  deepEqual(obstacles, [
    "rank 1 has no replicas",
    "it is on node 1 already",
    "its nodes join and leave by themselves, and ranks have the places of those",
    "node 2 would have more connections than there is memory for",
  ]);
});

test("D5 what cannot be moved is said with what could", () => {
  const recovery = { ...part(), move: () => "" };
  const parts = { core: running, clones: null, recovery, relocation: null };
  const moves = new JobMoves(options, parts);
  const away = { kind: "rank", rank: 1, replica: null, from: 2 } as const;
  const obstacles = [
    moves.move({ moved: rank(4), onto: null }),
    moves.move({ moved: { kind: "node", node: 4 }, onto: null }),
    moves.move({ moved: away, onto: null }),
    new JobMoves(options, { ...parts, core: { outcome: "over" } }).move({ moved: rank(0), onto: null }),
  ];
  deepEqual(obstacles, [
    "the job has ranks 0 to 3",
    "the job has nodes 0 to 3",
    "rank 1 is not on node 2",
    "the job ends",
  ]);
  deepEqual(recovery.drained, []);
});

test("D5 where nothing is kept of the ranks a rank is moved alone, onto any node", () => {
  const begun: unknown[] = [];
  const relocation = {
    begin: (order: unknown) => {
      begun.push(order);
      return "";
    },
  };
  const moves = new JobMoves(options, { core: running, clones: null, recovery: null, relocation });
  equal(moves.move({ moved: rank(1), onto: 2 }), "");
  equal(moves.move({ moved: { kind: "node", node: 0 }, onto: null }), "");
  equal(moves.move({ moved: rank(1, 1), onto: null }), "rank 1 has no replicas");
  equal(moves.move({ moved: rank(4), onto: null }), "the job has ranks 0 to 3");
  deepEqual(begun, [
    { moved: rank(1), onto: 2 },
    { moved: { kind: "node", node: 0 }, onto: null },
  ]);
});
