/** What each part of the return of a replica is good for: without it, worlds go wrong (R6). */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless } from "../../../test/long.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import { Random } from "../random.ts";
import type { MakeReplica } from "./run-replication-seed.ts";
import { type RevivalOutcome, runRevivalSeed, runRevivals } from "./run-revival-seed.ts";
import { weakenedReplicas } from "./testing/weakened-replicas.ts";

type Run = (makeReplica?: MakeReplica) => RevivalOutcome;

const bySeed =
  (seed: number): Run =>
  (makeReplica) =>
    runRevivalSeed({ seed, events: 40, variant: "parallel", makeReplica, moves: false });

/**
 * Replica 1 of rank 1 is lost, and replica 0 stands in for it. A large message of that one has been announced in world 1, and is not taken yet, when its image is
 * taken. The clone has the message to send as well. Then replica 0 dies.
 */
const halfTaken: Run = (makeReplica) => {
  const program = new ScenarioProgram(2);
  program.sendMeanwhile(1, 0, 20_000, () => {
    for (let i = 0; i < 30; i++) program.compute(1, 2_000);
    program.send(1, 0);
  });
  const cost = { jitterNs: 0, inFlightAtCrash: "lost", eagerBytesMax: 1000, detectionNs: 10_000 } as const;
  return runRevivals({
    plan: [2, 2],
    script: program.script,
    world: { ranks: 2, nodes: 4, cost },
    random: new Random(1),
    delayNsMax: 0,
    imageNsMax: 0,
    makeReplica: makeReplica ?? ((options, ports) => new ReplicationProtocol(options, ports)),
    trouble: {
      begin: ({ kill, numberOf }) => {
        kill(numberOf(1, 1), 3_000);
        kill(numberOf(1, 0), 73_000);
      },
      happens: () => {},
    },
  });
};

const runs: Readonly<Record<string, Run>> = {
  "the wait until everybody keeps what the clone will lack": bySeed(6),
  "an image that counts as sent what is confirmed alone": bySeed(73),
  "the wait until nobody sends in the clone's place": bySeed(109),
  "the word that a message is being taken from another": halfTaken,
  "the question for it when that one is dead": halfTaken,
  "what others hold, for the clone": bySeed(4),
  "the past of the replica that is made anew is forgotten": bySeed(18),
};

const always = new Set([
  "the word that a message is being taken from another",
  "the question for it when that one is dead",
  "the past of the replica that is made anew is forgotten",
  "what others hold, for the clone",
]);

describe("R6 what is left out of a replica's return is missed", () => {
  for (const [what, makeReplica] of Object.entries(weakenedReplicas)) {
    it(`R6 ${what}`, longUnless(always.has(what)), () => {
      const run = runs[what]!;
      ok(run(makeReplica).violations.length > 0, "nothing went wrong");
      equal(run().violations.length, 0);
    });
  }
});
