/**
 * Node-aware allgather: members give their blocks to the leader of their node, the leaders pass whole nodes round a ring,
 * and every leader broadcasts the lot inside its node. Between m nodes pass (m − 1)·N bytes for a result of N bytes, the
 * least possible; a flat algorithm sends most of the blocks to a node once for each rank there.
 *
 * The blocks are collected node by node. Where that is also the order and place of the ranks' blocks (the usual placement)
 * they are collected in the result itself, otherwise beside it, and each rank puts them in their places at the end.
 */

import { type Base, embed, emptySchedule, sequence } from "../engine/compose.ts";
import { block, copy, packed, Rounds, receive, region, send, sum } from "../engine/rounds.ts";
import type { Blocks, MayBeInPlace, Place, Schedule } from "../engine/schedule.ts";
import { allgathervRing } from "./allgatherv-ring.ts";
import type { FlatBcast } from "./bcast-hierarchical.ts";
import { type MemberNodes, nodeLayout } from "./node-layout.ts";

interface AllgathervHierarchical extends Place, MayBeInPlace {
  readonly blocks: Blocks;
  readonly nodes: MemberNodes;
  readonly inside: FlatBcast;
}

export function allgathervHierarchical(call: AllgathervHierarchical): Schedule {
  const { rank, blocks, nodes, inside, inPlace = false } = call;
  const { members, leaders, nodeIndices } = nodeLayout(nodes);
  const node = nodeIndices[rank]!;
  const ranks = members[node]!;
  const leader = leaders[node]!;

  const order = members.flat();
  const collected = packed(order.map((of) => blocks.bytes[of]!));
  const total = sum(blocks.bytes);
  const direct = order.every((of, index) => of === index && collected.offsets[index] === blocks.offsets[index]);
  const work: Base = { buffer: direct ? "receive" : "scratch", offset: 0 };
  const scratchBytes = direct ? 0 : total;
  const offsetOf = new Map(order.map((of, index) => [of, collected.offsets[index]!]));
  const placeOf = (of: number) => region(work.buffer, offsetOf.get(of)!, blocks.bytes[of]!);

  const own = inPlace ? block("receive", blocks, rank) : region("send", 0, blocks.bytes[rank]!);
  const gathered = new Rounds();
  if (rank === leader) {
    gathered.signal(...ranks.filter((of) => of !== rank).map((of) => receive(of, placeOf(of))));
    if (!(inPlace && direct)) gathered.add(copy(own, placeOf(rank)));
  } else {
    gathered.signal(send(leader, own));
  }

  const ofNodes = packed(members.map((of) => sum(of.map((member) => blocks.bytes[member]!))));
  const ring = allgathervRing({ rank: node, size: leaders.length, blocks: ofNodes, inPlace: true });
  const whole = inside({ rank: ranks.indexOf(rank), size: ranks.length, root: ranks.indexOf(leader), bytes: total });
  const placed = new Rounds();
  if (!direct) placed.add(...order.map((of) => copy(placeOf(of), block("receive", blocks, of))));
  return sequence(
    gathered.schedule(scratchBytes),
    rank === leader ? embed(ring, { members: leaders, receive: work }) : emptySchedule,
    embed(whole, { members: ranks, receive: work, scratchOffset: scratchBytes }),
    placed.schedule(),
  );
}
