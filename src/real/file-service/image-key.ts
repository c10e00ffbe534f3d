/** Whose image it is, and of which checkpoint. Plain data, also on the wire: it comes from outside and is checked. */
import { join } from "node:path";

export interface ImageKey {
  readonly set: number;
  readonly number: number;
  readonly rank: number;
}

export const folderOfCheckpoint = (folder: string, set: number, number: number): string =>
  join(folder, `set-${set}`, String(number));

/** Where a node has the images of a set that it got from a server. */
export const fetchedFolder = (folder: string, set: number): string => join(folder, `fetched-${set}`);

/** What a node asks of a server. */
export interface Request extends ImageKey {
  readonly kind: "store" | "fetch";
}

/** What the server answers first. */
export interface Answer {
  /** Empty: all is well. */
  readonly problem: string;
}

/** Null: it is none. */
export function requestIn(frame: Uint8Array): Request | null {
  const value = parsed(frame) as Partial<Request> | null;
  if (typeof value !== "object" || value === null) return null;
  const { kind, set, number, rank } = value;
  const isNumber = (it: unknown): it is number => Number.isInteger(it) && (it as number) >= 0;
  if ((kind !== "store" && kind !== "fetch") || !isNumber(set) || !isNumber(number) || !isNumber(rank)) return null;
  return { kind, set, number, rank };
}

export function answerIn(frame: Uint8Array): Answer {
  const { problem } = (parsed(frame) ?? {}) as Partial<Answer>;
  return { problem: typeof problem === "string" ? problem : "the checkpoint server's answer cannot be understood" };
}

export const encoded = (message: Request | Answer): Uint8Array[] => [Buffer.from(JSON.stringify(message))];

function parsed(frame: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(frame).toString());
  } catch {
    return null;
  }
}
