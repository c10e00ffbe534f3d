/**
 * Revocations when processes die at any step: of up to 9 processes every single death, before each event and before each packet that is
 * sent in it, in several orders of delivery and of hearing, with three fates of the packets under way; of up to 5 processes every pair of
 * deaths; random schedules with any number of deaths of up to 40 processes. `npm run test:long` goes through all of that.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless, tries } from "../../../test/long.ts";
import { Random } from "../../sim/random.ts";
import { type Crash, crashesOf, fates, hearings, type Order, orders, runSchedule } from "./testing/crash-schedules.ts";
import { type RevocationRole, RevocationWorld } from "./testing/revocation-world.ts";

const drawn: readonly RevocationRole[] = ["has", "has", "has", "revokes", "makes", "frees"];

/** One member revokes; in some worlds two do, in some others do not have the communicator all the time. */
function castsOf(ranks: number): RevocationRole[][] {
  const rest = Array.from({ length: ranks }, (): RevocationRole => "has");
  const casts = [
    rest.with(0, "revokes"),
    rest.with(ranks >> 1, "revokes").with(ranks - 1, "revokes"),
    rest.with(0, "frees").with(ranks - 1, "revokes"),
    rest.with(1, "makes").with(0, "revokes"),
  ];
  if (ranks > 3) casts.push(rest.map((_, rank) => (["revokes", "frees", "makes", "has"] as const)[rank % 4]!));
  return casts;
}

describe("U2 ULFM revocation, every schedule: who lives and has the communicator knows of it, or nobody does", () => {
  for (let ranks = 2; ranks <= 9; ranks++) {
    it(`${ranks} processes: every single death`, () => {
      const counts = { runs: 0, known: 0, unknown: 0 };
      const all = castsOf(ranks);
      const casts = tries(ranks, 0) < 5 ? all : [all[0]!, all.at(-1)!];
      for (const roles of casts) {
        for (const order of Object.values(orders).slice(0, tries(ranks < 5 ? 2 : 1, ranks < 5 ? 6 : 2))) {
          const sent = runSchedule(new RevocationWorld({ roles }), { order, hearsEarly: () => true, crashes: [] });
          for (const crash of crashesOf(sent)) {
            for (const isLost of fates.slice(0, tries(2, 3))) {
              for (const hearsEarly of hearings(ranks).slice(0, tries(2, 8))) {
                const world = new RevocationWorld({ roles, isLost });
                runSchedule(world, { order, hearsEarly, crashes: [crash] });
                counts.runs++;
                counts[world.knowing > 0 ? "known" : "unknown"]++;
              }
            }
          }
        }
      }
      assert.ok(counts.runs > 100 && counts.known > 50 && counts.unknown > 5, JSON.stringify(counts));
    });
  }

  for (let ranks = 3; ranks <= 5; ranks++) {
    it(`${ranks} processes: every pair of deaths`, longUnless(ranks === 3), () => {
      for (const roles of castsOf(ranks)) {
        for (const order of Object.values(orders).slice(0, 2)) {
          for (const isLost of fates.slice(0, 2)) {
            for (const hearsEarly of [() => true, () => false]) {
              const run = (...crashes: Crash[]): number[] =>
                runSchedule(new RevocationWorld({ roles, isLost }), { order, hearsEarly, crashes });
              for (const first of crashesOf(run())) {
                for (const second of crashesOf(run(first), first.step + 1)) run(first, second);
              }
            }
          }
        }
      }
    });
  }

  it("up to 40 processes, any number of deaths at random", () => {
    let known = 0;
    for (let seed = 1; seed <= tries(60, 600); seed++) {
      const random = new Random(seed);
      const ranks = 2 + random.below(39);
      const roles = Array.from({ length: ranks }, () => random.pick(drawn));
      // At any time; or many before the revocation, and most of its first neighbours among them: dead, or without the communicator.
      const isEarly = random.chance(0.5);
      if (isEarly)
        roles
          .fill(random.pick(["has", "frees"]))
          .fill("revokes", 0, 1)
          .fill("has", ranks - 1);
      const crashes = Array.from({ length: random.below(ranks) }, (_, i) =>
        isEarly
          ? { step: i, sends: -1, victim: 1 + random.below(ranks - 1) }
          : { step: random.below(ranks * 8), sends: random.below(5) - 1, victim: random.below(ranks) },
      );
      const early = random.bits();
      const hearsEarly = (rank: number): boolean => !isEarly && ((early >> (rank % 32)) & 1) === 1;
      const order: Order = (events) => events[random.below(events.length)]!;
      const world = new RevocationWorld({ roles, isLost: fates[random.below(3)]! });
      runSchedule(world, { order, hearsEarly, crashes });
      if (world.knowing > 0) known++;
    }
    assert.ok(known > tries(30, 300), `${known}`);
  });
});
