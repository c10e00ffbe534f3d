/**
 * Linear scatter of unequal blocks: the root sends to every rank, one round of p − 1 messages. As with gatherv only the root
 * knows all the sizes.
 */
import { assert } from "../../base/assert.ts";
import { block, copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Blocks, MayBeInPlace, RootedPlace, Schedule } from "../engine/schedule.ts";

export interface ScattervLinear extends RootedPlace, MayBeInPlace {
  /** Length of this rank's own block. */
  readonly bytes: number;
  /** Where the blocks are; the root's only. */
  readonly blocks?: Blocks | undefined;
}

export function scattervLinear({ rank, size, root, bytes, blocks, inPlace = false }: ScattervLinear): Schedule {
  const rounds = new Rounds();
  const own = region("receive", 0, bytes);
  if (rank !== root) return rounds.signal(receive(root, own)).schedule();
  assert(blocks?.bytes.length === size, "the root of a scatterv has no block for some rank");
  const peers = blocks.bytes.map((_, peer) => peer).filter((peer) => peer !== rank);
  rounds.signal(...peers.map((peer) => send(peer, block("send", blocks, peer))));
  if (!inPlace) rounds.add(copy(block("send", blocks, rank), own));
  return rounds.schedule();
}
