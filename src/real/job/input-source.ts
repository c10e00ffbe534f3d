/**
 * Standard input of a job, from a stream: the host of `core/service/input-pieces.ts`. The stream is not touched before the program asks
 * for input: `while read …; do banyan run …; done` keeps its own.
 */
import type { Readable } from "node:stream";
import { type InputPiece, InputPieces } from "../../core/service/input-pieces.ts";

interface InputOptions {
  /** Undefined: the input is empty. */
  readonly stream: Readable | undefined;
  /** May a new life of rank 0 ask again for bytes that were given? */
  readonly keeps: boolean;
  send(piece: InputPiece): void;
}

export class InputSource {
  readonly #stream: Readable | undefined;
  readonly #pieces: InputPieces;
  #listening = false;
  #ended: boolean;

  constructor({ stream, keeps, send }: InputOptions) {
    this.#stream = stream;
    this.#ended = stream === undefined;
    this.#pieces = new InputPieces(keeps, { read: () => this.#read(), send });
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
    const read: Uint8Array | string | null = this.#stream!.read();
    if (read === null) return undefined;
    return typeof read === "string" ? Buffer.from(read) : read;
  }

  readonly #more = (): void => this.#pieces.more();

  readonly #end = (): void => {
    this.#ended = true;
    this.#pieces.more();
  };
}
