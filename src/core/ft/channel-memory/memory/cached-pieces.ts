/** Pieces of messages whose bytes are in memory, oldest first: above a bound the oldest are in the store alone. */
import { noHolds, sharedWordsMin, type WordHolds } from "../../../service-channel/word-blocks.ts";
import type { MessagePiece } from "./home-items.ts";

/** So many may be here without bytes before anybody looks for them. */
const goneMin = 1 << 10;

export class CachedPieces {
  #pieces: MessagePiece[] = [];
  /** Those before this index have no bytes any more; and how many of the others have none. */
  #from = 0;
  #gone = 0;
  bytes = 0;
  readonly #holds: WordHolds;

  constructor(holds: WordHolds = noHolds) {
    this.#holds = holds;
  }

  add(piece: MessagePiece): void {
    if (piece.words !== null && isShared(piece.words)) this.#holds.hold(piece.words);
    this.#pieces.push(piece);
    this.bytes += piece.bytes;
  }

  /** The bytes of a piece are not needed in memory any more. */
  drop(piece: MessagePiece): void {
    if (piece.words === null) return;
    this.#forget(piece);
    this.#gone++;
  }

  trim(bytesMax: number): void {
    while (this.bytes > bytesMax) {
      const oldest = this.#pieces[this.#from++]!;
      if (oldest.words === null) this.#gone--;
      else this.#forget(oldest);
    }
    if (this.#from + this.#gone <= Math.max(goneMin, this.#pieces.length / 2)) return;
    this.#pieces = this.#pieces.filter(({ words }) => words !== null);
    this.#from = 0;
    this.#gone = 0;
  }

  #forget(piece: MessagePiece): void {
    if (piece.words !== null && isShared(piece.words)) this.#holds.letGo(piece.words);
    piece.words = null;
    this.bytes -= piece.bytes;
  }
}

/** May they stand in a block? Few words never do, and to ask them for their memory makes V8 allocate it. */
const isShared = ({ length }: Int32Array): boolean => length >= sharedWordsMin;
