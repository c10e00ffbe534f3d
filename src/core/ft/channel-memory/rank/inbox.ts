/**
 * Frames that one channel memory has for a rank, whole ones, in order. Bytes of a large message do not wait for the end of their frame: they go from the
 * channel to their place in the process's memory.
 */
import { lives } from "../../../base/saved-classes.ts";
import type { ClientEnd } from "../../../service-channel/channel.ts";
import { FromMemory, frameHeadWords, pieceFrameFacts, WordFrameReader, wordsFor } from "../frames.ts";

/** Words that are taken to look for frames in them. */
const wordsAtOnce = 1 << 10;
const bytesFrom = frameHeadWords + pieceFrameFacts;

/** Whoever frames are for. */
export interface FrameTaker {
  /** Says whether there is room for it. */
  take(frame: Int32Array): boolean;
  /** Where the bytes of a PIECE go; null: nobody wants them. */
  placeOf(ticket: number, offset: number, bytes: number): Uint8Array | null;
  /** They are there. */
  pieceCame(ticket: number, offset: number, bytes: number): void;
}

/** A PIECE of which the words before its bytes have come. */
interface ComingPiece {
  readonly ticket: number;
  readonly offset: number;
  readonly place: Uint8Array;
  /** Its whole words, and how many of them are there. */
  readonly words: Int32Array;
  have: number;
}

export class Inbox {
  static readonly unsaved = { end: null, reader: null, coming: null, last: null, origin: 0 };
  private readonly end: ClientEnd;
  private readonly reader = new WordFrameReader();
  private coming: ComingPiece | null = null;
  /** The last word of a PIECE, which has fewer than four bytes of it. */
  private readonly last = new Int32Array(1);
  /** The process of the memory that spoke last. */
  private origin = 0;

  constructor(end: ClientEnd) {
    this.end = end;
  }

  /** Gives each frame to its taker. True: something was taken. */
  read(taker: FrameTaker): boolean {
    let moved = false;
    for (;;) {
      if (this.coming !== null) {
        const { have } = this.coming;
        if (!this.goOn(this.coming, taker)) return moved || (this.coming?.have ?? 0) > have;
        moved = true;
        continue;
      }
      const frame = this.reader.peek();
      if (frame !== null) {
        if (!taker.take(frame)) return moved;
        this.reader.drop();
        moved = true;
      } else if (!this.begin(taker) && !this.feed()) return moved;
    }
  }

  private feed(): boolean {
    if (this.end.isEmpty === true) return false;
    const count = this.end.take(this.reader.placeOfWords(wordsAtOnce));
    if (count === 0) return false;
    this.reader.placed(count);
    // A frame of which a part had come is never completed by another process.
    if (this.end.origin !== this.origin) this.reader.keepLast(count);
    this.origin = this.end.origin;
    return true;
  }

  /** Does a PIECE begin of which the rest can go to its place? */
  private begin(taker: FrameTaker): boolean {
    if (this.reader.pending < bytesFrom) return false;
    const { part } = this.reader;
    if (part[1] !== FromMemory.PIECE) return false;
    const [, , ticket, offset, bytes] = part as unknown as readonly [number, number, number, number, number];
    if (part[0] !== bytesFrom + wordsFor(bytes)) return false;
    const place = taker.placeOf(ticket, offset, bytes);
    if (place === null || place.byteOffset % 4 !== 0) return false;
    const words = new Int32Array(place.buffer, place.byteOffset, bytes >> 2);
    const here = part.subarray(bytesFrom, bytesFrom + words.length);
    words.set(here);
    // What is here of a last word that is not whole is all of the frame: then this would not be a part of it.
    this.coming = { ticket, offset, place, words, have: here.length };
    this.reader.reset();
    return true;
  }

  /** True: all of it is there, or something else has come. */
  private goOn(coming: ComingPiece, taker: FrameTaker): boolean {
    const { words, place } = coming;
    while (coming.have < words.length) {
      const into = words.subarray(coming.have);
      const count = this.end.take(into);
      if (count === 0) return false;
      if (this.end.origin !== this.origin) return this.another(into, count);
      coming.have += count;
    }
    const rest = place.length & 3;
    if (rest > 0) {
      if (this.end.take(this.last) === 0) return false;
      if (this.end.origin !== this.origin) return this.another(this.last, 1);
      place.set(new Uint8Array(this.last.buffer, 0, rest), 4 * words.length);
    }
    this.coming = null;
    taker.pieceCame(coming.ticket, coming.offset, place.length);
    return true;
  }

  /** Another process speaks: these were no bytes of that PIECE. */
  private another(words: Int32Array, count: number): boolean {
    this.coming = null;
    this.origin = this.end.origin;
    this.reader.feed(words, 0, count);
    return true;
  }
}

lives({ Inbox });
