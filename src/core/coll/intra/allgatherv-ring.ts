/**
 * Ring allgather: p − 1 rounds, in each a rank passes the block that it last got from its left to its right. Every block
 * crosses every link once, the least possible, and only neighbours talk; the choice for long blocks, equal or not.
 */
import { block, copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Blocks, MayBeInPlace, Place, Schedule } from "../engine/schedule.ts";

interface AllgathervRing extends Place, MayBeInPlace {
  /** Where each rank's block goes, with the same sizes on every rank. */
  readonly blocks: Blocks;
}

export function allgathervRing({ rank, size, blocks, inPlace = false }: AllgathervRing): Schedule {
  const rounds = new Rounds();
  const right = (rank + 1) % size;
  const left = (rank - 1 + size) % size;
  const own = inPlace ? block("receive", blocks, rank) : region("send", 0, blocks.bytes[rank]!);
  for (let turn = 0; turn < size - 1; turn++) {
    rounds.signal(
      send(right, turn === 0 ? own : block("receive", blocks, (rank - turn + size) % size)),
      receive(left, block("receive", blocks, (rank - turn - 1 + size) % size)),
    );
  }
  if (!inPlace) rounds.add(copy(own, block("receive", blocks, rank)));
  return rounds.schedule();
}
