import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { AwaitedChoices } from "./awaited-choices.ts";
import { ChoiceKind, type Choices } from "./choices.ts";
import { chosenTime } from "./clock-choice.ts";

describe("choices that are waited for", () => {
  it("V6: a clock is read when the readings of earlier lives are known, also in a process that is asked to stop", () => {
    let waits = 0;
    const asked: string[] = [];
    const then = new Int32Array(new Float64Array([7]).buffer);
    const choices: Choices = {
      get isReady() {
        return waits === 3;
      },
      replay(kind) {
        asked.push(`${kind} after ${waits}`);
        return [...then];
      },
      made: () => asked.push("made"),
      nothing: () => asked.push("nothing"),
    };
    // A wait that ends, though nothing is ready, is that of a process that shall stop.
    const awaited = new AwaitedChoices(choices, () => {
      waits++;
      return false;
    });
    equal(chosenTime(awaited, { now: () => 9, moveClockTo() {} }), 7);
    deepEqual(asked, [`${ChoiceKind.CLOCK} after 3`]);
  });
});
