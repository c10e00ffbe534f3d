import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { Random } from "../random.ts";
import { SpawnJob, type SpawnJobOptions, type SpawnJobOutcome } from "./spawn-job.ts";

function optionsOf(seed: number, hasDeath: boolean): SpawnJobOptions {
  const random = new Random(seed);
  const parents = random.between(1, 4);
  const universe = parents + random.between(2, 6);
  const nodes = random.between(1, Math.min(4, universe));
  const timeNs = random.below(60_000);
  const death = random.chance(0.5) ? { timeNs, rank: random.below(universe) } : { timeNs, node: random.below(nodes) };
  return {
    random,
    parents,
    universe,
    nodes,
    death: hasDeath ? death : null,
    wishes: Array.from({ length: random.between(1, 3) }, () => random.between(1, 3)),
    refusals: random.pick([0, 0.2]),
    delayNsMax: random.pick([1, 3_000, 20_000]),
  };
}

const seeds = Array.from({ length: 300 }, (_, i) => i + 1);

/** In every job the outcome is decided once, then all nodes end; no process belongs to two wishes, and who was spawned is there. */
function check(outcome: SpawnJobOutcome, { wishes, parents }: SpawnJobOptions, seed: number): void {
  const { job, isEnded, decisions, stuck, left, answers, met } = outcome;
  deepEqual([decisions, isEnded], [1, true], `seed ${seed}: ${JSON.stringify(outcome)}`);
  const children = answers.flatMap((answer) => (answer?.kind === "spawned" ? [...answer.children] : []));
  equal(new Set(children).size, children.length, `seed ${seed}: a number was given twice`);
  if (job?.reason.kind !== "finished") return;
  deepEqual([...stuck, ...left], [], `seed ${seed}: ${JSON.stringify(outcome)}`);
  for (const [wish, processes] of wishes.entries()) {
    const answer = answers[wish];
    ok(answer !== undefined, `seed ${seed}: wish ${wish} was never answered`);
    if (answer.kind === "spawned") equal(answer.children.length, processes);
    equal(met[wish], answer.kind === "spawned" ? parents + processes : 0, `seed ${seed}, wish ${wish}`);
  }
}

describe("jobs whose ranks spawn others", () => {
  it("M6 §11.8 all of a wish are there and meet their parents, or none of them is, and all parents hear why", () => {
    const kinds = { spawned: 0, full: 0, refused: 0 };
    for (const seed of seeds) {
      const options = optionsOf(seed, false);
      const outcome = new SpawnJob(options).run();
      equal(outcome.job?.reason.kind, "finished", `seed ${seed}`);
      check(outcome, options, seed);
      for (const answer of outcome.answers) {
        if (answer?.kind === "spawned") kinds.spawned++;
        else if (answer?.kind === "refused") kinds[answer.why.startsWith("this job can start") ? "full" : "refused"]++;
      }
    }
    for (const [kind, times] of Object.entries(kinds)) ok(times > 20, `${kind}: ${times}`);
  });

  it("M6 §11.8 whoever dies while processes are started: the job ends, once and in order", () => {
    const counts = { "rank-failed": 0, "node-failed": 0, finished: 0, whileStarting: 0 };
    for (const seed of seeds) {
      const options = optionsOf(seed, true);
      const outcome = new SpawnJob(options).run();
      check(outcome, options, seed);
      counts[outcome.job!.reason.kind as "finished"]++;
      if (outcome.diedWhileStarting > 0) counts.whileStarting++;
    }
    for (const [kind, times] of Object.entries(counts)) ok(times > 10, `${kind}: ${times}`);
  });

  it("M6 §11.8 processes that are left alone when the others could not be started are found out", () => {
    const isLeft = seeds.some((seed) => {
      const { job, left } = new SpawnJob({ ...optionsOf(seed, false), endsRefused: false }).run();
      return job?.reason.kind === "finished" && left.length > 0;
    });
    ok(isLeft);
  });
});
