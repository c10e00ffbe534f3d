import assert from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "./placement.ts";
import type { SetRestart } from "./recovery.ts";
import { RestartPlacement } from "./restart-placement.ts";

const restartOf = (set: number, ...members: number[]): SetRestart => ({
  set,
  members,
  incarnation: 1,
  checkpoint: { number: 0, position: 0 },
  forRanks: null,
});

/** Ranks 0 and 1 are on node 0, 2 and 3 on node 1. */
class World {
  readonly core: RestartPlacement;
  isEnding = false;
  /** Processes for places, by their numbers. */
  readonly successors = [7, 8];
  readonly #said: string[] = [];

  constructor() {
    const say = (word: string): void => void this.#said.push(word);
    const listOf = (restarts: readonly SetRestart[]) => restarts.map(({ set, members }) => `${set}: ${members}`);
    this.core = new RestartPlacement(placementOf([0, 0, 1, 1]), {
      successorOf: () => this.successors.shift() ?? null,
      replace: (node, restarts, by) => say(`${by} replaces ${node} with ${listOf(restarts).join("; ")}`),
      restartRanks: (node, restarts) => say(`on ${node} restart ${listOf(restarts).join("; ")}`),
      notReplaced: (node) => say(`${node} stays gone`),
      isEnding: () => this.isEnding,
    });
  }

  get said(): string[] {
    return this.#said.splice(0);
  }
}

test("L5: a node that is gone gets one successor, with all its ranks; then it lives", () => {
  const world = new World();
  world.core.gone(0);
  assert.deepEqual(world.said, [], "its ranks are not prepared yet");
  world.core.restart([restartOf(0, 0), restartOf(1, 1)]);
  assert.deepEqual(world.said, ["7 replaces 0 with 0: 0; 1: 1"]);
  world.core.restart([restartOf(1, 1)]);
  assert.deepEqual(world.said, ["on 0 restart 1: 1"]);
});

test("L5: a set on a node that is gone and on one that lives begins on both", () => {
  const world = new World();
  world.core.gone(1);
  world.core.restart([restartOf(0, 0, 2), restartOf(1, 3)]);
  assert.deepEqual(world.said, ["on 0 restart 0: 0", "7 replaces 1 with 0: 2; 1: 3"]);
});

test("L5: the job ends while ranks are prepared: nobody takes the place, and the dispatcher waits for nothing", () => {
  const world = new World();
  world.core.gone(1);
  world.isEnding = true;
  world.core.restart([restartOf(0, 2), restartOf(1, 3)]);
  assert.deepEqual(world.said, ["1 stays gone"]);
});

test("rule 7: ranks that cannot begin again: their nodes stay gone, said once; nodes that live are left alone", () => {
  const world = new World();
  world.core.gone(1);
  world.core.hopeless([0, 2, 3]);
  world.core.hopeless([2]);
  assert.deepEqual(world.said, ["1 stays gone"]);
});

test("V9: where there is no process yet the place waits with its ranks, and with later lives of those that fall meanwhile", () => {
  const world = new World();
  world.successors.length = 0;
  world.core.gone(1);
  world.core.restart([restartOf(0, 0, 2), restartOf(1, 3)]);
  assert.deepEqual(world.said, ["on 0 restart 0: 0"], "place 1 waits");
  world.core.restart([{ ...restartOf(0, 0, 2), incarnation: 2 }]);
  assert.deepEqual(world.said, ["on 0 restart 0: 0"], "it still does");
  world.core.taken(1, 9);
  assert.deepEqual(world.said, ["9 replaces 1 with 1: 3; 0: 2"]);
  world.core.restart([restartOf(1, 3)]);
  assert.deepEqual(world.said, ["on 1 restart 1: 3"], "and then it lives");
});
