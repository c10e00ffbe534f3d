/**
 * The file `input` of a job's folder: the standard input that the program of a job that can be resumed was given, piece by piece, written
 * before a rank sees it. It is made when the program first asks for input.
 *
 * A disk that is full must not end a job that runs: the trouble is told once, and the file gets another name; such a job cannot be resumed.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import { decodeFrames, encodeFrame } from "../../../core/service/record-frames.ts";
import { syncFolder } from "../../disk/sync-folder.ts";
import type { JournalOptions } from "./journal-file.ts";

const inputIn = (folder: string): string => join(folder, "input");

/** Input that was given before. */
export interface InputGiven {
  readonly pieces: readonly Uint8Array[];
  readonly isEnded: boolean;
}

export class InputFile {
  readonly #folder: string;
  readonly #isForDisk: boolean;
  readonly #path: string;
  readonly #note: (message: string) => void;
  #isGivenUp = false;

  /** See `JournalOptions`. */
  constructor(folder: string, note: (message: string) => void, { bytes = 0, isForDisk = false }: JournalOptions = {}) {
    this.#isForDisk = isForDisk;
    this.#folder = folder;
    this.#path = inputIn(folder);
    this.#note = note;
    if (existsSync(this.#path)) truncateSync(this.#path, bytes);
  }

  /** Bytes that are given next; null: there are no more. */
  append(bytes: Uint8Array | null): void {
    if (this.#isGivenUp) return;
    try {
      const record = { bytes: bytes === null ? null : Buffer.from(bytes).toString("base64") };
      const isNew = this.#isForDisk && !existsSync(this.#path);
      appendFileSync(this.#path, encodeFrame(record), { mode: 0o600, flush: this.#isForDisk });
      if (isNew) syncFolder(this.#folder);
    } catch (error) {
      this.#isGivenUp = true;
      this.#spoil();
      this.#note(
        `Cannot write down the standard input: ${describeSystemError(error)}; the job goes on, and could not be resumed`,
      );
    }
  }

  #spoil(): void {
    try {
      if (existsSync(this.#path)) renameSync(this.#path, spoiltIn(this.#folder));
      else writeFileSync(spoiltIn(this.#folder), "");
    } catch {
      // A folder that cannot be written at all has no journal either.
    }
  }
}

/** What is missing must not pass for input that was never given. */
const spoiltIn = (folder: string): string => join(folder, "input.spoilt");

/** The input that was given, and where its last whole record ends; or what is wrong with it. Throws the system's errors. */
export function readGivenInput(
  folder: string,
): (InputGiven & { readonly isTorn: boolean; readonly bytes: number }) | string {
  const path = inputIn(folder);
  if (existsSync(spoiltIn(folder))) return "a part of the standard input could not be written";
  if (!existsSync(path)) return { pieces: [], isEnded: false, isTorn: false, bytes: 0 };
  const bytes = readFileSync(path);
  const read = decodeFrames(bytes, isPiece, "a job");
  if (read.kind === "damaged") return read.problem;
  const given = read.records.map((record) => record.bytes);
  const pieces = given.flatMap((piece) => (piece === null ? [] : [new Uint8Array(Buffer.from(piece, "base64"))]));
  return { pieces, isEnded: given.includes(null), isTorn: read.bytes < bytes.length, bytes: read.bytes };
}

interface Piece {
  readonly bytes: string | null;
}

function isPiece(value: unknown): value is Piece {
  if (typeof value !== "object" || value === null) return false;
  const { bytes } = value as Partial<Piece>;
  return bytes === null || typeof bytes === "string";
}
