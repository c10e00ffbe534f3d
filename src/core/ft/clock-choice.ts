/**
 * Clocks that a program reads: each reading is a choice. A replayed life sees the times of the one before; when it has caught
 * up, its own clock may be behind those (another machine, a younger process), so steady clocks are moved forward.
 */
import { assert } from "../base/assert.ts";
import { ChoiceKind, type Choices } from "./choices.ts";

export interface Clock {
  now(): number;
  /** It shows that time now, or a later one. */
  moveClockTo(time: number): void;
}

export function chosenTime(choices: Choices, clock: Clock): number {
  const known = choices.replay(ChoiceKind.CLOCK);
  if (known === undefined) {
    const now = clock.now();
    choices.made(ChoiceKind.CLOCK, wordsOf(now));
    return now;
  }
  const then = numberOf(known);
  clock.moveClockTo(then);
  return then;
}

const view = new DataView(new ArrayBuffer(8));

function wordsOf(value: number): readonly number[] {
  view.setFloat64(0, value, true);
  return [view.getInt32(0, true), view.getInt32(4, true)];
}

function numberOf(words: readonly number[] | null): number {
  assert(words !== null && words.length === 2, "a reading of a clock has two words");
  view.setInt32(0, words[0]!, true);
  view.setInt32(4, words[1]!, true);
  return view.getFloat64(0, true);
}
