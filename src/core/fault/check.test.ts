import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../base/testing/properties.ts";
import { checkPlan, type JobSize } from "./check.ts";
import { parsePlan } from "./parse.ts";
import type { FaultPlan } from "./plan.ts";
import { jobSize, plans } from "./testing/plans.ts";

describe("X3 a plan fits a job", () => {
  it("when everything it names is there", () => {
    fc.assert(fc.property(plans, (plan) => checkPlan(plan, jobSize) === undefined));
  });

  const alone = { ranks: 1, nodes: 1, sets: 1 };
  const without = { ...jobSize, sets: 0 };
  const layered = { ...jobSize, isLayered: true };
  const onlyLayered = "only jobs under --fault-layer have deaths that the program alone sees; give it, or say kill";
  const onlyReal = "real deaths end a job under --fault-layer; say layer-kill";
  const ranks = "there is no rank 8; the job has ranks 0 to 7";
  const nodes = "there is no node 4; the job has nodes 0 to 3";
  const sets = "there is no set 4; the job has sets 0 to 3";
  const noSets = "the job's protocol takes no checkpoints and has no sets; choose another with --protocol";
  const noFlips = "only replicas flip bits of messages on their way; choose a --protocol that has them";
  const replicated = { ...jobSize, replicas: [2, 2, 2, 2] };
  const refusals: readonly (readonly [string, JobSize, string])[] = [
    ["kill rank 8 at 3s", jobSize, ranks],
    ["kill rank 1 at 3s", alone, "there is no rank 1; the job has rank 0 alone"],
    ["kill rank 0 at init of rank 8", jobSize, ranks],
    ["kill rank 0 at call 3 of rank 8", jobSize, ranks],
    ["kill node 4 at 3s", jobSize, nodes],
    ["stop node 4 at 3s", jobSize, nodes],
    ["continue node 4 at 3s", jobSize, nodes],
    ["cut link 0-4 at 3s", jobSize, nodes],
    ["delay link 4-* by 1s at 3s", jobSize, nodes],
    ["restore link 0-* at 3s", alone, "the job has one node and no links; use more --nodes"],
    ["kill set 4 at 3s", jobSize, sets],
    ["kill rank 0 at log full of set 4", jobSize, sets],
    ["kill rank 0 in recovery", without, noSets],
    ["kill rank 0 at commit of any set", without, noSets],
    ["kill set 0 at 3s", without, noSets],
    ["layer-kill rank 3 at call 100", jobSize, onlyLayered],
    ["kill rank 3 at call 100", layered, onlyReal],
    ["kill random node at 3s", layered, onlyReal],
    ["layer-kill rank 8 at 3s", layered, ranks],
    ["layer-kill node 4 at 3s", layered, nodes],
    ["flip 1 bit in rank 8 at 3s", jobSize, ranks],
    ["flip 1 bit in message 5 of rank 2", jobSize, noFlips],
    ["flip 1 bit in rank 4 at 3s", replicated, "there is no rank 4; the job has ranks 0 to 3"],
    ["flip 1 bit in rank 3 replica 2 at 3s", replicated, "there is no replica 2 of rank 3; it has replicas 0 to 1"],
    ["flip 1 bit in rank 0 replica 1 at 3s", jobSize, "there is no replica 1 of rank 0; it has replica 0 alone"],
  ];
  for (const [text, job, wrong] of refusals) {
    it(`not ${text}, with ${job.ranks} ranks and ${job.sets} sets`, () => {
      const plan = parsePlan(`stop random node at 1s; ${text}`) as FaultPlan;
      equal(checkPlan(plan, job), `Cannot use the fault plan: entry 2, "${text}": ${wrong}`);
    });
  }
});
