/** In the middle of what ranks were, when they fell and when they were captured: tests that claim to exercise a moment look here. */
import { CollectiveNow } from "../interpreter/collective-call.ts";
import { PartitionedSend } from "../interpreter/partitioned.ts";
import type { RankState } from "../interpreter/rank-state.ts";

const none = { betweenParts: 0, insideLine: 0, inMeeting: 0 };
export type Moment = keyof typeof none;

export class Moments {
  readonly fell: Record<Moment, number> = { ...none };
  readonly captured: Record<Moment, number> = { ...none };

  note(what: "fell" | "captured", state: RankState): void {
    for (const moment of momentsOf(state)) this[what][moment]++;
  }
}

function momentsOf(state: RankState): Moment[] {
  const isOf: Record<Moment, boolean> = {
    betweenParts: [...state.series.values()].some((one) => one instanceof PartitionedSend && one.isHalfReady),
    inMeeting: state.doing instanceof CollectiveNow && state.doing.meets(state),
    insideLine: state.line.offset > 0,
  };
  return (Object.keys(isOf) as Moment[]).filter((moment) => isOf[moment]);
}
