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
  readonly #said: string[] = [];

  constructor() {
    const say = (word: string): void => void this.#said.push(word);
    const listOf = (restarts: readonly SetRestart[]) => restarts.map(({ set, members }) => `${set}: ${members}`);
    this.core = new RestartPlacement(placementOf([0, 0, 1, 1]), {
      replace: (node, restarts) => say(`replace ${node} with ${listOf(restarts).join("; ")}`),
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
  assert.deepEqual(world.said, ["replace 0 with 0: 0; 1: 1"]);
  world.core.restart([restartOf(1, 1)]);
  assert.deepEqual(world.said, ["on 0 restart 1: 1"]);
});

test("L5: a set on a node that is gone and on one that lives begins on both", () => {
  const world = new World();
  world.core.gone(1);
  world.core.restart([restartOf(0, 0, 2), restartOf(1, 3)]);
  assert.deepEqual(world.said, ["on 0 restart 0: 0", "replace 1 with 0: 2; 1: 3"]);
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
