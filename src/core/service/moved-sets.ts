/**
 * Who goes along, and where to, when somebody wants a rank or a node moved in a job whose lost ranks begin again. There processes have places of their own, which others reach by the
 * node's number: numbers stay, and only those that are moved have another node afterwards. A node that has lost its last rank is gone; its number is free, and a process is started there
 * when somebody is moved to it.
 *
 * A correlated set is on one node: its ranks fall together, and have one stream of choices. So a rank that leaves the others of its set becomes a set of its own (ft/set-split.ts); where that
 * cannot be, they go along.
 */
import { type Placement, ranksOfNode } from "./placement.ts";

export interface SetPlaces {
  /** Of each rank. */
  readonly setOf: readonly number[];
  readonly placement: Placement;
  readonly nodes: number;
  /** Can a rank become a set of its own? */
  readonly canSplit: boolean;
}

export interface SetMoveOrder {
  /** A node, with all its ranks; or a rank. */
  readonly moved: { readonly kind: "node"; readonly node: number } | { readonly kind: "rank"; readonly rank: number };
  /** A node that is there, or the next number: one that is started. Null: one that is started. */
  readonly onto: number | null;
  /** So many processes have room on a node. */
  readonly ofNodeMax: number;
}

export interface SetMove {
  readonly ranks: readonly number[];
  readonly from: number;
  /** The same as `from`: another process takes the place of the whole node. */
  readonly node: number;
  /** The set that its one rank leaves; null: none is divided. */
  readonly split: number | null;
}

/** Or the obstacle. */
export function setMoveOf({ setOf, placement, nodes, canSplit }: SetPlaces, order: SetMoveOrder): SetMove | string {
  const { moved, onto, ofNodeMax } = order;
  const from = moved.kind === "node" ? moved.node : placement[moved.rank]!;
  const beside = ranksOfNode(placement, from);
  if (beside.length === 0) return "it has no ranks";
  const members = moved.kind === "node" ? beside : beside.filter((rank) => setOf[rank] === setOf[moved.rank]);
  const isAlone = moved.kind === "rank" && members.length > 1 && canSplit;
  const ranks = isAlone ? [moved.rank] : members;
  if (onto !== null && onto > nodes)
    return `the job has ${nodes === 1 ? "node 0 alone" : `nodes 0 to ${nodes - 1}`}, and node ${nodes} can be started`;
  if (onto === from) return `${moved.kind === "node" ? "its ranks are" : "it is"} on node ${onto} already`;
  const split = isAlone ? setOf[moved.rank]! : null;
  if (ranks.length === beside.length && (onto ?? nodes) === nodes) return { ranks, from, node: from, split };
  const node = onto ?? nodes;
  if (ranksOfNode(placement, node).length + ranks.length > ofNodeMax) return `node ${node} has no room for more ranks`;
  return { ranks, from, node, split };
}
