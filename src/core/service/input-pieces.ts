/**
 * Standard input of a job, given to one rank, a piece at a time: rank 0, or where deaths are survived the first rank that lives. No byte
 * is read before the program asks for it.
 *
 * A rank that takes over from a dead one is given the pieces that come next. Those that the dead one had been given are lost with it.
 *
 * Where ranks may be started again, each piece that was given is kept until an image covers it: a new life asks for the bytes that it
 * lacks, and gets them in the same pieces. Elsewhere the last one is, until the reader has said that it has come: a rank whose job is moved
 * asks again for what was on its way to it.
 */
import { assert } from "../base/assert.ts";

/** Bytes for that rank, from that place on in all that the rank is given; null: there are no more. */
export interface InputPiece {
  readonly rank: number;
  readonly offset: number;
  readonly bytes: Uint8Array | null;
}

export interface InputPorts {
  /** Takes the next bytes of the input. Null: its end. Undefined: there are none yet, and `more` is called when there are. */
  read(): Uint8Array | null | undefined;
  send(piece: InputPiece): void;
}

const nothing = -1;

export class InputPieces {
  /** May a new life of rank 0 ask again for bytes that were given, however long ago? */
  readonly #keeps: boolean;
  readonly #ports: InputPorts;
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

  /** `given`: before, to lives that have fallen. */
  constructor(keeps: boolean, ports: InputPorts, given: readonly Uint8Array[] = []) {
    this.#keeps = keeps;
    this.#ports = ports;
    for (const bytes of given) this.#keep(bytes);
  }

  /** That rank has everything before that place and wants a piece; it is sent as soon as there is one. False: no life can want that. */
  want(rank: number, place: number): boolean {
    if (rank < this.#reader) return false;
    if (rank > this.#reader) {
      this.#reader = rank;
      this.#before = this.#given;
    }
    const offset = this.#before + place;
    if (!this.#keeps) this.#kept = this.#kept.filter((piece) => piece.offset + piece.bytes.length > offset);
    if (offset > this.#given || (offset < this.#given && this.#keptFrom(offset) === undefined)) return false;
    this.#wanted = offset;
    this.more();
    return true;
  }

  /** There may be bytes, or the end, where `read` had none. */
  more(): void {
    const offset = this.#wanted;
    if (offset === nothing) return;
    const bytes = offset < this.#given ? this.#again(offset) : this.#next();
    if (bytes === undefined) return;
    this.#wanted = nothing;
    this.#ports.send({ rank: this.#reader, offset: offset - this.#before, bytes });
  }

  /** Does a rank wait for input? */
  get isWanted(): boolean {
    return this.#wanted !== nothing;
  }

  /** A rank is dead, and does not come back: another one may want what comes next. */
  lost(rank: number): void {
    if (rank === this.#reader) this.#wanted = nothing;
  }

  /** The job is over: no piece is sent any more. */
  close(): void {
    this.#wanted = nothing;
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

  #next(): Uint8Array | null | undefined {
    const bytes = this.#ports.read();
    if (bytes === null || bytes === undefined) return bytes;
    this.#keep(bytes);
    return bytes;
  }

  #keep(bytes: Uint8Array): void {
    this.#kept.push({ offset: this.#given, bytes });
    this.#given += bytes.length;
  }
}
