/**
 * Inter-communicator reduce_scatter(_block): each group gets the other's reduction, in segments. Both reduce at their rank 0
 * along the canonical tree of their own size, the two exchange the results, each scatters to its group. n bytes pass
 * each way.
 */
import { embed, sequence } from "../engine/compose.ts";
import { packed, Rounds, receive, region, send, sum } from "../engine/rounds.ts";
import type { InterPlace, Schedule } from "../engine/schedule.ts";
import { scattervLinear } from "../intra/scatterv-linear.ts";
import { reduceInGroup } from "./reduce-leader.ts";

export interface InterReduceScatter extends InterPlace {
  /** How many bytes go to each rank of this group; the sum is that of the other group. */
  readonly segments: readonly number[];
  readonly elementBytes: number;
}

export function interReduceScatterLeaders(call: InterReduceScatter): Schedule {
  const { rank, localSize, segments, elementBytes } = call;
  const bytes = sum(segments);
  const exchange = new Rounds();
  if (rank === 0) exchange.add(send(0, region("scratch", 0, bytes)), receive(0, region("scratch", bytes, bytes)));
  const scatter = scattervLinear({ rank, size: localSize, root: 0, bytes: segments[rank]!, blocks: packed(segments) });
  return sequence(
    reduceInGroup(call, { bytes, elementBytes }),
    exchange.schedule(rank === 0 ? 2 * bytes : 0),
    embed(scatter, { group: "local", send: { buffer: "scratch", offset: bytes } }),
  );
}
