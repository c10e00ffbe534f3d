/** Which file of a job is meant, and what is asked for. Plain data, also on the wire: it comes from outside and is checked. */
import { join } from "node:path";
import { unreachable } from "../../core/base/assert.ts";

/** The image of a rank in a checkpoint of its set. */
export interface CheckpointImage {
  readonly kind: "checkpoint";
  readonly set: number;
  readonly number: number;
  readonly rank: number;
}
/** The image of a rank in a frozen job: stored by a job that is being frozen, fetched by one that is thawed. */
interface FrozenImage {
  readonly kind: "frozen";
  readonly rank: number;
}
/** A program as ranks run it, by the name that the dispatcher has given it. */
interface ProgramFile {
  readonly kind: "program";
  readonly name: string;
}
/** What a rank has traced; it grows. */
interface RankTrace {
  readonly kind: "trace";
  readonly rank: number;
}
export type FileKey = CheckpointImage | FrozenImage | ProgramFile | RankTrace;

export interface Request {
  readonly want: "store" | "fetch" | "append";
  readonly file: FileKey;
}

/** What the keeper of the files answers: to a fetch first, otherwise when it has everything. */
export interface Answer {
  /** Empty: all is well. */
  readonly problem: string;
}

/** Names of programs, and nothing that leads elsewhere. */
const programName = /^program(-\d+)?\.(wasm|cjs|mjs)$/;

export const folderOfCheckpoint = (folder: string, set: number, number: number): string =>
  join(folder, `set-${set}`, String(number));

/** In words for people. */
export function fileText(file: FileKey): string {
  switch (file.kind) {
    case "checkpoint":
    case "frozen":
      return `the image of rank ${file.rank}`;
    case "program":
      return "the program";
    case "trace":
      return `the trace of rank ${file.rank}`;
    default:
      return unreachable(file);
  }
}

/** Null: it is none. */
export function requestIn(frame: Uint8Array): Request | null {
  const value = parsed(frame);
  if (!isRecord(value)) return null;
  const { want } = value;
  const file = isRecord(value["file"]) ? fileIn(value["file"]) : null;
  if (file === null || (want !== "store" && want !== "fetch" && want !== "append")) return null;
  return { want, file };
}

function fileIn({ kind, set, number, rank, name }: Record<string, unknown>): FileKey | null {
  if (kind === "program") return typeof name === "string" && programName.test(name) ? { kind, name } : null;
  if (!isNumber(rank)) return null;
  if (kind === "frozen" || kind === "trace") return { kind, rank };
  return kind === "checkpoint" && isNumber(set) && isNumber(number) ? { kind, set, number, rank } : null;
}

/** Null: it is none. */
export function answerIn(frame: Uint8Array): Answer | null {
  const value = parsed(frame);
  return isRecord(value) && typeof value["problem"] === "string" ? { problem: value["problem"] } : null;
}

export const encoded = (message: Request | Answer): Uint8Array[] => [Buffer.from(JSON.stringify(message))];

function parsed(frame: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(frame).toString());
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isNumber = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;
