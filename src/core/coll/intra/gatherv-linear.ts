/**
 * Linear gather of unequal blocks: every rank sends to the root, one round of p − 1 messages. Only the root knows all the
 * sizes, so no other rank could pass on a block that is not its own.
 */
import { assert } from "../../base/assert.ts";
import { block, copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Blocks, MayBeInPlace, RootedPlace, Schedule } from "../engine/schedule.ts";

export interface GathervLinear extends RootedPlace, MayBeInPlace {
  /** Length of this rank's own block. */
  readonly bytes: number;
  /** Where the blocks go; the root's only. */
  readonly blocks?: Blocks | undefined;
}

export function gathervLinear({ rank, size, root, bytes, blocks, inPlace = false }: GathervLinear): Schedule {
  const rounds = new Rounds();
  const own = region("send", 0, bytes);
  if (rank !== root) return rounds.signal(send(root, own)).schedule();
  assert(blocks?.bytes.length === size, "the root of a gatherv has no block for some rank");
  const peers = blocks.bytes.map((_, peer) => peer).filter((peer) => peer !== rank);
  rounds.signal(...peers.map((peer) => receive(peer, block("receive", blocks, peer))));
  if (!inPlace) rounds.add(copy(own, block("receive", blocks, rank)));
  return rounds.schedule();
}
