/**
 * The output of a simulated job: pieces of numbered lines come in, perhaps several times, from several lives of their rank; the
 * first offer wins (core/service/line-numbers.ts).
 *
 * Beside it stands what each rank has printed in the history that counts in the end: a later life that prints a piece again says
 * what the piece is now. Where the two differ, a line left that depended on something that was forgotten.
 */
import { LineNumbers } from "../../core/service/line-numbers.ts";
import type { LinePlace } from "../../core/service/line-places.ts";

interface Printer {
  readonly numbers: LineNumbers;
  readonly left: number[];
  /** The last text of each piece, in the rank's order. */
  readonly pieces: string[];
}

export class PrintedOutput {
  readonly #printers: Printer[];
  /** Pieces that were printed, that arrived, that were there already; and that had to wait before they could leave. */
  readonly counts = { printed: 0, offered: 0, repeated: 0, heldBack: 0 };

  constructor(ranks: number) {
    this.#printers = Array.from({ length: ranks }, () => ({ numbers: new LineNumbers(), left: [], pieces: [] }));
  }

  /** The rank has printed that piece, in whichever life. */
  printed(rank: number, piece: number, text: string): void {
    this.counts.printed++;
    this.#printers[rank]!.pieces[piece] = text;
  }

  /** The piece has come to where the lines of all ranks are put together. */
  offer(rank: number, { line, offset }: LinePlace, text: string): void {
    const { numbers, left } = this.#printers[rank]!;
    const bytes = new TextEncoder().encode(text);
    this.counts.offered++;
    const repeats = numbers.offer(line, offset, bytes);
    if (repeats === bytes.length) this.counts.repeated++;
    left.push(...bytes.subarray(repeats));
  }

  /** What is there of a rank. */
  textOf(rank: number): string {
    return new TextDecoder().decode(Uint8Array.from(this.#printers[rank]!.left));
  }

  /** Pieces of a rank, as it printed them in the end. */
  piecesOf(rank: number): readonly string[] {
    return this.#printers[rank]!.pieces;
  }
}
