/** Which ranks fall together. */
import type { Random } from "../random.ts";

/** Those of a node; each for itself; any partition, whose sets may span and split nodes; all. */
export const setsBy = ["node", "rank", "random", "all"] as const;
export type SetsBy = (typeof setsBy)[number];

/** Sets are numbered from 0, and none is empty. */
export function correlatedSets(random: Random, by: SetsBy, ranks: number, nodes: number): Int32Array {
  const sets = random.between(1, ranks);
  const setOf = Int32Array.from({ length: ranks }, (_, rank) => {
    switch (by) {
      case "node":
        return Math.floor((rank * nodes) / ranks);
      case "rank":
        return rank;
      case "all":
        return 0;
      case "random":
        return random.below(sets);
    }
  });
  const used = [...new Set(setOf)];
  return setOf.map((set) => used.indexOf(set));
}
