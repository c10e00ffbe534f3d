/**
 * Correlated sets from measured traffic (correlated sets, §6): ranks that send each other much are put on one node, and are one set there.
 * Everybody's share of places stays what it was; the answer is as good as blocks of ranks or better, not the best there is, which
 * would take too long to find.
 */
import { ranksOfNode } from "./placement.ts";

/** Bytes that each rank has sent to each. */
export type Traffic = readonly (readonly number[])[];

/** The node of each rank, given that of blocks. */
export function placeByTraffic(traffic: Traffic, blocks: readonly number[]): number[] {
  const both = bothWays(traffic);
  const candidates = [improved(both, blocks), improved(both, grown(both, blocks))];
  return candidates.reduce((best, other) => (bytesWithin(both, other) > bytesWithin(both, best) ? other : best));
}

/** How much of the traffic stays inside nodes. */
export function bytesWithin(traffic: Traffic, nodeOf: readonly number[]): number {
  let bytes = 0;
  for (const [from, row] of traffic.entries()) {
    for (const [to, sent] of row.entries()) if (from !== to && nodeOf[from] === nodeOf[to]) bytes += sent;
  }
  return bytes;
}

function bothWays(traffic: Traffic): number[][] {
  return traffic.map((row, from) => row.map((sent, to) => (from === to ? 0 : sent + traffic[to]![from]!)));
}

/** Node by node: the rank with most traffic among those that are left, then always the one that has most with those chosen. */
function grown(both: Traffic, blocks: readonly number[]): number[] {
  const nodeOf = new Array<number>(blocks.length).fill(-1);
  const left = new Set(blocks.keys());
  for (let node = 0; left.size > 0; node++) {
    const places = ranksOfNode(blocks, node).length;
    const chosen: number[] = [];
    for (let i = 0; i < places; i++) {
      const rank = most(left, (candidate) => trafficWith(both, candidate, chosen.length === 0 ? left : chosen));
      left.delete(rank);
      chosen.push(rank);
      nodeOf[rank] = node;
    }
  }
  return nodeOf;
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
function improved(both: Traffic, start: readonly number[]): number[] {
  const nodeOf = [...start];
  const nodes = Math.max(...nodeOf) + 1;
  // What each rank has to do with each node.
  const pull = both.map((row) => {
    const bytes = new Array<number>(nodes).fill(0);
    for (const [other, sent] of row.entries()) bytes[nodeOf[other]!]! += sent;
    return bytes;
  });
  for (let swap = bestSwap(both, nodeOf, pull); swap !== null; swap = bestSwap(both, nodeOf, pull)) {
    const [one, other] = swap;
    move(both, pull, one, nodeOf[one]!, nodeOf[other]!);
    move(both, pull, other, nodeOf[other]!, nodeOf[one]!);
    [nodeOf[one], nodeOf[other]] = [nodeOf[other]!, nodeOf[one]!];
  }
  return nodeOf;
}

function move(both: Traffic, pull: number[][], rank: number, from: number, to: number): void {
  for (const [other, bytes] of both[rank]!.entries()) {
    pull[other]![from]! -= bytes;
    pull[other]![to]! += bytes;
  }
}

function bestSwap(both: Traffic, nodeOf: readonly number[], pull: readonly number[][]): [number, number] | null {
  let best: [number, number] | null = null;
  let bestGain = 0;
  for (let one = 0; one < nodeOf.length; one++) {
    const here = nodeOf[one]!;
    for (let other = one + 1; other < nodeOf.length; other++) {
      const there = nodeOf[other]!;
      if (here === there) continue;
      const gainOfOne = pull[one]![there]! - pull[one]![here]!;
      const gainOfOther = pull[other]![here]! - pull[other]![there]!;
      const gain = gainOfOne + gainOfOther - 2 * both[one]![other]!;
      if (gain > bestGain) [best, bestGain] = [[one, other], gain];
    }
  }
  return best;
}
