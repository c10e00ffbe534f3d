/**
 * Standard input for one rank, a piece at a time: rank 0, or where deaths are survived the first rank that lives. Nothing is read
 * before the program asks for it: `while read …; do banyan run …; done` keeps its own input.
 *
 * A rank that takes over from a dead one is given the pieces that come next. Those that the dead one had been given are lost with it.
 *
 * Where ranks may be started again, what was given is kept until an image covers it: a new life asks for what it lacks, and
 * gets it in the same pieces.
 */
import type { Readable } from "node:stream";
import { assert } from "../../core/base/assert.ts";

/** Bytes for that rank, from that place on in all that it is given; null: there are no more. */
export interface InputPiece {
  readonly rank: number;
  readonly offset: number;
  readonly bytes: Uint8Array | null;
}

interface InputOptions {
  /** Undefined: the input is empty. */
  readonly stream: Readable | undefined;
  /** May a new life of rank 0 ask again for bytes that were given? */
  readonly keeps: boolean;
  send(piece: InputPiece): void;
}

const nothing = -1;

export class InputSource {
  readonly #options: InputOptions;
  #listening = false;
  /** The rank that reads, and how much had been given before it was the reader. */
  #reader = 0;
  #before = 0;
  /** From where on the reader wants a piece. */
  #wanted = nothing;
  /** How much has been given, and which pieces of it are kept. */
  #given = 0;
  #kept: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
  /** How far rank 0 had read at each checkpoint that may be restored. */
  readonly #readAt = new Map<number, number>();
  #ended: boolean;

  constructor(options: InputOptions) {
    this.#options = options;
    this.#ended = options.stream === undefined;
  }

  /** That rank has everything before that place and wants a piece; it is sent as soon as there is one. False: no life can want that. */
  want(rank: number, place: number): boolean {
    if (rank < this.#reader) return false;
    if (rank > this.#reader) {
      this.#reader = rank;
      this.#before = this.#given;
    }
    const offset = this.#before + place;
    if (offset > this.#given || (offset < this.#given && this.#keptFrom(offset) === undefined)) return false;
    this.#wanted = offset;
    this.#listen();
    this.#serve();
    return true;
  }

  /** Does a rank wait for input? */
  get isWanted(): boolean {
    return this.#wanted !== nothing;
  }

  /** A rank is dead, and does not come back: another one may want what comes next. */
  lost(rank: number): void {
    if (rank === this.#reader) this.#wanted = nothing;
  }

  /** An image of rank 0 with that number is written: it has everything before that place. */
  captured(checkpoint: number, offset: number): void {
    this.#readAt.set(checkpoint, offset);
  }

  /** No older image of rank 0 will be restored. */
  oldestIs(checkpoint: number): void {
    const offset = this.#readAt.get(checkpoint) ?? 0;
    for (const number of this.#readAt.keys()) if (number < checkpoint) this.#readAt.delete(number);
    this.#kept = this.#kept.filter((piece) => piece.offset + piece.bytes.length > offset);
  }

  /** Bytes that are kept. */
  get keptBytes(): number {
    return this.#kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** The job is over. The stream is its owner's again. */
  close(): void {
    this.#wanted = nothing;
    this.#options.stream?.off("readable", this.#serve).off("end", this.#end).off("error", this.#end).pause();
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#options.stream?.on("readable", this.#serve).on("end", this.#end).on("error", this.#end);
  }

  readonly #serve = (): void => {
    const offset = this.#wanted;
    if (offset === nothing) return;
    const bytes = offset < this.#given ? this.#again(offset) : this.#next();
    if (bytes === undefined) return;
    this.#wanted = nothing;
    this.#options.send({ rank: this.#reader, offset: offset - this.#before, bytes });
  };

  /** The rest of a piece that was given before. */
  #again(offset: number): Uint8Array {
    const bytes = this.#keptFrom(offset);
    assert(bytes !== undefined, `standard input from byte ${offset} on is not kept`);
    return bytes;
  }

  #keptFrom(offset: number): Uint8Array | undefined {
    const piece = this.#kept.find((each) => offset < each.offset + each.bytes.length);
    return piece === undefined || piece.offset > offset ? undefined : piece.bytes.subarray(offset - piece.offset);
  }

  /** Null: its end. Undefined: nothing is there yet. */
  #next(): Uint8Array | null | undefined {
    if (this.#ended) return null;
    const read: Uint8Array | string | null = this.#options.stream!.read();
    if (read === null) return undefined;
    const bytes = typeof read === "string" ? Buffer.from(read) : read;
    if (this.#options.keeps) this.#kept.push({ offset: this.#given, bytes });
    this.#given += bytes.length;
    return bytes;
  }

  readonly #end = (): void => {
    this.#ended = true;
    this.#serve();
  };
}
