/** Names of a job's files, and requests for them. Plain data that comes from other processes, and is checked. */
import { join } from "node:path";
import { unreachable } from "../../core/base/assert.ts";
import { kind, object, oneOf, type Shape, text, whole, word } from "../../core/base/value-shape.ts";

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
/** The trace of a rank, a file that grows. */
interface RankTrace {
  readonly kind: "trace";
  readonly rank: number;
}
export type FileKey = CheckpointImage | FrozenImage | ProgramFile | RankTrace;

export interface FileRequest {
  readonly want: "store" | "fetch" | "append";
  readonly file: FileKey;
}

/** The answer of the keeper of files: to a fetch before the file, to anything else when all of it has arrived. */
interface FileAnswer {
  /** Empty: all is well. */
  readonly problem: string;
}

/** Names of programs; none leads to another folder. */
const programName = /^program(-\d+|\.\d+)?\.(wasm|cjs|mjs)$/;

export const folderOfCheckpoint = (folder: string, set: number, number: number): string =>
  join(folder, `set-${set}`, String(number));

/** For messages to people. */
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

const number = whole(0, Number.MAX_SAFE_INTEGER);
const programNameShape: Shape<string> = (value) =>
  typeof value === "string" && programName.test(value) ? "" : "is no name of a program";

const request = object<FileRequest>({
  want: word("store", "fetch", "append"),
  file: oneOf<FileKey>({
    checkpoint: object({ kind: kind("checkpoint"), set: number, number, rank: number }),
    frozen: object({ kind: kind("frozen"), rank: number }),
    program: object({ kind: kind("program"), name: programNameShape }),
    trace: object({ kind: kind("trace"), rank: number }),
  }),
});

const answer = object<FileAnswer>({ problem: text });

/** The request in a frame; null: there is none. */
export const requestIn = (frame: Uint8Array): FileRequest | null => decoded(frame, request);

/** The answer in a frame; null: there is none. */
export const answerIn = (frame: Uint8Array): FileAnswer | null => decoded(frame, answer);

export const encoded = (message: FileRequest | FileAnswer): Uint8Array[] => [Buffer.from(JSON.stringify(message))];

function decoded<T>(frame: Uint8Array, shape: Shape<T>): T | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(frame).toString());
    return shape(value) === "" ? (value as T) : null;
  } catch {
    return null;
  }
}
