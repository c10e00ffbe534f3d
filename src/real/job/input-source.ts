/**
 * Standard input of a job, from a stream: the host of `core/service/input-pieces.ts`. The stream is not touched before the program asks
 * for input: `while read …; do banyan run …; done` keeps its own.
 */
import type { Readable } from "node:stream";
import { type InputPiece, InputPieces } from "../../core/service/input-pieces.ts";
import type { InputFile, InputGiven } from "./folder/input-file.ts";

interface InputOptions {
  /** Undefined: the input is empty. */
  readonly stream: Readable | undefined;
  /** May a new life of rank 0 ask again for bytes that were given? */
  readonly keeps: boolean;
  send(piece: InputPiece): void;
  /** What is given is written down there; nowhere unless given. */
  readonly file?: InputFile | null;
  /** Given by a dispatcher before this one. */
  readonly earlier?: (InputGiven & { readonly isRepeated: boolean }) | null;
}

export class InputSource {
  readonly #stream: Readable | undefined;
  readonly #pieces: InputPieces;
  #listening = false;
  #ended: boolean;
  readonly #file: InputFile | null;
  /** Bytes that the stream begins with, and that were given before. */
  #skips = 0;

  constructor({ stream, keeps, send, file = null, earlier = null }: InputOptions) {
    this.#stream = stream;
    this.#file = file;
    this.#ended = stream === undefined || earlier?.isEnded === true;
    this.#pieces = new InputPieces(keeps, { read: () => this.#next(), send }, earlier?.pieces);
    if (earlier?.isRepeated === true) this.#skips = earlier.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  #next(): Uint8Array | null | undefined {
    const bytes = this.#read();
    if (bytes !== undefined) this.#file?.append(bytes);
    return bytes;
  }

  /** As the methods of `InputPieces`. */
  want(rank: number, place: number): boolean {
    return this.#pieces.want(rank, place);
  }

  get isWanted(): boolean {
    return this.#pieces.isWanted;
  }

  lost(rank: number): void {
    this.#pieces.lost(rank);
  }

  captured(checkpoint: number, offset: number): void {
    this.#pieces.captured(checkpoint, offset);
  }

  oldestIs(checkpoint: number): void {
    this.#pieces.oldestIs(checkpoint);
  }

  get keptBytes(): number {
    return this.#pieces.keptBytes;
  }

  /** The job is over. The stream is its owner's again. */
  close(): void {
    this.#pieces.close();
    this.#stream?.off("readable", this.#more).off("end", this.#end).off("error", this.#end).pause();
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#stream?.on("readable", this.#more).on("end", this.#end).on("error", this.#end);
  }

  #read(): Uint8Array | null | undefined {
    if (this.#ended) return null;
    this.#listen();
    for (;;) {
      const read: Uint8Array | string | null = this.#stream!.read();
      if (read === null) return undefined;
      const bytes = typeof read === "string" ? Buffer.from(read) : read;
      const skips = Math.min(this.#skips, bytes.length);
      this.#skips -= skips;
      if (skips < bytes.length) return bytes.subarray(skips);
    }
  }

  readonly #more = (): void => this.#pieces.more();

  readonly #end = (): void => {
    this.#ended = true;
    this.#pieces.more();
  };
}
