import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { at, rounds, ScenarioProgram, survive } from "../logging/testing/scenario.ts";

const base = { nodes: 2, program: rounds(6) };

/** One fall for each of these moments. */
function sweep(from: number, to: number, step: number, play: (atMs: string) => LoggingOutcome): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (let us = from; us <= to; us += step) outcomes.push(play(`${us / 1000}ms`));
  return outcomes;
}

describe("§3.2 several sets fall at once", () => {
  it("both, and with them both payload logs: each is rebuilt by running again (L2)", () => {
    const outcome = survive({
      ...base,
      services: { detectionNs: 0 },
      faults: "kill node 0 at call 8 of rank 2; kill node 1 at call 8 of rank 2",
    });
    ok(outcome.rare.severalSetsDown > 0);
    equal(outcome.restarts, 2);
    ok(outcome.loggedBytes > 0);
    equal(outcome.checkpoints.restored, 0, "nothing of the logs came from an image");
  });

  it("both, each from an image of its own time: one is older than what the other has sent it", () => {
    const outcome = survive({
      ...base,
      checkpoints: [...at(0, 2), ...at(2, 12)],
      services: { detectionNs: 0 },
      faults: "kill node 0 at call 18 of rank 2; kill node 1 at call 18 of rank 2",
    });
    equal(outcome.checkpoints.restored, 2);
    ok(outcome.rare.severalSetsDown > 0);
  });

  it("one rank of each: the others of their sets are ended, not asked", () => {
    const { restarts } = survive({ ...base, faults: "kill rank 1 at call 5; kill rank 2 at call 9" });
    equal(restarts, 2);
  });

  it("a chain: each needs the log of the next, which is lost too", () => {
    const program = new ScenarioProgram(4);
    for (let round = 0; round < 4; round++) {
      for (const to of [1, 2, 3, 0]) {
        program.gather([(to + 3) % 4, (to + 2) % 4], to).compute(to, 3_000);
      }
    }
    const { restarts } = survive({
      nodes: 4,
      program: program.script,
      faults:
        "kill node 0 at call 9 of rank 0; kill node 1 in recovery of set 0; kill node 2 in recovery of set 1; kill node 3 in recovery of set 2",
    });
    equal(restarts, 4);
  });

  it("all sets, again and again", () => {
    const { restarts } = survive({
      ...base,
      checkpoints: [...at(0, 4), ...at(2, 10)],
      faults:
        "kill node 0 at call 6; kill node 1 at call 6 of rank 0; kill node 0 in recovery number 1; kill node 1 in recovery number 1; kill node 0 in recovery number 2; kill node 1 in recovery number 2",
    });
    equal(restarts, 6);
  });
});

describe("L5 a set begins again while another is down", () => {
  const alone = { ...base, setOf: [0, 1, 2, 3] };

  it("what it tells a life that has not begun yet is lost, and told again", () => {
    const { restarts } = survive({ ...alone, faults: "kill node 0 at 0.05ms" });
    equal(restarts, 2);
  });

  it("two of one node that fall one after the other", () => {
    const outcomes = sweep(50, 110, 4, (atMs) =>
      survive({ ...alone, services: { restartNs: 80_000 }, faults: `kill rank 0 at 0.05ms; kill rank 1 at ${atMs}` }),
    );
    ok(outcomes.every(({ restarts }) => restarts === 2));
    ok(outcomes.some(({ rare }) => rare.severalSetsDown > 0));
  });
});

describe("L5 a set falls again during its replay", () => {
  it("at its beginning, three times in a row", () => {
    const { rare, restarts } = survive({
      ...base,
      faults: "kill node 1 at call 15; kill node 1 in recovery number 1; kill node 1 in recovery number 2",
    });
    ok(rare.fellInReplay >= 2);
    equal(restarts, 3);
  });

  it("at every moment of it", () => {
    const outcomes = sweep(36, 64, 1, (atMs) =>
      survive({ ...base, mayMiss: true, faults: `kill node 1 at call 15 of rank 2; kill node 1 at ${atMs}` }),
    );
    const inReplay = outcomes.filter(({ rare }) => rare.fellInReplay > 0);
    ok(inReplay.length >= 5, `${inReplay.length} of ${outcomes.length} fell in replay`);
    ok(outcomes.some(({ restarts }) => restarts === 2));
  });

  it("from an image, at every moment", () => {
    const checkpoints = [...at(0, 5), ...at(2, 6, 12)];
    const outcomes = sweep(60, 200, 4, (atMs) =>
      survive({
        ...base,
        checkpoints,
        mayMiss: true,
        faults: `kill node 1 at call 20 of rank 2; kill node 1 at ${atMs}`,
      }),
    );
    ok(outcomes.some(({ rare, checkpoints: { restored } }) => rare.fellInReplay > 0 && restored === 2));
  });

  it("and the one whose log it replays from falls meanwhile", () => {
    const { restartsOf } = survive({
      ...base,
      faults: "kill node 1 at call 15; kill node 0 in recovery of set 1",
    });
    equal(restartsOf[0], 1);
    equal(restartsOf[2], 1);
  });

  it("the other set falls at every moment of the replay", () => {
    const outcomes = sweep(50, 150, 4, (atMs) =>
      survive({ ...base, mayMiss: true, faults: `kill node 1 at call 15; kill node 0 at ${atMs}` }),
    );
    ok(outcomes.filter(({ restarts }) => restarts === 2).length > 5);
  });
});

describe("L1 what the event logger has not acknowledged", () => {
  it("is lost with its set, and nobody has seen what depends on it", () => {
    const slow = { delayNsMax: 30_000 };
    const outcomes = sweep(10, 200, 5, (atMs) =>
      survive({ ...base, services: slow, mayMiss: true, faults: `kill node 1 at ${atMs}` }),
    );
    ok(outcomes.some(({ rare }) => rare.determinantsLost > 0));
    ok(outcomes.some(({ rare }) => rare.acknowledgementsLost > 0));
  });
});
