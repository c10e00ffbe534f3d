/**
 * Standard input for a rank that several processes play: each of them is given the same pieces. A piece is kept until all of them that
 * live have it; one that has been slow gets it later.
 */
import type { Readable } from "node:stream";
import type { InputPiece } from "../../core/service/input-pieces.ts";

interface InputCopiesOptions {
  /** Undefined: the input is empty. */
  readonly stream: Readable | undefined;
  /** The processes that play the rank. */
  readonly readers: readonly number[];
  /** May readers come back? Then everything is kept. */
  readonly keeps?: boolean;
  send(piece: InputPiece): void;
}

interface Reader {
  /** How much it has been given. */
  offset: number;
  isWaiting: boolean;
}

export class InputCopies {
  readonly #stream: Readable | undefined;
  readonly #send: (piece: InputPiece) => void;
  readonly #readers: Map<number, Reader>;
  readonly #keeps: boolean;
  #kept: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
  /** How much has been read. */
  #read = 0;
  #isListening = false;
  #hasEnded: boolean;

  constructor({ stream, readers, keeps = false, send }: InputCopiesOptions) {
    this.#keeps = keeps;
    this.#stream = stream;
    this.#send = send;
    this.#readers = new Map(readers.map((process) => [process, { offset: 0, isWaiting: false }]));
    this.#hasEnded = stream === undefined;
  }

  /** As `InputSource.want`. */
  want(process: number, offset: number): boolean {
    const reader = this.#readers.get(process);
    if (reader === undefined || offset !== reader.offset) return false;
    reader.isWaiting = true;
    if (!this.#isListening) {
      this.#isListening = true;
      this.#stream?.on("readable", this.#serve).on("end", this.#end).on("error", this.#end);
    }
    this.#serve();
    return true;
  }

  /** As `InputSource.isWanted`. */
  get isWanted(): boolean {
    return [...this.#readers.values()].some(({ isWaiting }) => isWaiting);
  }

  /** That process is dead. */
  lost(process: number): void {
    this.#readers.delete(process);
    this.#forget();
  }

  /** That process has come back, and has everything before that place. */
  returned(process: number, offset: number): void {
    this.#readers.set(process, { offset, isWaiting: false });
  }

  /** There are no checkpoints. */
  captured(): void {}
  oldestIs(): void {}

  close(): void {
    this.#stream?.off("readable", this.#serve).off("end", this.#end).off("error", this.#end).pause();
    this.#readers.clear();
  }

  readonly #serve = (): void => {
    for (const [process, reader] of this.#readers) {
      if (!reader.isWaiting) continue;
      const bytes = this.#from(reader.offset) ?? this.#next();
      if (bytes === undefined) continue;
      reader.isWaiting = false;
      const { offset } = reader;
      reader.offset += bytes?.length ?? 0;
      this.#send({ rank: process, offset, bytes });
    }
    this.#forget();
  };

  /** What was read from that place on, to the end of its piece. */
  #from(offset: number): Uint8Array | undefined {
    const piece = this.#kept.find((each) => offset < each.offset + each.bytes.length);
    return piece?.bytes.subarray(offset - piece.offset);
  }

  /** The next piece, for a reader that has all others. Null: there is none; undefined: not yet. */
  #next(): Uint8Array | null | undefined {
    if (this.#hasEnded) return null;
    const read: Uint8Array | string | null = this.#stream!.read();
    if (read === null) return undefined;
    const bytes = typeof read === "string" ? Buffer.from(read) : read;
    this.#kept.push({ offset: this.#read, bytes });
    this.#read += bytes.length;
    return bytes;
  }

  #forget(): void {
    if (this.#keeps) return;
    const least = Math.min(...[...this.#readers.values()].map(({ offset }) => offset));
    this.#kept = this.#kept.filter(({ offset, bytes }) => offset + bytes.length > least);
  }

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#serve();
  };
}
