/**
 * The node of each process, for the dispatcher, the agents, transports and the shared memory of nodes. No program ever sees it: programs
 * see the node map (core/process/node-map.ts), and images hold neither. A job starts with the two alike.
 */
import type { BrandedTable } from "../base/brand.ts";
import { membersBySet } from "../ft/sets.ts";

/** By process, the node it runs on. Process numbers are ranks: the ranks of the job, then the numbers for processes that it may spawn. */
export type Placement = BrandedTable<"Placement">;

export const placementOf = (nodes: readonly number[]): Placement => nodes as Placement;

/**
 * These processes have another node from now on. All parts of a job look at one table: it is changed where the decision is written down (dispatcher-state.ts), and
 * nowhere else.
 */
export function placeAnew(placement: Placement, processes: readonly number[], node: number): void {
  for (const process of processes) (placement as readonly number[] as number[])[process] = node;
}

/** Ranks in blocks over nodes: when they do not divide evenly the first nodes hold one more. */
export function placedInBlocks(ranks: number, nodes: number): Placement {
  const smaller = Math.floor(ranks / nodes);
  const largerNodes = ranks % nodes;
  const places: number[] = [];
  for (let node = 0; node < nodes; node++) {
    const held = node < largerNodes ? smaller + 1 : smaller;
    for (let i = 0; i < held; i++) places.push(node);
  }
  return placementOf(places);
}

/** How many processes may be spawned in the life of a job. Their numbers are not used again. */
const sparesMax = 128;
/** Nodes with this many ranks have no places for spawned processes: every place takes half a megabyte of the node's memory. */
const processesOfNodeMax = 256;

/**
 * The nodes of all processes that a job can ever have: its ranks, then the processes that it may spawn, which go round the nodes.
 * Decided at the start, so that nobody need be told where a new process is; a place that nobody uses costs nothing.
 */
export function placedWithSpares(ranks: number, nodes: number, sparesOfNodeMax = sparesMax): Placement {
  const sparesOfNode = Math.max(0, Math.min(processesOfNodeMax - Math.ceil(ranks / nodes), sparesOfNodeMax));
  const spares = Math.min(sparesMax, sparesOfNode * nodes);
  return placementOf([...placedInBlocks(ranks, nodes), ...Array.from({ length: spares }, (_, i) => i % nodes)]);
}

/** The ranks of one node, ascending. */
export function ranksOfNode(placement: Placement, node: number): number[] {
  return placement.flatMap((itsNode, rank) => (itsNode === node ? [rank] : []));
}

/** The ranks of each node, ascending. */
export function ranksByNode(placement: Placement, nodes: number): number[][] {
  const ranks = Array.from({ length: nodes }, (): number[] => []);
  for (const [rank, node] of placement.entries()) ranks[node]?.push(rank);
  return ranks;
}

/**
 * Ranks over nodes so that no correlated set is divided: in blocks if these divide none, otherwise sets in the order of their size,
 * each to the node that would have most of it and has room. Or which set has no room, by its number.
 */
export function placedBySets(setOf: readonly number[], nodes: number): Placement | { readonly tooLarge: number } {
  const blocks = placedInBlocks(setOf.length, nodes);
  const sets = membersBySet(setOf);
  if (sets.every((members) => members.every((rank) => blocks[rank] === blocks[members[0]!]))) return blocks;
  const room = ranksByNode(blocks, nodes).map(({ length }) => length);
  const places = [...blocks];
  for (const members of sets.sort((one, other) => other.length - one.length)) {
    const held = (node: number): number => members.filter((rank) => blocks[rank] === node).length;
    const roomy = [...room.keys()].filter((node) => room[node]! >= members.length);
    if (roomy.length === 0) return { tooLarge: setOf[members[0]!]! };
    const node = roomy.reduce((best, other) => (held(other) > held(best) ? other : best));
    room[node]! -= members.length;
    for (const rank of members) places[rank] = node;
  }
  return placementOf(places);
}
