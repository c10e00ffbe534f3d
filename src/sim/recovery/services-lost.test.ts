import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { at, play, rounds, type Scenario, survive } from "../logging/testing/scenario.ts";

const base: Omit<Scenario, "faults"> = { nodes: 2, program: rounds(6) };

/** The program takes longer than that. */
function sweep(faults: (atMs: string) => string, scenario: Omit<Scenario, "faults"> = base): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (let us = 5; us <= 95; us += 5) outcomes.push(survive({ ...scenario, faults: faults(`${us / 1000}ms`) }));
  return outcomes;
}

describe("L1 the event logger cannot be reached for a while", () => {
  const base: Omit<Scenario, "faults"> = { nodes: 2, program: rounds(6), loggerKeeps: true };

  it("nothing that depends on a choice leaves meanwhile, and all goes on afterwards", () => {
    const outcomes = sweep((atMs) => `kill service event-logger at ${atMs}`, {
      ...base,
      services: { restartNs: 200_000 },
    });
    ok(outcomes.every(({ rare }) => rare.loggerLost === 1));
    ok(outcomes.every(({ restarts }) => restarts === 0));
  });

  it("again and again", () => {
    const { rare } = survive({
      ...base,
      mayMiss: true,
      faults: Array.from({ length: 10 }, (_, i) => `kill service event-logger at ${(i + 1) / 50}ms`).join("; "),
    });
    ok(rare.loggerLost > 3);
  });

  it("and a set falls that had something to tell it", () => {
    const outcomes = sweep((atMs) => `kill service event-logger at ${atMs}; kill node 1 at ${atMs}`, base);
    ok(outcomes.some(({ rare }) => rare.determinantsLost > 0));
    ok(outcomes.every(({ restarts }) => restarts === 1));
  });

  it("and a set replays meanwhile, and falls again", () => {
    const outcomes = sweep(
      (atMs) =>
        `kill node 1 at ${atMs}; kill service event-logger in recovery of set 1; kill node 1 in recovery number 1; kill node 0 in recovery of set 1`,
      base,
    );
    ok(outcomes.some(({ rare }) => rare.loggerLost === 1 && rare.severalSetsDown > 0));
  });

  it("while a checkpoint waits for it to be committed", () => {
    const checkpoints = [...at(0, 5, 12), ...at(2, 6)];
    const slow = { delayNsMax: 20_000, restartNs: 300_000 };
    const outcome = survive({
      ...base,
      checkpoints,
      services: slow,
      faults: "kill service event-logger at checkpoint 1 of set 0 before; kill node 0 at checkpoint 1 after",
    });
    equal(outcome.rare.loggerLost, 1);
    equal(outcome.checkpoints.restored, 1);
  });

  it("is very late: everything is only slower", () => {
    const late = survive({ ...base, services: { delayNsMax: 1_000_000 }, faults: "kill node 1 at 0.3ms" });
    equal(late.restarts, 1);
  });
});

/** The event logger crashes, and a node falls in the same instant, a little before, or a little after. */
const together = (atMs: string): string => `kill service event-logger at ${atMs}; kill node 1 at ${atMs}`;
const isFinished = ({ job }: LoggingOutcome): boolean => job?.reason.kind === "finished";

describe("L1 the event logger is lost, and its successor goes on with what it has written", () => {
  it("all goes on", () => {
    const outcomes = sweep((atMs) => `kill service event-logger at ${atMs}`);
    ok(outcomes.every((outcome) => outcome.rare.loggerCrashed === 1 && isFinished(outcome)));
  });

  it("a set falls in the same instant: it replays what it had chosen", () => {
    const outcomes = sweep(together);
    ok(outcomes.every((outcome) => isFinished(outcome) && outcome.restarts === 1 && outcome.rare.choicesLost === 0));
  });

  it("a set falls in the same instant, and the write under way is torn", () => {
    const outcomes = sweep(together, { ...base, store: "torn" });
    ok(outcomes.every((outcome) => isFinished(outcome) && outcome.restarts === 1 && outcome.rare.choicesLost === 0));
    ok(outcomes.filter(({ stores }) => stores.torn === 1).length > 5);
  });

  it("all sets fall in the same instant", () => {
    const outcomes = sweep((atMs) => `${together(atMs)}; kill node 0 at ${atMs}`);
    ok(outcomes.every((outcome) => isFinished(outcome) && outcome.restarts === 2));
  });

  it("a set that has fallen waits for its stream: the question is asked of the successor, and answered", () => {
    for (let us = 50; us <= 80; us += 2) {
      const outcome = survive({
        ...base,
        services: { delayNsMax: 20_000 },
        faults: `kill node 1 at 0.05ms; kill service event-logger at ${us / 1000}ms`,
      });
      ok(isFinished(outcome) && outcome.restarts === 1);
    }
  });

  it("one event logger after the other, and sets, with checkpoints that trim what is written", () => {
    const checkpoints = [...at(0, 5, 12, 20, 28), ...at(2, 6, 14, 22, 30)];
    const outcomes = [20, 35, 50, 65, 80].map((us) => {
      const times = Array.from({ length: 12 }, (_, i) => `${((i + 1) * us) / 1000}ms`);
      const faults = times.map((atMs, i) => (i % 3 === 2 ? together(atMs) : `kill service event-logger at ${atMs}`));
      return survive({
        ...base,
        program: rounds(14),
        checkpoints,
        store: "torn",
        faults: faults.join("; "),
        mayMiss: true,
      });
    });
    ok(outcomes.every((outcome) => isFinished(outcome) && outcome.rare.choicesLost === 0));
    ok(outcomes.some(({ rare, restarts }) => rare.loggerCrashed > 5 && restarts > 2));
    ok(outcomes.some(({ stores }) => stores.renewed > 0 && stores.torn > 0));
  });

  it("while a checkpoint waits for it", () => {
    const outcome = survive({
      ...base,
      checkpoints: [...at(0, 5, 12), ...at(2, 6)],
      services: { delayNsMax: 10_000 },
      faults: "kill service event-logger at checkpoint 1 of set 0 before; kill node 0 at checkpoint 2 after",
    });
    equal(outcome.rare.loggerCrashed, 1);
    equal(outcome.checkpoints.restored, 1);
  });
});

describe("L1 the event logger is lost, and what it has written is damaged", () => {
  const lost = "the event logger was lost with what they had chosen";
  const damaged: Omit<Scenario, "faults"> = { ...base, store: "damaged" };

  it("its successor is told by the nodes, and all goes on", () => {
    const outcomes = sweep((atMs) => `kill service event-logger at ${atMs}`, damaged);
    ok(outcomes.every((outcome) => outcome.stores.refused === 1 && isFinished(outcome)));
  });

  it("again and again, also while the nodes tell the successor", () => {
    for (let periodUs = 1; periodUs <= 10; periodUs++) {
      const times = Array.from({ length: 20 }, (_, i) => `${((i + 1) * periodUs) / 1000}ms`);
      const faults = times.map((atMs) => `kill service event-logger at ${atMs}`).join("; ");
      const outcome = survive({ ...damaged, faults, mayMiss: true });
      ok(outcome.rare.loggerCrashed > 10);
      ok(isFinished(outcome));
    }
  });

  it("a set falls when the successor has been told: it replays what its node kept and told", () => {
    const outcomes = sweep((atMs) => `kill service event-logger at 0.02ms; kill node 1 at ${atMs}`, {
      ...damaged,
      program: rounds(12),
      mayMiss: true,
      services: { restartNs: 0, delayNsMax: 100 },
    });
    const goneOn = outcomes.filter((outcome) => isFinished(outcome) && outcome.restarts === 1);
    ok(goneOn.length >= 10, `${goneOn.length} of ${outcomes.length} went on`);
  });

  it("a set falls before: nobody has what it had shown to others, and the job ends and says so", () => {
    for (const { job, rare } of sweep(together, damaged)) {
      ok(job?.reason.kind === "unusable" && job.reason.message.endsWith(lost), JSON.stringify(job));
      equal(rare.choicesLost, 1);
    }
  });

  it("a set that has fallen waits for its stream: the same", () => {
    const { job } = play({
      ...damaged,
      services: { delayNsMax: 20_000 },
      faults: "kill node 1 at 0.05ms; kill service event-logger at 0.06ms",
    });
    ok(job?.reason.kind === "unusable" && job.reason.message.endsWith(lost), JSON.stringify(job));
  });

  it("while a checkpoint waits for it: it counts when the successor has been told", () => {
    const outcome = survive({
      ...damaged,
      checkpoints: [...at(0, 5, 12), ...at(2, 6)],
      services: { delayNsMax: 10_000 },
      faults: "kill service event-logger at checkpoint 1 of set 0 before; kill node 0 at checkpoint 2 after",
    });
    equal(outcome.rare.loggerCrashed, 1);
    equal(outcome.checkpoints.restored, 1);
  });
});

describe("V4 the checkpoint server loses what it has not committed", () => {
  const long = { ...base, program: rounds(14), checkpoints: at(0, 4, 12, 20, 28, 36) };

  it("between two images: the attempt is over, the next one counts", () => {
    const outcomes = [3_000, 6_000, 9_000, 12_000, 15_000, 18_000].map((delayNsMax) =>
      survive({
        ...long,
        services: { delayNsMax, restartNs: 0 },
        faults: "kill service checkpoint-server at checkpoint 2 of set 0 while; kill node 0 at checkpoint 3 after",
      }),
    );
    ok(outcomes.every(({ checkpoints }) => checkpoints.restored === 1));
    ok(outcomes.some(({ checkpoints }) => checkpoints.givenUp === 1));
  });

  it("while its ranks stand still: they go on", () => {
    const outcomes = [20_000, 40_000, 60_000].map((restartNs) =>
      survive({
        ...long,
        services: { restartNs },
        faults: "kill service checkpoint-server at checkpoint 1 of set 0 before; kill node 0 at checkpoint 3 after",
      }),
    );
    ok(outcomes.every(({ checkpoints }) => checkpoints.restored === 1));
    ok(outcomes.some(({ checkpoints }) => checkpoints.givenUp > 0));
  });
});

describe("rule 7: a link or a node that only stands still is no death", () => {
  it("a link is cut at any moment, and restored", () => {
    const outcomes = sweep((atMs) => `cut link 0-1 at ${atMs} for 0.3ms`);
    ok(outcomes.every(({ restarts, fired }) => restarts === 0 && fired[0] === 1));
  });

  it("a link is cut while a set replays from the log behind it", () => {
    const outcomes = sweep((atMs) => `kill node 1 at ${atMs}; cut link 0-1 in recovery of set 1 for 0.3ms`);
    ok(outcomes.every(({ restarts }) => restarts === 1));
  });

  it("a link is slow for a while, and a set falls", () => {
    const outcomes = sweep((atMs) => `delay link 0-1 by 0.1ms at 0.01ms for 0.2ms; kill node 0 at ${atMs}`);
    ok(outcomes.every(({ restarts }) => restarts === 1));
  });

  it("a node stands still and goes on", () => {
    const outcomes = sweep((atMs) => `stop node 1 at ${atMs} for 0.3ms`);
    ok(outcomes.every(({ restarts, fired }) => restarts === 0 && fired[0] === 1));
  });

  it("a node that stands still for too long is killed, and another takes its place", () => {
    const { restartsOf } = survive({ ...base, faults: "stop node 1 at 0.05ms" });
    equal(restartsOf[2], 1);
  });
});
