/** What the checker says of hooks about collectives; of those about messages checkers.test.ts has it. */
import { deepEqual, match } from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordId } from "../../core/base/brand.ts";
import { passThrough } from "../../core/ft/pass-through.ts";
import type { Protocol } from "../../core/ft/protocol.ts";
import { Recording } from "../../core/ft/recording-protocol.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import { Observation } from "../observation.ts";
import { World } from "../world.ts";
import { hooksCalled } from "./hooks-called.ts";

const [one, other] = [3 as RecordId, 4 as RecordId];

function problemsOf(tell: (protocol: Protocol) => void): string[] {
  const world = new World({ ranks: 1, protocol: () => new Recording().around(passThrough) });
  tell(world.processes[0]!.core.protocol!);
  const { script } = new ScenarioProgram(1);
  return hooksCalled.check({ world, script, observation: new Observation(), stuck: [], dead: new Set() });
}

describe("hooks about collectives", () => {
  it("one that begins, takes, and is seen, again and again", () => {
    const told = problemsOf((protocol) => {
      for (let times = 0; times < 2; times++) {
        protocol.collectiveBegins(one);
        protocol.actsFor(one);
        protocol.actsForProgram();
        protocol.collectiveSeen(one);
        protocol.collectiveSeen(one);
      }
    });
    deepEqual(told, []);
  });

  const wrong: readonly [string, (protocol: Protocol) => void, RegExp][] = [
    ["one that begins twice", (to) => [one, one].map((each) => to.collectiveBegins(each)), /collective 3 begins twice/],
    ["two at once", (to) => [one, other].map((each) => to.actsFor(each)), /acts for collectives 3 and 4 at once/],
    ["nobody's end", (to) => to.actsForProgram(), /acts for the program, and did before/],
    ["no end", (to) => to.actsFor(one), /acts for collective 3 to the end/],
    [
      "one that is seen by another",
      (to) => {
        to.actsFor(one);
        to.collectiveSeen(other);
        to.actsForProgram();
      },
      /collective 4 is seen by another/,
    ],
  ];
  for (const [what, tell, problem] of wrong) {
    it(`notices ${what}`, () => match(problemsOf(tell).join(), problem));
  }
});
