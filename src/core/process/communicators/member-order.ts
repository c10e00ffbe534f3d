/** The members of a new communicator, in an order that each of them finds by itself. */
import type { CommRank } from "../../base/brand.ts";
import { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";

/** All processes of a communicator in an order that every one of them knows. */
export function unionOf(comm: Communicator): Group {
  return comm.remote === null ? comm.group : inCommonOrder(comm.group, comm.remote);
}

/** Two disjoint groups, the one with the lowest world rank first: both sides come to the same order. */
export function inCommonOrder(a: Group, b: Group): Group {
  const lowest = (group: Group): number =>
    group.worldRanks().reduce((low, rank) => Math.min(low, rank), Number.MAX_SAFE_INTEGER);
  return lowest(a) < lowest(b) ? joined(a, b) : joined(b, a);
}

export function joined(first: Group, second: Group): Group {
  return Group.of([...first.worldRanks(), ...second.worldRanks()]);
}

/** From (colour, key) of every member of a group to the members with one colour, in order. */
export function membersOfColor(group: Group, colorsAndKeys: Int32Array, color: number): Group {
  const ranks: number[] = [];
  for (let rank = 0; rank < group.size; rank++) if (colorsAndKeys[2 * rank] === color) ranks.push(rank);
  ranks.sort((a, b) => colorsAndKeys[2 * a + 1]! - colorsAndKeys[2 * b + 1]! || a - b);
  return Group.of(ranks.map((rank) => group.worldRank(rank as CommRank)));
}
