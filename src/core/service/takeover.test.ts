/**
 * Every scenario is played once for every moment at which the dispatcher can crash: before each order and each record, and in the
 * middle of each record (the model is in `testing/takeover-model.ts`).
 */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { assert } from "../base/assert.ts";
import { jobStateFrom } from "./job-state.ts";
import { placementOf } from "./placement.ts";
import { type CrashPlan, TakeoverWorld, type WorldShape } from "./testing/takeover-model.ts";

interface Scenario {
  readonly name: string;
  readonly shape: WorldShape;
  play(world: TakeoverWorld): void;
  /** Of the job. */
  readonly code: number;
}

/** What must be true when all is quiet and nobody has finished yet. */
function checkQuiet({ nodes, dispatcher, recovery }: TakeoverWorld, { placement, setOf, deaths }: WorldShape): void {
  const { state } = dispatcher;
  for (const node of nodes) {
    if (node === null) continue;
    deepEqual(node.deaths, state.deaths, `node ${node.node} has heard of every death`);
    equal(node.stopped.size, 0, `nobody stands still on node ${node.node}`);
    equal(node.life, state.nodes[node.node]!.life);
    if (deaths !== "replaced") continue;
    deepEqual(
      node.lives,
      state.ranks.map(({ incarnation }) => incarnation),
      `node ${node.node} knows the present lives`,
    );
    for (const [rank, { incarnation }] of node.ranks) equal(incarnation, state.ranks[rank]!.incarnation);
  }
  if (deaths !== "replaced") return;
  for (const [rank, { incarnation }] of state.ranks.entries()) {
    equal(recovery.state.incarnations[setOf[rank]!], incarnation, `dispatcher and recovery agree on rank ${rank}`);
    assert(nodes[placement[rank]!]?.ranks.has(rank) === true, `rank ${rank} is there`);
  }
}

const twoOnEach = [0, 0, 1, 1, 2, 2];
const byNode: WorldShape = { placement: placementOf(twoOnEach), setOf: twoOnEach, deaths: "replaced" };
const byRank: WorldShape = { placement: placementOf(twoOnEach), setOf: [0, 1, 2, 3, 4, 5], deaths: "replaced" };
const across: WorldShape = { placement: placementOf(twoOnEach), setOf: [0, 1, 1, 2, 2, 3], deaths: "replaced" };

const scenarios: readonly Scenario[] = [
  {
    name: "L5: a node is lost: its ranks' deaths are declared and told, and another node takes its place",
    shape: byNode,
    play(world) {
      world.kill(1);
      world.run();
    },
    code: 0,
  },
  {
    name: "L5: two nodes are lost one after the other",
    shape: byNode,
    play(world) {
      world.kill(1);
      world.kill(2);
      world.run();
    },
    code: 0,
  },
  {
    name: "L5: a rank of a small set vanishes and begins again where it was",
    shape: byRank,
    play(world) {
      world.nodes[1]!.vanish(3);
      world.run();
    },
    code: 0,
  },
  {
    name: "L5: a set across nodes falls with one of them",
    shape: across,
    play(world) {
      world.kill(1);
      world.run();
    },
    code: 0,
  },
  {
    name: "L4: checkpoints are taken of all sets, twice, and a node is lost afterwards",
    shape: byNode,
    play(world) {
      world.takeCheckpoints();
      world.takeCheckpoints();
      world.kill(0);
      world.run();
    },
    code: 0,
  },
  {
    name: "rule 9: some ranks are done and some are not when a node is lost",
    shape: byNode,
    play(world) {
      world.nodes[0]!.finish();
      world.nodes[1]!.finish();
      world.run();
      world.kill(1);
      world.run();
    },
    code: 0,
  },
  {
    name: "§11.8 processes are spawned: those that did not begin are withdrawn",
    shape: { placement: placementOf([0, 1, 0, 1]), setOf: [0, 1, 0, 1], deaths: "fatal", ranks: 2 },
    play(world) {
      world.admit(2);
    },
    code: 0,
  },
  {
    name: "a death that ends the job",
    shape: { ...byNode, deaths: "fatal" },
    play(world) {
      world.kill(1);
      world.run();
    },
    code: 137,
  },
  {
    name: "a death that is survived",
    shape: { ...byNode, deaths: "survived" },
    play(world) {
      world.kill(1);
      world.run();
    },
    code: 0,
  },
];

function playWith({ shape, play, code }: Scenario, crash: CrashPlan): TakeoverWorld {
  const world = new TakeoverWorld(shape, crash);
  play(world);
  if (!world.isOver && world.dispatcher.outcome === undefined) checkQuiet(world, shape);
  world.finish();
  equal(world.isOver, true, `crashes before ${crash.before}: the job is over`);
  equal(world.dispatcher.outcome?.code, code, `crashes before ${crash.before}`);
  equal(
    world.nodes.every((node) => node === null),
    true,
    "nothing is left",
  );
  deepEqual(jobStateFrom(world.journal).dispatcher, world.dispatcher.state);
  deepEqual(jobStateFrom(world.journal).recovery, world.recovery.state);
  return world;
}

for (const scenario of scenarios) {
  test(`V1: the dispatcher crashes at any step: ${scenario.name}`, () => {
    for (const arrives of [() => false, () => true, (node: number) => node === 0]) {
      for (const isTorn of [false, true]) {
        let at = 1;
        while (playWith(scenario, { before: [at], isTorn, arrives }).crashes > 0) at++;
        equal(at > 5, true, "there are many steps at which it can");
      }
    }
  });

  test(`V1: and its successor crashes too: ${scenario.name}`, () => {
    const arrives = (node: number): boolean => node === 0;
    for (let at = 1; playWith(scenario, { before: [at], isTorn: true, arrives }).crashes > 0; at += 2) {
      let later = 1;
      while (playWith(scenario, { before: [at, at + later], isTorn: true, arrives }).crashes > 1) later += 2;
    }
  });
}
