/**
 * From a seed to a judged world of processes that become dead to their program. Nobody is ever stuck, no process ends, what completed is right,
 * agreements and shrunken communicators are the same for all that saw them, and nothing is left behind.
 */
import type { Violation } from "../judge.ts";
import { Ledger } from "../ledger.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { LayeredRank } from "./layered-rank.ts";
import { runLayered } from "./layered-world.ts";
import { RepairingLayeredRank } from "./repairing-rank.ts";

interface LayerSeedOutcome {
  readonly violations: readonly Violation[];
  readonly ranks: number;
  readonly deaths: number;
  readonly shrinks: number;
  readonly events: number;
}

const eventsMax = 5_000_000;

export function runLayerSeed(seed: number): LayerSeedOutcome {
  const random = new Random(seed);
  const ranks = random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 20]);
  const { boards: _, ...drawn } = randomWorld(random, ranks);
  const ledger = new Ledger();
  const seen: LayeredRank[] = [];
  const plan = {
    seed: random.bits(),
    rounds: random.pick([3, 8, 15]),
    placesPerDeath: random.pick([0, 10, 30, 100]),
    survivor: random.chance(0.1) ? -1 : random.below(ranks),
    ledger,
    isDead: (rank: number): boolean => seen[rank]?.operations.layer.isDead === true,
  };
  const fanOut = random.pick([1, 2, 2, 3, 8]);
  const { world, stuck, left } = runLayered({ ...drawn, fanOut, eventsMax }, (rank) => {
    seen[rank.rank] = rank;
    return new RepairingLayeredRank(rank, plan).run();
  });
  for (const what of stuck) ledger.wrong("nobody is stuck", what);
  // A program that died has freed nothing.
  const dead = seen.filter(({ rank }) => plan.isDead(rank)).map(({ rank }) => rank);
  const isOfDead = (what: string): boolean => dead.some((rank) => what.startsWith(`rank ${rank}:`));
  for (const what of left) if (!isOfDead(what)) ledger.wrong("nothing is left behind", what);
  for (const { rank, state } of world.processes) {
    if (state !== "finished") ledger.wrong("all end", `rank ${rank} is ${state}`);
  }
  const { shrinks } = ledger.counts;
  return { violations: ledger.violations, ranks, deaths: dead.length, shrinks, events: world.trace.events };
}
