/** What processes under replication have sent, for the summary of a job and for its launcher. */
import { countText } from "../../base/amounts.ts";
import type { ProtocolReport } from "../definition.ts";

export interface Replicated {
  /** Messages to the process's own world, and to worlds whose sender is dead. */
  readonly sent: number;
  readonly sentForOthers: number;
  /** Words that acknowledge messages. */
  readonly acknowledgements: number;
  /** Messages that came a second time, and were dropped. */
  readonly duplicates: number;
}

export function summaryOf({ ranks, dead }: ProtocolReport): string[] {
  if (dead === 0) return [];
  const known = (ranks as readonly (Replicated | undefined)[]).flatMap((replicated) => replicated ?? []);
  const forOthers = known.reduce((sum, { sentForOthers }) => sum + sentForOthers, 0);
  return [`${countText(dead, "replica")} lost`, `${countText(forOthers, "message")} sent for the lost`];
}
