/**
 * The dispatcher's journal: its decisions, in the order in which they were made, as bytes that are only ever appended (ADR 13). Orders are
 * given when the record is written; so a torn record at the end is left out, and a damaged one that others follow is refused
 * (record-frames.ts).
 */
import { isJobRecord, type JobRecord } from "./job-record.ts";
import { decodeFrames, encodeFrame, type FramesDamaged, type FramesRead } from "./record-frames.ts";

export type JournalRead = FramesRead<JobRecord>;
export type JournalDamaged = FramesDamaged;

export const encodeRecord = (record: JobRecord): Uint8Array => encodeFrame(record);

export function decodeJournal(bytes: Uint8Array): JournalRead | JournalDamaged {
  const read = decodeFrames(bytes, isJobRecord, "a dispatcher");
  return read.kind === "read" ? read : { kind: "damaged", problem: `Cannot read the journal: ${read.problem}` };
}
