/**
 * Binomial scatter of equal blocks, the gather of `gather-binomial.ts` reversed: a rank gets its whole subtree's blocks in one
 * message and passes on those of its children. ⌈log2 p⌉ messages deep, n·p·log2(p)/2 bytes in all.
 */

import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { MayBeInPlace, RootedPlace, Schedule } from "../engine/schedule.ts";
import { binomialNode } from "./binomial-tree.ts";
import { blocksBeforeEnd } from "./gather-binomial.ts";

interface ScatterBinomial extends RootedPlace, MayBeInPlace {
  /** Length of one rank's block. */
  readonly bytes: number;
}

export function scatterBinomial({ bytes, inPlace = false, ...place }: ScatterBinomial): Schedule {
  const { rank, size, root } = place;
  const { relative, width, parent, children } = binomialNode(place);
  const own = region("receive", 0, bytes);
  const rounds = new Rounds();

  if (rank === root) {
    const departures = children.flatMap((child) => {
      const straight = blocksBeforeEnd({ rank: child.rank, width: child.width, size });
      return [
        send(child.rank, region("send", child.rank * bytes, straight * bytes)),
        send(child.rank, region("send", 0, (child.width - straight) * bytes)),
      ];
    });
    rounds.add(...departures);
    if (!inPlace) rounds.add(copy(region("send", rank * bytes, bytes), own));
    return rounds.schedule();
  }

  const straight = parent === root ? blocksBeforeEnd({ rank, width, size }) : width;
  if (width === 1) return rounds.add(receive(parent, own)).schedule();
  rounds.add(
    receive(parent, region("scratch", 0, straight * bytes)),
    receive(parent, region("scratch", straight * bytes, (width - straight) * bytes)),
    copy(region("scratch", 0, bytes), own),
  );
  const departures = children.map((child) =>
    send(child.rank, region("scratch", (child.relative - relative) * bytes, child.width * bytes)),
  );
  return rounds.add(...departures).schedule(width * bytes);
}
