/**
 * Binomial gather of equal blocks: every rank collects its subtree's blocks and passes them up in one message. ⌈log2 p⌉
 * messages deep; a block travels once per level it climbs, n·p·log2(p)/2 bytes in all.
 *
 * Subtrees are runs of ranks counted from the root. In the root's buffer such a run may wrap round the end: its child then
 * sends the two pieces as two messages, which spares the root a second buffer and a copy of everything.
 */

import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { MayBeInPlace, RootedPlace, Schedule } from "../engine/schedule.ts";
import { binomialNode } from "./binomial-tree.ts";

interface GatherBinomial extends RootedPlace, MayBeInPlace {
  /** Length of one rank's block. */
  readonly bytes: number;
}

/** How many blocks of a child's run lie before the end of the root's buffer. The rest, if any, wraps to its start. */
export function blocksBeforeEnd({ rank, width, size }: { rank: number; width: number; size: number }): number {
  return Math.min(width, size - rank);
}

export function gatherBinomial({ bytes, inPlace = false, ...place }: GatherBinomial): Schedule {
  const { rank, size, root } = place;
  const { relative, width, parent, children } = binomialNode(place);
  const own = region("send", 0, bytes);
  const rounds = new Rounds();

  if (rank === root) {
    const arrivals = children.flatMap((child) => {
      const straight = blocksBeforeEnd({ rank: child.rank, width: child.width, size });
      return [
        receive(child.rank, region("receive", child.rank * bytes, straight * bytes)),
        receive(child.rank, region("receive", 0, (child.width - straight) * bytes)),
      ];
    });
    rounds.add(...arrivals);
    if (!inPlace) rounds.add(copy(own, region("receive", rank * bytes, bytes)));
    return rounds.schedule();
  }

  const straight = parent === root ? blocksBeforeEnd({ rank, width, size }) : width;
  if (width === 1) return rounds.add(send(parent, own)).schedule();
  const arrivals = children.map((child) =>
    receive(child.rank, region("scratch", (child.relative - relative) * bytes, child.width * bytes)),
  );
  rounds.add(...arrivals, copy(own, region("scratch", 0, bytes)));
  rounds.add(
    send(parent, region("scratch", 0, straight * bytes)),
    send(parent, region("scratch", straight * bytes, (width - straight) * bytes)),
  );
  return rounds.schedule(width * bytes);
}
