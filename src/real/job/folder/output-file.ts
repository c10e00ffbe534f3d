/**
 * The file `output` of a job's folder: the output book of a job that can be resumed (`core/service/output-book.ts`), written before ranks
 * hear that their lines have come. It is begun anew when it has grown and most of it is outside.
 *
 * A disk that is full must not end a job that runs: the trouble is told once, and the file is removed; such a job cannot be resumed.
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import type { LinePlace } from "../../../core/service/line-places.ts";
import { type FileBefore, type LinesLeave, OutputBook, type OutputRecord } from "../../../core/service/output-book.ts";
import { decodeFrames, encodeFrame } from "../../../core/service/record-frames.ts";
import { syncFolder } from "../../disk/sync-folder.ts";
import type { LineChunk, Stream } from "../../messages/lines.ts";
import type { LineKeeper } from "../../output/line-merge.ts";

const outputIn = (folder: string): string => join(folder, "output");
/** A file that is smaller is not begun anew. */
const bytesMinDefault = 1 << 20;

interface OutputFileOptions {
  readonly folder: string;
  /** Of the job that goes on; a new one unless given. */
  readonly book?: OutputBook | undefined;
  readonly bytesMin?: number;
  /** What is written is forced to the disk, and what has left to a file as well. False unless given. */
  readonly isForDisk?: boolean;
  note(message: string): void;
}

export class OutputFile implements LineKeeper {
  readonly #options: OutputFileOptions;
  readonly #book: OutputBook;
  /** Undefined: nothing is written any more. */
  #file: number | undefined;
  #bytes = 0;
  #bytesMax = 0;
  /** The file that each stream was written to last; null: to something else. */
  readonly #written = new Map<Stream, number | null>();
  /** Behind the lines that are about to leave. */
  #next: (LinePlace & { readonly rank: number; readonly stream: Stream }) | null = null;

  constructor(options: OutputFileOptions) {
    this.#options = options;
    this.#book = options.book ?? new OutputBook();
    this.#attempt(() => this.#beginAnew());
  }

  get book(): OutputBook {
    return this.#book;
  }

  startOf(rank: number, stream: Stream): LinePlace {
    return this.#book.leftOf(rank, stream);
  }

  came(rank: number, { stream, number: line, offset, bytes, flush }: LineChunk): void {
    // Of a job that goes on: these bytes are in the book.
    if (this.#book.hasCome({ rank, stream, line, offset })) return;
    this.#record({ kind: "came", rank, stream, line, offset, bytes, flush });
  }

  leaves(rank: number, stream: Stream, { line, offset }: LinePlace): void {
    this.#next = { rank, stream, line, offset };
  }

  /** So many bytes, those that were announced last, are written to that descriptor now. */
  writing(bytes: number, descriptor: number): void {
    if (this.#next === null) return;
    const { rank, stream, line, offset } = this.#next;
    this.#next = null;
    const file = fileBehind(descriptor);
    if (file !== null) this.#record({ kind: "leaves", rank, stream, line, offset, bytes, file });
    this.#written.set(stream, file === null ? null : descriptor);
  }

  left(rank: number, stream: Stream, { line, offset }: LinePlace): void {
    const descriptor = this.#written.get(stream) ?? null;
    if (this.#options.isForDisk === true && descriptor !== null) this.#attempt(() => fdatasyncSync(descriptor));
    this.#record({ kind: "left", rank, stream, line, offset });
    if (this.#bytes > this.#bytesMax) this.#attempt(() => this.#beginAnew());
  }

  /** See `OutputBook`. */
  bytesThere(stream: Stream, file: FileBefore | null): number {
    return this.#book.bytesThere(stream, file);
  }

  /** What is printed cannot leave any more: what has not left stays in the book. */
  close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // Records that could not be written were told of when they were to be.
    }
  }

  #record(record: OutputRecord): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#book.apply(record);
    this.#attempt(() => {
      this.#append(file, record);
      // What has left is known by what leaves next, or by the size of the file.
      if (this.#options.isForDisk === true && record.kind !== "left") fdatasyncSync(file);
    });
  }

  #append(file: number, record: OutputRecord): void {
    const frame = encodeFrame(
      record.kind === "came" ? { ...record, bytes: Buffer.from(record.bytes).toString("base64") } : record,
    );
    for (let at = 0; at < frame.length; ) at += writeSync(file, frame, at);
    this.#bytes += frame.length;
  }

  #beginAnew(): void {
    const { folder, bytesMin = bytesMinDefault } = this.#options;
    const path = outputIn(folder);
    rmSync(`${path}.new`, { force: true });
    const file = openSync(`${path}.new`, "wx", 0o600);
    this.#bytes = 0;
    for (const record of this.#book.records()) this.#append(file, record);
    if (this.#options.isForDisk === true) fdatasyncSync(file);
    renameSync(`${path}.new`, path);
    if (this.#options.isForDisk === true) syncFolder(folder);
    this.close();
    this.#file = file;
    this.#bytesMax = Math.max(bytesMin, 2 * this.#bytes);
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.close();
      rmSync(outputIn(this.#options.folder), { force: true });
      this.#options.note(
        `Cannot write down what the ranks print: ${describeSystemError(error)}; the job goes on, and could not be resumed`,
      );
    }
  }
}

/** Which file a descriptor leads to, and its size; null: to something else. */
export function fileBehind(descriptor: number): FileBefore | null {
  try {
    const status = fstatSync(descriptor, { bigint: true });
    return status.isFile() ? { id: `${status.dev}:${status.ino}`, size: Number(status.size) } : null;
  } catch {
    return null;
  }
}

/** The book, or what is wrong with it. Throws the system's errors. */
export function readOutput(folder: string): { readonly book: OutputBook; readonly isTorn: boolean } | string {
  const bytes = readFileSync(outputIn(folder));
  const read = decodeFrames(bytes, isWritten, "a job");
  if (read.kind === "damaged") return read.problem;
  const book = new OutputBook();
  for (const record of read.records) {
    book.apply(record.kind === "came" ? { ...record, bytes: Buffer.from(record.bytes, "base64") } : record);
  }
  return { book, isTorn: read.bytes < bytes.length };
}

/** As it is in the file. */
type Written =
  | (Omit<Extract<OutputRecord, { kind: "came" }>, "bytes"> & { readonly bytes: string })
  | LinesLeave
  | Extract<OutputRecord, { kind: "left" }>;

function isWritten(value: unknown): value is Written {
  if (typeof value !== "object" || value === null) return false;
  const { kind, rank, stream, line, offset, bytes, flush, file } = value as Readonly<Record<string, unknown>>;
  const isAtPlace = [rank, line, offset].every(isCount) && (stream === "stdout" || stream === "stderr");
  if (!isAtPlace) return false;
  if (kind === "came") return typeof bytes === "string" && typeof flush === "boolean";
  return kind === "left" || (kind === "leaves" && isCount(bytes) && isFileBefore(file));
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function isFileBefore(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, size } = value as Partial<FileBefore>;
  return typeof id === "string" && isCount(size);
}
