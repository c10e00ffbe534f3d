/** What each part of the return of a replica is good for: without it, seeds find worlds that go wrong (R6). */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless } from "../../../test/long.ts";
import { runRevivalSeed } from "./run-revival-seed.ts";
import { weakenedReplicas } from "./testing/weakened-replicas.ts";

/** One of the seeds that find it, and how long the program is. */
const seeds: Readonly<Record<string, { readonly seed: number; readonly events?: number }>> = {
  "the wait until everybody keeps what the clone will lack": { seed: 6, events: 40 },
  "an image that counts as sent what is confirmed alone": { seed: 73, events: 40 },
  "the wait until nobody sends in the clone's place": { seed: 2, events: 40 },
  "the word that a message is being taken from another": { seed: 10, events: 40 },
  "the question for it when that one is dead": { seed: 10, events: 40 },
  "what others hold, for the clone": { seed: 9, events: 40 },
  "the past of the replica that is made anew is forgotten": { seed: 29, events: 40 },
};

const always = new Set([
  "an image that counts as sent what is confirmed alone",
  "the past of the replica that is made anew is forgotten",
  "what others hold, for the clone",
]);

describe("R6 what is left out of a replica's return is missed", () => {
  for (const [what, makeReplica] of Object.entries(weakenedReplicas)) {
    it(`R6 ${what}`, longUnless(always.has(what)), () => {
      const options = { ...seeds[what]!, variant: "parallel" } as const;
      const { violations } = runRevivalSeed({ ...options, makeReplica });
      ok(violations.length > 0, "nothing went wrong");
      equal(runRevivalSeed(options).violations.length, 0);
    });
  }
});
