/**
 * From a seed to a judged world of processes that become dead to their program. Nobody is ever stuck, no process ends, what completed is right,
 * agreements and shrunken communicators are the same for all that saw them, and nothing is left behind.
 */
import { backgroundWays } from "../../core/fault-layer/background-way.ts";
import { marksOf, type SeedOutcome } from "../judge.ts";
import { Ledger } from "../ledger.ts";
import { Observation } from "../observation.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { LayeredRank } from "./layered-rank.ts";
import { runLayered } from "./layered-world.ts";
import { RepairingLayeredRank } from "./repairing-rank.ts";

interface LayerSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  /** How many rounds. */
  readonly events?: number | undefined;
  readonly listener?: (line: string) => void;
}

interface LayerSeedOutcome extends SeedOutcome {
  readonly shrinks: number;
  /** At boards: how often members met, and took their arrivals back. */
  readonly meetings: number;
  readonly withdrawn: number;
}

const eventsMax = 5_000_000;

export function runLayerSeed(options: LayerSeedOptions): LayerSeedOutcome {
  const { seed } = options;
  const random = new Random(seed);
  const ranks = options.ranks ?? random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 20]);
  const anyWorld = randomWorld(random, ranks);
  const boards = { count: random.pick([1, 2, 8]), bytesMax: random.pick([0, 40, 600, 4_096]) };
  // Boards are for members of one node.
  const drawn = random.chance(0.5) ? { ...anyWorld, nodes: 1, boards } : anyWorld;
  const ledger = new Ledger();
  const seen: LayeredRank[] = [];
  const plan = {
    seed: random.bits(),
    rounds: options.events ?? random.pick([3, 8, 15]),
    placesPerDeath: random.pick([0, 10, 30, 100]),
    survivor: random.chance(0.1) ? -1 : random.below(ranks),
    ledger,
    isDead: (rank: number): boolean => seen[rank]?.operations.layer.isDead === true,
  };
  const heard = options.listener === undefined ? {} : { listener: options.listener };
  const fanOut = random.pick([1, 2, 2, 3, 8]);
  const background = random.pick(backgroundWays);
  const { world, stuck, left } = runLayered({ ...drawn, ...heard, fanOut, background, eventsMax }, (rank) => {
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
  const { shrinks, messages, collectives, agreements } = ledger.counts;
  return {
    violations: ledger.violations,
    hash: world.trace.hash,
    ranks,
    events: world.trace.events,
    messages,
    collectives: collectives + agreements,
    deaths: dead.length,
    gaveUp: 0,
    marks: marksOf(world, new Observation()),
    shrinks,
    ...world.boardCounts,
  };
}
