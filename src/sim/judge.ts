/** Runs a world to its end and lets every checker look at it. */
import { checkers } from "./checkers/all.ts";
import type { Evidence } from "./checkers/checker.ts";
import type { Observation } from "./observation.ts";
import type { World } from "./world.ts";

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

export interface SeedOutcome {
  readonly violations: readonly Violation[];
  /** Of everything that happened: the same seed gives the same hash. */
  readonly hash: string;
  readonly ranks: number;
  readonly events: number;
  readonly messages: number;
  readonly collectives: number;
  readonly deaths: number;
  /** Ranks that gave up after a death. */
  readonly gaveUp: number;
  /** How often rare ways were taken; tests that claim to exercise one look here. */
  readonly marks: ReturnType<typeof marksOf>;
}

/** `observation` may be known only when the world has ended. */
export function judgeWorld(
  world: World,
  {
    script,
    ...seen
  }: Pick<Evidence, "script" | "histories" | "firstPosted" | "output" | "files" | "sharedFiles" | "input"> & {
    readonly observation: Observation | (() => Observation);
    readonly givenUp?: () => number;
  },
): SeedOutcome {
  const violations: Violation[] = [];
  let stuck: Evidence["stuck"] = [];
  try {
    stuck = world.run();
  } catch (error) {
    violations.push({
      invariant: "nothing throws",
      what: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const dead = new Set(world.processes.filter(({ state }) => state === "dead").map(({ rank }) => rank));
  const observation = typeof seen.observation === "function" ? seen.observation() : seen.observation;
  const givenUp = seen.givenUp?.() ?? 0;
  const evidence = { script, ...seen, observation, givenUp, world, stuck, dead };
  // A world that threw stopped somewhere: what is missing then is no news.
  if (violations.length === 0) {
    for (const { name, check } of checkers) {
      for (const what of check(evidence)) violations.push({ invariant: name, what });
    }
  }
  return {
    violations,
    hash: world.trace.hash,
    ranks: script.ranks,
    events: world.trace.events,
    messages: script.messages.length,
    collectives: script.collectives.length,
    deaths: dead.size,
    gaveUp: observation.gaveUp.size,
    marks: marksOf(world, observation),
  };
}

export function marksOf({ processes, network }: World, { races }: Observation) {
  const marks = { fetch: 0, help: 0, put: 0, push: 0, full: network.timesFull, closed: network.timesClosed, ...races };
  for (const { transport } of processes) {
    for (const way of ["fetch", "help", "put", "push"] as const) marks[way] += transport.marks[way];
  }
  return marks;
}
