/**
 * Every world of replicas is judged for itself, by the checkers of ordinary worlds: each must come to the right answer, whatever
 * happened in the others. A process that is dead has not done all of its part; apart from that a death excuses nothing: no request
 * fails, no message is missing or left, also none of a dead sender.
 */
import { checkers } from "../checkers/all.ts";
import type { Checker, Evidence } from "../checkers/checker.ts";
import { collectivesRight } from "../checkers/collectives-right.ts";
import { communicatorsRight } from "../checkers/communicators-right.ts";
import { filesRight } from "../checkers/files-right.ts";
import { inputRight } from "../checkers/input-right.ts";
import { printedOnce } from "../checkers/printed-once.ts";
import { receivedOnce } from "../checkers/received-once.ts";
import type { Violation } from "../judge.ts";
import type { Observation } from "../observation.ts";
import type { Outside } from "../outside/outside.ts";
import type { Script } from "../script/script.ts";
import type { World } from "../world.ts";

/** These ask what every rank has done, so they must know which did not live to do it. */
const forgiving: ReadonlySet<Checker> = new Set([
  receivedOnce,
  collectivesRight,
  communicatorsRight,
  printedOnce,
  filesRight,
  inputRight,
]);

interface Seen {
  readonly script: Script;
  /** By replica. */
  readonly observations: readonly Observation[];
  readonly outsides: readonly Outside[];
  /** By receive: when it was posted for the first time, in whichever life; where processes have several. */
  readonly firstPosted?: ReadonlyMap<number, number>;
}

export function judgeWorlds(world: World, { script, observations, outsides, firstPosted }: Seen): Violation[] {
  const violations: Violation[] = [];
  for (const [replica, observation] of observations.entries()) {
    const processes = world.processes.filter(({ number }) => world.nameOf(number).replica === replica);
    const living = processes.filter(({ state }) => state !== "dead");
    const dead = new Set(processes.filter(({ state }) => state === "dead").map(({ rank }) => rank));
    const stuck = living.filter(({ state }) => state === "waiting").map(({ rank, waitsFor }) => ({ rank, waitsFor }));
    const { network } = world;
    const { output, files, input } = outsides[replica]!;
    const strict: Evidence = {
      script,
      observation,
      world: { processes: living, network },
      stuck,
      dead: new Set(),
      output,
      files,
      input,
      ...(firstPosted === undefined ? {} : { firstPosted }),
    };
    for (const checker of [...checkers, receivedFromAll(dead)]) {
      const evidence = forgiving.has(checker) ? { ...strict, dead } : strict;
      for (const what of checker.check(evidence)) {
        violations.push({ invariant: checker.name, what: `world ${replica}: ${what}` });
      }
    }
  }
  return violations;
}

/** R4: each message reaches every living replica of its receiver once, also when the replica that would send it is dead. */
const receivedFromAll = (dead: ReadonlySet<number>): Checker => ({
  name: "messages of the dead are received",
  check({ script, observation, stuck }): string[] {
    if (stuck.length > 0) return [];
    const times = new Int32Array(script.messages.length);
    for (const { message } of observation.receipts) if (message >= 0) times[message]!++;
    return script.messages
      .filter(({ number, from, to }) => dead.has(from) && !dead.has(to) && times[number] !== 1)
      .map(({ number, from, to }) => `message ${number} of rank ${from} to ${to}: ${times[number]} times`);
  },
});
