/** Amounts that went through channel memories, for the summary of a job and for its launcher. */
import { countText, sizeText, timesText } from "../../base/amounts.ts";
import type { ProtocolReport } from "../definition.ts";

/** Of one memory, in all its processes that have told. */
export interface MemoryAmounts {
  readonly messages: number;
  readonly bytes: number;
}

/** Of the part for the job. */
export interface ChannelMemoryJobReport {
  /** By memory: how the load was shared. */
  readonly memories: readonly MemoryAmounts[];
  /** How often another process took the place of a memory that was lost. */
  readonly memoryRestarts: number;
}

export function memorySummary({ job }: ProtocolReport): string[] {
  const { memories, memoryRestarts } = job as ChannelMemoryJobReport;
  const loads = memories.map(
    ({ messages, bytes }, i) => `memory ${i} had ${countText(messages, "message")} of ${sizeText(bytes)}`,
  );
  const through = loads.join(", ");
  return memoryRestarts === 0 ? [through] : [`memories restarted ${timesText(memoryRestarts)}`, through];
}
