/**
 * Agreements when processes die at any step. What is exhausted:
 *
 * - every interleaving of joins, arrivals, notices and one death, between any two events, of 2 and 3 processes; of two deaths of 3;
 * - of up to 9 processes every single death, before each event and before each packet that is sent in it, in six orders of delivery,
 *   with three fates of the packets under way, and with several orders in which the others hear of the death;
 * - of up to 5 processes the same for every pair of deaths, in two orders of delivery and hearing and two fates;
 * - random schedules with any number of deaths of up to 20 processes.
 *
 * `npm run test:long` goes through all of that, the usual run through one order of delivery for the larger ones.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless, tries } from "../../../test/long.ts";
import { Random } from "../../sim/random.ts";
import { type AgreementEvent, AgreementWorld, type AgreementWorldOptions } from "./testing/agreement-world.ts";

/** Goes through all interleavings, by states: a path is run again from its start for each step beyond it. */
function explore(options: AgreementWorldOptions, crashesMax: number): number {
  const seen = new Set<string>();
  const paths: AgreementEvent[][] = [[]];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const world = new AgreementWorld(options);
    for (const event of path) world.happen(event);
    const key = world.key();
    if (seen.has(key)) continue;
    seen.add(key);
    world.check();
    const events = world.events();
    if (events.length === 0) world.checkEnd();
    if (world.deaths.length < crashesMax) {
      for (const { rank, isAlive } of world.members) if (isAlive) events.push({ kind: "crash", at: rank });
    }
    for (const event of events) paths.push([...path, event]);
  }
  return seen.size;
}

type Order = (events: readonly AgreementEvent[], step: number) => AgreementEvent;

const placeOf = (event: AgreementEvent): number => (event.kind === "arrival" ? event.to : event.at);

const orders: Readonly<Record<string, Order>> = {
  "lowest receiver first": (events) => events.reduce((a, b) => (placeOf(b) < placeOf(a) ? b : a)),
  "highest receiver first": (events) => events.reduce((a, b) => (placeOf(b) > placeOf(a) ? b : a)),
  "in turn": (events, step) => events[step % events.length]!,
  "in turn, backwards": (events, step) => events[events.length - 1 - (step % events.length)]!,
  random: (events, step) => events[(Math.imul(step + 7, 0x9e3779b1) % events.length) >>> 0] ?? events[0]!,
  "another random": (events, step) => events[(Math.imul(step + 3, 0x85ebca6b) >>> 7) % events.length]!,
};

/** Which members hear of deaths as soon as they can; the others when nothing else is left to happen to them. */
type Hearing = (rank: number) => boolean;

interface Crash {
  /** At this event, counted over the whole run. */
  readonly step: number;
  /** The process in which it happens dies in place of sending more packets than these; −1: before the event. */
  readonly sends: number;
  /** Dies before the event; the process in which it happens, unless given. */
  readonly victim?: number;
}

const fates = [() => false, () => true, (from: number, to: number) => (from + to) % 2 === 0] as const;

interface Run {
  readonly options: AgreementWorldOptions;
  readonly order: Order;
  readonly hearsEarly: Hearing;
  readonly crashes: readonly Crash[];
}

/** How many packets each event sent, when nobody died. */
function run({ options, order, hearsEarly, crashes }: Run): number[] {
  const world = new AgreementWorld(options);
  const sent: number[] = [];
  for (let step = 0; ; step++) {
    assert.ok(step < 20_000, "it goes on for ever");
    const all = world.events();
    if (all.length === 0) break;
    const late = all.filter((event) => event.kind !== "notice" || hearsEarly(event.at));
    const early = late.filter((event) => event.kind === "notice");
    const event = order(early.length > 0 ? early : late.length > 0 ? late : all, step);
    const before = world.packets;
    const crash = crashes.find((each) => each.step === step);
    if (crash === undefined) world.happen(event);
    else if (crash.sends < 0) {
      const at = crash.victim ?? placeOf(event);
      if (world.members[at]!.isAlive) world.happen({ kind: "crash", at });
    } else world.happen(event, crash.sends);
    sent.push(world.packets - before);
  }
  // Verdicts stay, also those of the dead.
  world.check();
  world.checkEnd();
  return sent;
}

/** Every place at which a process can die in a run: before each event, and before each packet that is sent in it. */
function* crashesOf(sent: readonly number[], from = 0): Generator<Crash> {
  for (let step = from; step < sent.length; step++) {
    for (let sends = -1; sends < sent[step]!; sends++) yield { step, sends };
  }
}

function hearings(ranks: number): Hearing[] {
  const all: Hearing[] = [() => true, () => false, (rank) => rank % 2 === 0];
  for (let one = 0; one < ranks; one += 3)
    all.push(
      (rank) => rank === one,
      (rank) => rank !== one,
    );
  return all;
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
    it(`${ranks} processes: every single death`, () => {
      let runs = 0;
      for (const order of Object.values(orders).slice(0, tries(ranks < 4 ? 3 : 1, 6))) {
        const usual = { options: { ranks, rounds: 2 }, order, hearsEarly: () => true, crashes: [] };
        const sent = run(usual);
        for (const crash of crashesOf(sent)) {
          for (const isLost of fates) {
            for (const hearsEarly of hearings(ranks).slice(0, tries(3, 99))) {
              run({ ...usual, options: { ...usual.options, isLost }, hearsEarly, crashes: [crash] });
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
            const usual = { options: { ranks, rounds: 1, isLost }, order, hearsEarly };
            const sent = run({ ...usual, crashes: [] });
            for (const first of crashesOf(sent)) {
              const later = run({ ...usual, crashes: [first] });
              for (const second of crashesOf(later, first.step + 1)) run({ ...usual, crashes: [first, second] });
            }
          }
        }
      }
    });
  }

  it("up to 20 processes, any number of deaths at random", () => {
    for (let seed = 1; seed <= tries(200, 20_000); seed++) {
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
      run({ options: { ranks, rounds: 3, isLost: fates[lost]! }, order, hearsEarly, crashes });
    }
  });
});
