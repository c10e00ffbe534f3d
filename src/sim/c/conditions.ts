/**
 * Circumstances of a run that a correct program must not depend on: which messages overtake which, how fast ranks are, what the clocks
 * say. Runs of one program under many of these show whether what it sends depends on them.
 *
 * Run 0 is calm: no message is late. In run 1 messages of high ranks are early and those of low ranks late. All others are drawn from
 * the seed: an order of ranks, how far apart they are, how much chance there is beside, who is slow. What is random to a
 * program (`getentropy`) is the same in all of them, as in all replicas of a rank.
 */
import { Random } from "../random.ts";
import type { CWorldOptions } from "./c-world.ts";

/** Ranks are so far apart at most, all together: a program that polls looks every 100 ns. */
const spreadNsMax = 200_000;
const monthNs = 30 * 86_400 * 1e9;

type Conditions = Required<Pick<CWorldOptions, "seed" | "randomSeed" | "startNs" | "cost" | "delayNs" | "slowness">>;

export function conditionsOf(run: number, firstSeed: number, ranks: number): Conditions {
  const seed = firstSeed + run;
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ 0x5e2d);
  const common = { seed, randomSeed: firstSeed };
  // Whole seconds apart, and more: programs look at the time of the day too.
  const startNs = run === 0 ? 0 : Math.floor(random.fraction() * monthNs);
  if (run === 0) return { ...common, startNs, cost: { jitterNs: 0 }, delayNs: () => 0, slowness: () => 1 };
  const stepNs = Math.min(run === 1 ? 20_000 : random.pick([500, 5_000, 20_000]), spreadNsMax / ranks);
  const places = Array.from({ length: ranks }, (_, rank) => ranks - 1 - rank);
  if (run > 1) random.shuffle(places);
  const delaysNs = places.map((place) => Math.floor(place * stepNs));
  const slow = places.map(() => (run > 1 && random.chance(0.25) ? random.pick([3, 10, 30]) : 1));
  return {
    ...common,
    startNs,
    cost: { jitterNs: run === 1 ? 1_000 : random.pick([100, 1_000, 10_000]) },
    // A rank's messages to itself are no message of another one's: they overtake nothing.
    delayNs: (from, to) => (from === to ? 0 : delaysNs[from]!),
    slowness: (rank) => slow[rank]!,
  };
}
