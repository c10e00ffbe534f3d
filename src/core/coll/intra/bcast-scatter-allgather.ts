/**
 * Broadcast of long messages: a binomial scatter of p pieces, then a ring in which every rank collects the pieces of the
 * others. Each rank receives n bytes and sends at most about 2n however many ranks there are; in a binomial tree the root sends
 * n·log2 p. ⌈log2 p⌉ + p − 1 messages deep. Barnett, Shuler, van de Geijn et al., 1994; the ring leaves out the pieces that the
 * next rank has from the scatter (Zhou et al., 2015), so no piece comes twice.
 */

import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Region, RootedPlace, Schedule } from "../engine/schedule.ts";
import { binomialNode } from "./binomial-tree.ts";

export function bcastScatterAllgather({ bytes, ...place }: RootedPlace & { readonly bytes: number }): Schedule {
  const { size, root } = place;
  const { relative, width, parent, children } = binomialNode(place);
  const bound = (piece: number): number => Math.floor((bytes * piece) / size);
  const pieces = (first: number, count: number): Region =>
    region("receive", bound(first), bound(first + count) - bound(first));

  const rounds = new Rounds();
  if (parent >= 0) rounds.add(receive(parent, pieces(relative, width)));
  rounds.add(...children.map((child) => send(child.rank, pieces(child.relative, child.width))));

  const next = (relative + 1) % size;
  const widthOfNext = binomialNode({ ...place, rank: (next + root) % size }).width;
  const lacks = (first: number, count: number, piece: number): boolean => piece < first || piece >= first + count;
  for (let turn = 0; turn < size - 1; turn++) {
    const given = (relative - turn + size) % size;
    const taken = (relative - turn - 1 + size) % size;
    rounds.add(
      ...(lacks(next, widthOfNext, given) ? [send((next + root) % size, pieces(given, 1))] : []),
      ...(lacks(relative, width, taken) ? [receive((relative - 1 + size + root) % size, pieces(taken, 1))] : []),
    );
  }
  return rounds.schedule();
}
