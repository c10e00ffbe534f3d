/**
 * Who goes along, and where to, when somebody wants a rank or a node moved in a job whose lost ranks begin again. There processes have places of their own, which others reach by the
 * node's number: numbers stay, and only those that are moved have another node afterwards. A node that has lost its last rank is gone; its number is free, and a process is started there
 * when somebody is moved to it.
 *
 * Ranks of a correlated set fall together, and are captured together: they are moved together.
 */
import type { Placement } from "./placement.ts";
import { ranksOfNode } from "./placement.ts";

export interface SetPlaces {
  /** Of each rank. */
  readonly setOf: readonly number[];
  readonly placement: Placement;
  readonly nodes: number;
}

export interface SetMoveOrder {
  /** A node, with all its ranks; or a rank, with its set. */
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
}

/** Or the obstacle. */
export function setMoveOf({ setOf, placement, nodes }: SetPlaces, order: SetMoveOrder): SetMove | string {
  const { moved, onto, ofNodeMax } = order;
  const from = moved.kind === "node" ? moved.node : placement[moved.rank]!;
  const beside = ranksOfNode(placement, from);
  const ranks = moved.kind === "node" ? beside : beside.filter((rank) => setOf[rank] === setOf[moved.rank]);
  if (ranks.length === 0) return "it has no ranks";
  if (onto !== null && onto > nodes)
    return `the job has ${nodes === 1 ? "node 0 alone" : `nodes 0 to ${nodes - 1}`}, and node ${nodes} can be started`;
  if (onto === from) return `${moved.kind === "node" ? "its ranks are" : "it is"} on node ${onto} already`;
  if (ranks.length === beside.length && (onto ?? nodes) === nodes) return { ranks, from, node: from };
  const node = onto ?? nodes;
  if (ranksOfNode(placement, node).length + ranks.length > ofNodeMax) return `node ${node} has no room for more ranks`;
  return { ranks, from, node };
}
