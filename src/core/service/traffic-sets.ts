/**
 * Correlated sets from measured traffic (correlated sets, §6): ranks that send each other much are put on one node, and are one set there.
 * Everybody's share of places stays what it was; the answer is as good as blocks of ranks or better, not the best there is, which
 * would take too long to find.
 */
import { type Placement, placementOf, ranksOfNode } from "./placement.ts";

/** Bytes that each rank has sent to each. */
export type Traffic = readonly (readonly number[])[];

/** Given that in blocks. */
export function placeByTraffic(traffic: Traffic, blocks: Placement): Placement {
  const both = bothWays(traffic);
  const candidates = [improved(both, blocks), improved(both, grown(both, blocks))];
  return candidates.reduce((best, other) => (bytesWithin(both, other) > bytesWithin(both, best) ? other : best));
}

/** How much of the traffic stays inside nodes. */
export function bytesWithin(traffic: Traffic, placement: Placement): number {
  let bytes = 0;
  for (const [from, row] of traffic.entries()) {
    for (const [to, sent] of row.entries()) if (from !== to && placement[from] === placement[to]) bytes += sent;
  }
  return bytes;
}

function bothWays(traffic: Traffic): number[][] {
  return traffic.map((row, from) => row.map((sent, to) => (from === to ? 0 : sent + traffic[to]![from]!)));
}

/** Node by node: first the rank with most traffic among the ranks that are left, then always the rank with most traffic to the chosen. */
function grown(both: Traffic, blocks: Placement): Placement {
  const nodes = new Array<number>(blocks.length).fill(-1);
  const left = new Set(blocks.keys());
  for (let node = 0; left.size > 0; node++) {
    const places = ranksOfNode(blocks, node).length;
    const chosen: number[] = [];
    for (let i = 0; i < places; i++) {
      const rank = most(left, (candidate) => trafficWith(both, candidate, chosen.length === 0 ? left : chosen));
      left.delete(rank);
      chosen.push(rank);
      nodes[rank] = node;
    }
  }
  return placementOf(nodes);
}

function trafficWith(both: Traffic, rank: number, others: Iterable<number>): number {
  let bytes = 0;
  for (const other of others) bytes += both[rank]![other]!;
  return bytes;
}

function most(ranks: Iterable<number>, measure: (rank: number) => number): number {
  let best = -1;
  let bestMeasure = -1;
  for (const rank of ranks) {
    const measured = measure(rank);
    if (measured > bestMeasure) [best, bestMeasure] = [rank, measured];
  }
  return best;
}

/** Two ranks change places, always the two for which that brings most, until it brings nothing. */
function improved(both: Traffic, start: Placement): Placement {
  const places = [...start];
  const placement = placementOf(places);
  const nodes = Math.max(...placement) + 1;
  // What each rank has to do with each node.
  const pull = both.map((row) => {
    const bytes = new Array<number>(nodes).fill(0);
    for (const [other, sent] of row.entries()) bytes[placement[other]!]! += sent;
    return bytes;
  });
  for (let swap = bestSwap(both, placement, pull); swap !== null; swap = bestSwap(both, placement, pull)) {
    const [one, other] = swap;
    move(both, pull, one, placement[one]!, placement[other]!);
    move(both, pull, other, placement[other]!, placement[one]!);
    [places[one], places[other]] = [places[other]!, places[one]!];
  }
  return placement;
}

function move(both: Traffic, pull: number[][], rank: number, from: number, to: number): void {
  for (const [other, bytes] of both[rank]!.entries()) {
    pull[other]![from]! -= bytes;
    pull[other]![to]! += bytes;
  }
}

function bestSwap(both: Traffic, placement: Placement, pull: readonly number[][]): [number, number] | null {
  let best: [number, number] | null = null;
  let bestGain = 0;
  for (let one = 0; one < placement.length; one++) {
    const here = placement[one]!;
    for (let other = one + 1; other < placement.length; other++) {
      const there = placement[other]!;
      if (here === there) continue;
      const gainOfOne = pull[one]![there]! - pull[one]![here]!;
      const gainOfOther = pull[other]![here]! - pull[other]![there]!;
      const gain = gainOfOne + gainOfOther - 2 * both[one]![other]!;
      if (gain > bestGain) [best, bestGain] = [[one, other], gain];
    }
  }
  return best;
}
