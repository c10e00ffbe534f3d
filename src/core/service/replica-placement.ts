/**
 * Where processes go that play ranks together: in blocks, replica after replica, so that a world of replicas is on few nodes; and no two
 * of a rank on one node as far as there are nodes enough.
 */
import type { ProcessName } from "../base/identity.ts";
import { type Placement, placedInBlocks, placementOf, ranksByNode } from "./placement.ts";

export function placedApart(players: readonly ProcessName[], nodes: number): Placement {
  const blocks = placedInBlocks(players.length, nodes);
  if (ranksTogether(players, blocks).length === 0) return blocks;
  const room = ranksByNode(blocks, nodes).map(({ length }) => length);
  const places: number[] = [];
  const countOf = (rank: number): number => players.filter((player) => player.rank === rank).length;
  // Ranks with most processes first: the others go where there is room.
  const order = [...players.keys()].sort((a, b) => countOf(players[b]!.rank) - countOf(players[a]!.rank));
  for (const process of order) {
    const { rank } = players[process]!;
    const has = (node: number): boolean => players.some((other, i) => other.rank === rank && places[i] === node);
    const free = [...room.keys()].filter((node) => room[node]! > 0 && !has(node));
    // The node of its block if it may be there; otherwise where there is most room, so that later ones find some as well.
    const own = blocks[process]!;
    const most = free.reduce((best, node) => (room[node]! > room[best]! ? node : best), free[0] ?? -1);
    const node = free.includes(own) ? own : most;
    if (node < 0) return blocks;
    room[node]!--;
    places[process] = node;
  }
  return placementOf(places);
}

/** The ranks of which two processes are on one node, ascending. */
export function ranksTogether(players: readonly ProcessName[], placement: Placement): number[] {
  const seen = new Set<string>();
  const together = new Set<number>();
  for (const [process, { rank }] of players.entries()) {
    const place = `${rank} ${placement[process]}`;
    if (seen.has(place)) together.add(rank);
    seen.add(place);
  }
  return [...together].sort((a, b) => a - b);
}
