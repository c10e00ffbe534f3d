/**
 * Inter-communicator allreduce: each group gets the other's reduction. Both reduce at their rank 0 along the canonical tree
 * of their own size, the two exchange the results, each broadcasts inside its group. n bytes pass each way.
 */

import { embed, sequence } from "../engine/compose.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { InterPlace, Schedule, Vector } from "../engine/schedule.ts";
import type { FlatBcast } from "../intra/bcast-hierarchical.ts";
import { reduceInGroup } from "./reduce-leader.ts";

interface InterAllreduce extends InterPlace, Omit<Vector, "inPlace"> {
  readonly inside: FlatBcast;
}

export function interAllreduceLeaders(call: InterAllreduce): Schedule {
  const { rank, localSize, bytes, inside } = call;
  const exchange = new Rounds();
  if (rank === 0) exchange.add(send(0, region("scratch", 0, bytes)), receive(0, region("receive", 0, bytes)));
  return sequence(
    reduceInGroup(call, call),
    exchange.schedule(),
    embed(inside({ rank, size: localSize, root: 0, bytes }), { group: "local" }),
  );
}
