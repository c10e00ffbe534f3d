/**
 * Inter-communicator barrier: each group signals its rank 0, the two exchange a signal, each releases its group. No rank leaves
 * before every rank of both groups has entered. 2·⌈log2 p⌉ + 1 signals deep.
 */

import { embed, sequence } from "../engine/compose.ts";
import { Rounds, signalFrom, signalTo } from "../engine/rounds.ts";
import type { InterPlace, Schedule } from "../engine/schedule.ts";
import { barrierFanIn, barrierFanOut } from "../intra/barrier-tree.ts";

export function interBarrierLeaders({ rank, localSize }: InterPlace): Schedule {
  const place = { rank, size: localSize, root: 0 };
  const exchange = new Rounds();
  if (rank === 0) exchange.signal(signalTo(0), signalFrom(0));
  return sequence(
    embed(barrierFanIn(place), { group: "local" }),
    exchange.schedule(),
    embed(barrierFanOut(place), { group: "local" }),
  );
}
