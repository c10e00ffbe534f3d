/**
 * Recursive doubling allgather, for powers of two: log2 p rounds, in round k the ranks at distance 2^k exchange all their
 * blocks, (p − 1)·n bytes sent by each. Blocks arrive at their final place; nothing is copied twice.
 */
import { assert } from "../../base/assert.ts";
import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { MayBeInPlace, Place, Schedule } from "../engine/schedule.ts";

export interface AllgatherEqual extends Place, MayBeInPlace {
  /** Length of one rank's block. */
  readonly bytes: number;
}

export function allgatherRecursiveDoubling({ rank, size, bytes, inPlace = false }: AllgatherEqual): Schedule {
  assert((size & (size - 1)) === 0, `recursive doubling on ${size} ranks, which is no power of two`);
  const rounds = new Rounds();
  const blocks = (first: number, count: number) => region("receive", first * bytes, count * bytes);
  const own = inPlace ? blocks(rank, 1) : region("send", 0, bytes);
  const ownPlaced = inPlace ? [] : [copy(own, blocks(rank, 1))];
  if (size === 1) return rounds.add(...ownPlaced).schedule();
  for (let width = 1; width < size; width *= 2) {
    const peer = rank ^ width;
    const mine = width === 1 ? own : blocks(rank & -width, width);
    rounds.add(send(peer, mine), receive(peer, blocks(peer & -width, width)));
    if (width === 1) rounds.add(...ownPlaced);
  }
  return rounds.schedule();
}
