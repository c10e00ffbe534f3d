/**
 * Pairwise all-to-all: every rank exchanges its blocks directly with every other, each block sent once. In exchange i rank r
 * sends to r + i and receives from r − i, so that no rank is the target of many at a time. A round holds `exchangesPerRound` of
 * them: enough that ranks need not walk in step, few enough to bound the outstanding requests. ⌈(p − 1) / exchangesPerRound⌉
 * rounds.
 *
 * Serves alltoall with long blocks, alltoallv and (sizes and displacements being bytes) alltoallw.
 */
import { block, copy, packed, Rounds, receive, send, sum } from "../engine/rounds.ts";
import type { Blocks, MayBeInPlace, Place, Schedule, Step } from "../engine/schedule.ts";

export const exchangesPerRound = 8;

interface AlltoallvPairwise extends Place, MayBeInPlace {
  /** With `inPlace` the sizes and places of `receives` hold for both. */
  readonly sends: Blocks;
  readonly receives: Blocks;
}

export function alltoallvPairwise({ rank, size, sends, receives, inPlace = false }: AlltoallvPairwise): Schedule {
  const rounds = new Rounds();
  /** In place the leaving blocks are first copied aside: a block may arrive before the block in its place has left. */
  const aside = packed(receives.bytes);
  if (inPlace)
    rounds.add(...aside.bytes.map((_, of) => copy(block("receive", receives, of), block("scratch", aside, of))));
  const leaving = (to: number) => (inPlace ? block("scratch", aside, to) : block("send", sends, to));

  let steps: Step[] = [];
  for (let exchange = 1; exchange < size; exchange++) {
    const to = (rank + exchange) % size;
    const from = (rank - exchange + size) % size;
    steps.push(send(to, leaving(to)), receive(from, block("receive", receives, from)));
    if (exchange % exchangesPerRound === 0 || exchange === size - 1) {
      rounds.add(...steps);
      steps = [];
    }
  }
  if (!inPlace) rounds.add(copy(leaving(rank), block("receive", receives, rank)));
  return rounds.schedule(inPlace ? sum(receives.bytes) : 0);
}
