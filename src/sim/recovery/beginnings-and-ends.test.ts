import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { at, play, rounds, ScenarioProgram, survive } from "../logging/testing/scenario.ts";

const base = { nodes: 2, program: rounds(4) };

describe("rule 4: a kill before anybody has an image", () => {
  it("inside MPI_Init, of every rank in turn", () => {
    for (let rank = 0; rank < 4; rank++) {
      const { restarts, restartsOf } = survive({ ...base, faults: `kill rank ${rank} at init` });
      equal(restarts, 1);
      equal(restartsOf[rank], 1);
    }
  });

  it("inside MPI_Init, of both nodes, and again in the next one", () => {
    const { restarts } = survive({
      ...base,
      faults:
        "kill node 0 at init; kill node 1 at init; kill node 0 in recovery; kill node 1 in recovery number 2 of set 1; kill node 1 in recovery number 1 of set 1",
    });
    equal(restarts, 5);
  });

  it("in every one of the first calls of every rank", () => {
    for (let rank = 0; rank < 4; rank++) {
      for (let call = 1; call <= 6; call++) {
        const { restarts, checkpoints } = survive({
          ...base,
          checkpoints: at(0, 12),
          faults: `kill rank ${rank} at call ${call}`,
        });
        equal(restarts, 1);
        equal(checkpoints.restored, 0);
      }
    }
  });
});

describe("rule 9: the finished still serve", () => {
  /** Ranks 0 and 1 have sent all they have to send long before 2 and 3 are done. */
  const early = (): ScenarioProgram => {
    const program = new ScenarioProgram(4);
    program.gather([0, 1, 3], 2).send(0, 3).send(1, 2, 5_000);
    return program.compute(2, 300_000).gather([2], 3).send(3, 2).gather([3], 2);
  };

  it("a node whose ranks have finished falls, and finishes again", () => {
    const { rare, restartsOf } = survive({ nodes: 2, program: early().script, faults: "kill node 0 at finish" });
    equal(rare.finishedFell, 2);
    equal(restartsOf[0], 1);
    equal(restartsOf[2], 0);
  });

  it("and then the others fall, who need what the finished had sent", () => {
    const { rare, restartsOf } = survive({
      nodes: 2,
      program: early().script,
      faults: "kill node 0 at finish; kill node 1 at 0.2ms",
    });
    equal(rare.finishedFell, 2);
    equal(restartsOf[0], 1);
    equal(restartsOf[2], 1);
  });

  it("the others fall first, and the finished fall while they serve them", () => {
    const { rare, restartsOf } = survive({
      nodes: 2,
      program: early().script,
      faults: "kill node 1 at 0.2ms; kill node 0 in recovery of set 1",
    });
    equal(rare.finishedFell, 2);
    equal(restartsOf[2], 1);
  });

  it("§3.3.3 a finished member counts as present in a checkpoint, and its image has finished", () => {
    const program = new ScenarioProgram(4);
    program.gather([0, 1, 3], 2).send(0, 3).send(2, 1).compute(1, 200_000).send(1, 3).gather([3], 1).send(1, 2);
    const { checkpoints, rare } = survive({
      nodes: 2,
      program: program.script,
      checkpoints: at(1, 3),
      faults: "kill node 0 at checkpoint 1 after",
    });
    ok(checkpoints.committed > 0);
    equal(checkpoints.restored, 1);
    equal(rare.finishedFell, 1);
  });

  it("all of a set have finished and are captured; the set falls, and comes back finished", () => {
    const { checkpoints } = survive({
      nodes: 2,
      program: early().script,
      checkpoints: at(0, 2),
      faults: "kill node 0 at 0.25ms",
    });
    equal(checkpoints.restored, 1);
  });
});

describe("rule 10: a program that ends its own node", () => {
  const crashing = { ...base, crashesAt: { rank: 2, action: 5 } };

  it("at the same call in every life ends the job, and the dispatcher says why", () => {
    const { job, restartsOf, violations } = play({ ...crashing, faults: "" });
    equal(job?.reason.kind === "node-failed" && job.reason.givenUp?.rule, "same-call");
    equal(restartsOf[2], 3);
    equal(restartsOf[0], 0);
    ok(violations.some(({ invariant }) => invariant === "the job ends when all programs are over"));
  });

  it("ends it as well when it begins from an image, and others are killed meanwhile", () => {
    const { job, checkpoints } = play({
      ...base,
      crashesAt: { rank: 2, action: 14 },
      checkpoints: at(2, 3),
      faults: "kill node 0 in recovery of set 1; kill node 0 in recovery of set 1 number 2",
    });
    equal(job?.reason.kind === "node-failed" && job.reason.node, 1);
    ok(checkpoints.restored > 0);
  });

  it("is another thing than nodes that are killed from outside, however often", () => {
    const kills = Array.from({ length: 9 }, (_, i) => `kill node 1 in recovery number ${i + 1} of set 1`);
    const { restartsOf } = survive({ ...base, faults: ["kill node 1 at call 5 of rank 2", ...kills].join("; ") });
    equal(restartsOf[2], 10);
  });
});
