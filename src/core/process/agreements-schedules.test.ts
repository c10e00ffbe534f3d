/**
 * Agreements when processes die at any step. What is exhausted:
 *
 * - every interleaving of joins, arrivals, notices and one death, between any two events, of 2 and 3 processes; of two deaths of 3;
 * - of up to 9 processes every single death, before each event and before each packet that is sent in it, in six orders of delivery (of
 *   more than three processes in two), with three fates of the packets under way, and with several orders in which the others hear of the death;
 * - of up to 5 processes the same for every pair of deaths, in two orders of delivery and hearing and two fates;
 * - random schedules with any number of deaths of up to 20 processes.
 *
 * `npm run test:long` goes through all of that, the usual run through one order of delivery for the larger ones, up to 7.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless, tries } from "../../../test/long.ts";
import { Random } from "../../sim/random.ts";
import { AgreementWorld, type AgreementWorldOptions } from "./testing/agreement-world.ts";
import { type Crash, crashesOf, fates, hearings, type Order, orders, runSchedule } from "./testing/crash-schedules.ts";
import type { ScheduledEvent } from "./testing/fifo-channels.ts";

/** Goes through all interleavings, by states: a path is run again from its start for each step beyond it. */
function explore(options: AgreementWorldOptions, crashesMax: number): number {
  const seen = new Set<string>();
  const paths: ScheduledEvent[][] = [[]];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const world = new AgreementWorld(options);
    for (const event of path) world.happen(event);
    const key = world.key();
    if (seen.has(key)) continue;
    seen.add(key);
    world.check();
    const events = world.events();
    if (events.length === 0) world.checkEnd();
    const { channels } = world;
    if (channels.deaths.length < crashesMax) {
      for (let at = 0; at < options.ranks; at++) if (channels.isAlive(at)) events.push({ kind: "crash", at });
    }
    for (const event of events) paths.push([...path, event]);
  }
  return seen.size;
}

describe("U2 ULFM agreement, every schedule", () => {
  it("2 and 3 processes, one death, and two deaths: every interleaving", () => {
    const states = [
      explore({ ranks: 2, rounds: 2 }, 1),
      explore({ ranks: 2, rounds: 2, isLost: () => true }, 1),
      explore({ ranks: 3, rounds: 1 }, 1),
      explore({ ranks: 3, rounds: 1, isLost: () => true }, 1),
      explore({ ranks: 3, rounds: 1, isLost: () => true }, 2),
    ];
    for (const count of states) assert.ok(count > 50, `${states}`);
  });

  for (let ranks = 2; ranks <= 9; ranks++) {
    it(`${ranks} processes: every single death`, longUnless(ranks < 8), () => {
      let runs = 0;
      for (const order of Object.values(orders).slice(0, tries(ranks < 4 ? 3 : 1, ranks < 4 ? 6 : 2))) {
        const sent = runSchedule(new AgreementWorld({ ranks, rounds: 2 }), {
          order,
          hearsEarly: () => true,
          crashes: [],
        });
        for (const crash of crashesOf(sent)) {
          for (const isLost of fates) {
            for (const hearsEarly of hearings(ranks).slice(0, tries(3, 8))) {
              runSchedule(new AgreementWorld({ ranks, rounds: 2, isLost }), { order, hearsEarly, crashes: [crash] });
              runs++;
            }
          }
        }
      }
      assert.ok(runs > 200, `${runs}`);
    });
  }

  for (let ranks = 3; ranks <= 5; ranks++) {
    it(`${ranks} processes: every pair of deaths`, longUnless(ranks === 3), () => {
      for (const order of Object.values(orders).slice(0, 2)) {
        for (const isLost of fates.slice(0, 2)) {
          for (const hearsEarly of [() => true, () => false]) {
            const run = (...crashes: Crash[]): number[] =>
              runSchedule(new AgreementWorld({ ranks, rounds: 1, isLost }), { order, hearsEarly, crashes });
            for (const first of crashesOf(run())) {
              for (const second of crashesOf(run(first), first.step + 1)) run(first, second);
            }
          }
        }
      }
    });
  }

  it("up to 20 processes, any number of deaths at random", () => {
    for (let seed = 1; seed <= tries(100, 2_000); seed++) {
      const random = new Random(seed);
      const ranks = 2 + random.below(19);
      const lost = random.below(3);
      const early = random.below(1 << 20);
      const crashes = Array.from({ length: random.below(ranks) }, () => ({
        step: random.below(ranks * 12),
        sends: random.below(5) - 1,
        victim: random.below(ranks),
      }));
      const order: Order = (events) => events[random.below(events.length)]!;
      const hearsEarly = (rank: number): boolean => ((early >> rank) & 1) === 1;
      runSchedule(new AgreementWorld({ ranks, rounds: 3, isLost: fates[lost]! }), { order, hearsEarly, crashes });
    }
  });
});
