/**
 * Lives of a program that sees what could have been otherwise, for tests of the bindings: what others send arrives late, in an
 * order that a seed decides, and a second life with the choices of the first must see the same.
 */
import assert from "node:assert/strict";
import { tries } from "../../../test/long.ts";
import type { TestChoice, TestChoices } from "../../core/ft/testing/choices.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";

/** What each of several senders has still to send. */
export class LateSends {
  readonly #unsent: (() => void)[][];
  readonly #world: World;
  readonly #random: Random;

  constructor(senders: number, world: World, random: Random) {
    this.#unsent = Array.from({ length: senders }, () => []);
    this.#world = world;
    this.#random = random;
  }

  add(sender: number, send: () => void): void {
    this.#unsent[sender]!.push(send);
  }

  /** Something arrives; false: nothing is left. */
  sendOne(): boolean {
    const left = this.#unsent.filter((sends) => sends.length > 0);
    if (left.length === 0) return false;
    this.#random.pick(left).shift()!();
    this.#world.run();
    return true;
  }
}

interface TestLife {
  readonly choices: TestChoices | null;
  /** What the program has seen. */
  readonly seen: readonly unknown[];
}

/** Calls until it has said so; the program sees every answer. */
export function until(isOver: () => boolean): void {
  for (let looks = 0; !isOver(); looks++) assert(looks < 1000, "it never comes");
}

/** Lives differ, and with the choices of another they do not. */
export function assertReplayed(lived: (seed: number, known: readonly TestChoice[]) => TestLife): void {
  const lives = Array.from({ length: tries(5, 12) }, (_, seed) => lived(seed, []));
  const kinds = new Set(lives.map(({ seen }) => JSON.stringify(seen)));
  assert(kinds.size > 1, "lives differ when nobody remembers");
  for (const [seed, first] of lives.entries()) {
    const { all } = first.choices!;
    const second = lived(seed + 100, all);
    assert.deepEqual(second.seen, first.seen);
    assert.deepEqual(second.choices!.all, all, "each choice is taken once, and none is made");
    // A life that ended in the middle goes on by itself.
    const half = all.slice(0, all.length >> 1);
    const third = lived(seed + 200, half);
    assert.deepEqual(third.choices!.all.slice(0, half.length), half);
  }
}
