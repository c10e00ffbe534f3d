/** In the middle of what ranks were, when they fell and when they were captured: tests that claim to exercise a moment look here. */

import { PartitionedSend } from "../interpreter/partitioned.ts";
import type { ScriptState } from "../interpreter/script-state.ts";
import { CollectiveNow } from "../interpreter/scripted-collective.ts";

const none = { betweenParts: 0, insideLine: 0, inMeeting: 0, insideCall: 0 };
type FallMoment = keyof typeof none;

export class Moments {
  readonly fell: Record<FallMoment, number> = { ...none };
  readonly captured: Record<FallMoment, number> = { ...none };

  note(what: "fell" | "captured", state: ScriptState): void {
    for (const moment of momentsOf(state)) this[what][moment]++;
  }
}

function momentsOf(state: ScriptState): FallMoment[] {
  const isOf: Record<FallMoment, boolean> = {
    betweenParts: [...state.series.values()].some((one) => one instanceof PartitionedSend && one.isHalfReady),
    inMeeting: state.doing instanceof CollectiveNow && state.doing.meets(state),
    insideLine: state.line.offset > 0,
    insideCall: state.files.calls.isInterrupted,
  };
  return (Object.keys(isOf) as FallMoment[]).filter((moment) => isOf[moment]);
}
