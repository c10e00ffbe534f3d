/** Correlated sets of a simulated world: the ranks that fall together. */
import { unreachable } from "../../core/base/assert.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { Random } from "../random.ts";
import type { WorldOptions } from "../world.ts";

/** Those of a node; each for itself; any partition, whose sets may span and split nodes; all. */
export const setsBy = ["node", "rank", "random", "all"] as const;
export type SetsBy = (typeof setsBy)[number];

/** Sets are numbered from 0, and none is empty. */
export function correlatedSets(random: Random, by: SetsBy, ranks: number, nodes: number): readonly number[] {
  const sets = random.between(1, ranks);
  const setOf = Array.from({ length: ranks }, (_, rank): number => {
    switch (by) {
      case "node":
        return Math.floor((rank * nodes) / ranks);
      case "rank":
        return rank;
      case "all":
        return 0;
      case "random":
        return random.below(sets);
      default:
        return unreachable(by);
    }
  });
  const used = [...new Set(setOf)];
  return setOf.map((set) => used.indexOf(set));
}

/**
 * Eager limits of a world with correlated sets. Inside a set they are the same in all lives, because a set is on one
 * node in all its lives: a send that one life has seen complete must not wait for its receiver in the next.
 */
export function eagerLimitWithSets(
  limit: WorldOptions["eagerLimit"],
  setOf: readonly number[],
): WorldOptions["eagerLimit"] {
  if (limit === undefined) return undefined;
  return (sender, to) => limit(setOf[sender.rank] === setOf[to] ? { ...sender, incarnation: 0 } : sender, to);
}

/** Do all ranks of that node fall together? Boards go past the messages, and are for those alone (rule 12). */
export function fallsAsOne(node: number, setOf: readonly number[], placement: Placement): boolean {
  const sets = setOf.filter((_, rank) => placement[rank] === node);
  return sets.every((set) => set === sets[0]);
}
