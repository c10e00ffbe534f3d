/** What the journal of a job says: the state of the dispatcher, and of the recovery beside it, that wrote it. */
import { assert } from "../base/assert.ts";
import { applyToDispatcher, type DispatcherState, type JobBegan, newDispatcherState } from "./dispatcher-state.ts";
import type { FaultsFired, JobRecord } from "./job-record.ts";
import { applySetsFell, applySplit, applyToRecovery, newRecoveryState, type RecoveryState } from "./recovery-state.ts";

export interface JobState {
  /** The job that it is. */
  readonly began: JobBegan;
  readonly dispatcher: DispatcherState;
  readonly recovery: RecoveryState;
  /** Null: no entry of a fault plan has fired. */
  faults: FaultsFired | null;
}

export function jobStateFrom(records: readonly JobRecord[]): JobState {
  const [began, ...others] = records;
  assert(began?.kind === "began", "a journal begins with the beginning of its job");
  const sets = began.setOf.reduce((most, set) => Math.max(most, set + 1), 0);
  const state: JobState = {
    began,
    dispatcher: newDispatcherState(began),
    recovery: newRecoveryState(sets),
    faults: null,
  };
  for (const record of others) apply(state, record);
  return state;
}

function apply(state: JobState, record: JobRecord): void {
  const { began, dispatcher, recovery } = state;
  switch (record.kind) {
    case "began":
      throw new Error("Cannot use the journal: it is of two jobs");
    case "faults-fired":
      state.faults = record;
      break;
    case "checkpoint-begun":
    case "checkpoint-committed":
    case "checkpoint-given-up":
    case "checkpoint-refused":
      applyToRecovery(recovery, record);
      break;
    case "fall": {
      applyToDispatcher(dispatcher, record);
      const fallen = record.deaths.flatMap(({ rank }) => began.setOf[rank] ?? []);
      if (record.returns) applySetsFell(recovery, new Set(fallen));
      break;
    }
    case "moved":
      applyToDispatcher(dispatcher, record);
      if (record.split !== null) applySplit(recovery, record.split);
      break;
    default:
      applyToDispatcher(dispatcher, record);
  }
}
