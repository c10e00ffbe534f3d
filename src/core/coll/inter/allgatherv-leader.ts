/**
 * Inter-communicator allgather and allgatherv: every rank sends its block to rank 0 of the other group, which broadcasts all of
 * them inside its group. Each block passes between the groups once.
 */

import { embed, sequence } from "../engine/compose.ts";
import { block, copy, packed, Rounds, receive, region, send, sum } from "../engine/rounds.ts";
import type { Blocks, InterPlace, Schedule } from "../engine/schedule.ts";
import type { FlatBcast } from "../intra/bcast-hierarchical.ts";

export interface InterAllgatherv extends InterPlace {
  /** Length of this rank's own block. */
  readonly bytes: number;
  /** Where the blocks of the other group go. */
  readonly blocks: Blocks;
  readonly inside: FlatBcast;
}

export function interAllgathervLeader({ rank, localSize, bytes, blocks, inside }: InterAllgatherv): Schedule {
  const total = sum(blocks.bytes);
  const collected = packed(blocks.bytes);
  /** Blocks with gaps between them are broadcast without the gaps, which belong to the program. */
  const direct = collected.offsets.every((offset, index) => offset === blocks.offsets[index]);
  const work = direct ? "receive" : "scratch";
  const scratchBytes = direct ? 0 : total;
  const exchange = new Rounds().add(
    send(0, region("send", 0, bytes)),
    ...(rank === 0 ? blocks.bytes.map((_, peer) => receive(peer, block(work, collected, peer))) : []),
  );
  const placed = new Rounds();
  if (!direct)
    placed.add(...blocks.bytes.map((_, of) => copy(block(work, collected, of), block("receive", blocks, of))));
  const whole = inside({ rank, size: localSize, root: 0, bytes: total });
  return sequence(
    exchange.schedule(scratchBytes),
    embed(whole, { group: "local", receive: { buffer: work, offset: 0 }, scratchOffset: scratchBytes }),
    placed.schedule(),
  );
}
