/**
 * A file that the members of a communicator open together. Its plan is a row of phases, each with a part of the file of its own, so that
 * the contents in the end are certain; but for the order of records that are written at the shared pointer.
 */
import { mixed } from "./mixed-number.ts";

export interface SharedFilePlan {
  readonly number: number;
  readonly communicator: number;
  readonly phases: readonly SharedFilePhase[];
  /** Bytes of the file in the end. */
  readonly size: number;
}

/** Members write records: at offsets, at their own pointers, at the shared pointer, or there in the order of ranks. */
export interface SharedFilePhase {
  readonly by: "offset" | "pointer" | "shared" | "ordered";
  /** First byte of the phase's part of the file. */
  readonly start: number;
  /** How many records each member writes, by its rank in the communicator. */
  readonly counts: readonly number[];
}

export type SharedFileAction = TogetherAction | RecordAction | PrefixAction;

/** All members take part. */
export type TogetherAction =
  | { readonly kind: "file-open"; readonly file: number }
  | { readonly kind: "file-atomic"; readonly file: number }
  /** The shared pointer goes to where the phase begins. */
  | { readonly kind: "file-seek"; readonly file: number; readonly phase: number }
  | { readonly kind: "file-ordered"; readonly file: number; readonly phase: number }
  | { readonly kind: "file-sync"; readonly file: number }
  | { readonly kind: "file-size"; readonly file: number; readonly bytes: number }
  | { readonly kind: "file-close"; readonly file: number };

/** A member writes one of its records. */
interface RecordAction {
  readonly kind: "file-write";
  readonly file: number;
  readonly phase: number;
  readonly index: number;
}

/** A member reads that many bytes from the beginning of the file, which no member writes any more. */
interface PrefixAction {
  readonly kind: "file-read";
  readonly file: number;
  readonly bytes: number;
}

export const recordBytes = 48;

/** A record tells its writer, and the writer's history at that point. */
export function recordText(
  place: { readonly phase: number; readonly member: number; readonly index: number },
  history: number,
): string {
  const { phase, member, index } = place;
  const name = `phase ${phase} member ${member} record ${index} history ${history.toString(16).padStart(8, "0")}`;
  return `${name.padEnd(recordBytes - 1)}\n`;
}

export const endOfPhase = ({ start, counts }: SharedFilePhase): number =>
  start + recordBytes * counts.reduce((sum, count) => sum + count, 0);

/** First byte of a member's records, where they have a certain place. */
export const placeIn = ({ start, counts }: SharedFilePhase, member: number): number =>
  start + recordBytes * counts.slice(0, member).reduce((sum, count) => sum + count, 0);

/** Of contents that were read. */
export const contentsHash = (bytes: Uint8Array): number => mixed(bytes.length, ...bytes);
