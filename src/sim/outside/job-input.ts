/**
 * Standard input of a simulated job, by the decisions that ship (core/service/input-pieces.ts), and the bytes that rank 0 has read in the
 * history that counts in the end.
 *
 * Dispatchers that crash do not lose the input here: their successor has the same stream.
 */
import { type InputPiece, InputPieces, type InputPorts } from "../../core/service/input-pieces.ts";
import type { Random } from "../random.ts";

interface JobInputOptions {
  readonly random: Random;
  /** May rank 0 be started again? */
  readonly keeps: boolean;
  /** Something happens after a while. */
  later(act: () => void): void;
  /** Other decisions than the real ones, for tests that want to see them fail. */
  readonly newPieces?: NewInputPieces | undefined;
}

export type NewInputPieces = (keeps: boolean, ports: InputPorts) => InputPieces;

const newInputPieces: NewInputPieces = (keeps, ports) => new InputPieces(keeps, ports);

const pieceBytesMax = 30;
const lines = 20;

export class JobInput {
  readonly text = new TextEncoder().encode(
    Array.from({ length: lines }, (_, line) => `line ${line} of the job's input\n`).join(""),
  );
  /** Reads of rank 0, in all lives; pieces that came late, and that were given again. */
  readonly counts = { reads: 0, late: 0, again: 0 };
  readonly #options: JobInputOptions;
  readonly #pieces: InputPieces;
  readonly #reads: Uint8Array[] = [];
  /** Bytes taken from the stream. */
  #taken = 0;
  #isLate = false;
  #hear: (piece: InputPiece) => void = () => {};

  constructor(options: JobInputOptions) {
    this.#options = options;
    const { newPieces = newInputPieces, keeps } = options;
    this.#pieces = newPieces(keeps, { read: () => this.#next(), send: (piece) => this.#send(piece) });
  }

  // The dispatcher

  /** A life of rank 0 has all bytes before that place and wants more. */
  want(rank: number, offset: number, hear: (piece: InputPiece) => void): void {
    this.#hear = hear;
    if (offset < this.#taken) this.counts.again++;
    if (!this.#pieces.want(rank, offset))
      throw new Error(`No life of rank ${rank} can want input from byte ${offset} on`);
  }

  captured(checkpoint: number, offset: number): void {
    this.#pieces.captured(checkpoint, offset);
  }

  oldestIs(checkpoint: number): void {
    this.#pieces.oldestIs(checkpoint);
  }

  #next(): Uint8Array | null | undefined {
    const { random, later } = this.#options;
    if (!this.#isLate && random.chance(0.3)) {
      this.#isLate = true;
      this.counts.late++;
      later(() => this.#pieces.more());
      return undefined;
    }
    this.#isLate = false;
    if (this.#taken === this.text.length) return null;
    const from = this.#taken;
    this.#taken = Math.min(this.text.length, from + random.between(1, pieceBytesMax));
    return this.text.slice(from, this.#taken);
  }

  #send(piece: InputPiece): void {
    this.#options.later(() => this.#hear(piece));
  }

  // The reader

  /** The read with that number, in whichever life, has given these bytes. */
  read(number: number, bytes: Uint8Array): void {
    this.counts.reads++;
    this.#reads[number] = bytes;
  }

  get reads(): number {
    return this.#reads.length;
  }

  /** What all reads have given is not the beginning of the input. */
  problems(): string[] {
    const read = Uint8Array.from(this.#reads.flatMap((bytes) => [...bytes]));
    const wrong = read.findIndex((byte, i) => byte !== this.text[i]);
    if (wrong < 0) return [];
    return [
      `byte ${wrong} of what rank 0 has read is not that of the input: ${shown(read, wrong)}, ${shown(this.text, wrong)}`,
    ];
  }
}

const shown = (bytes: Uint8Array, at: number): string =>
  JSON.stringify(new TextDecoder().decode(bytes.subarray(at, at + 20)));
