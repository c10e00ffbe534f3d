/**
 * What ranks and channel memories say to each other: frames of words, the first of which is their count and the second their kind.
 * Bytes stand behind the words of a frame, the last word filled with zeros. The message that two words name is (rank, number): number of
 * the channel between the two ranks, as everywhere (rule 1).
 *
 * A channel acknowledges whole frames, never a part of one: a memory that takes the place of another finds the beginning of a frame.
 */
import { assert } from "../../base/assert.ts";
import type { ChannelEnd } from "../../service-channel/channel.ts";

/** From a rank to a memory. */
export const ToMemory = {
  /** receiver · number · context · tag · bytes · is synchronous; then its first bytes */
  POST: 1,
  /** receiver · number · offset; then bytes from there on */
  MORE: 2,
  /** sender · number: this rank has taken that synchronous message, and will have taken it in every life */
  TAKEN: 3,
  /** number · words of a determinant, of this rank */
  EVENT: 4,
  /** first entry · first event that this life lacks; then senders and numbers of messages that it has without all bytes */
  RESUME: 5,
  /** sender · number · ticket · offset: the bytes of that message are wanted from there on, as pieces with that ticket */
  WANT: 6,
  /** checkpoint · entries · events that its image has; then senders and numbers of messages that it has without all bytes */
  MARK: 7,
  /** checkpoint: no image with a lower number will be restored */
  FREE: 8,
} as const;

/** From a memory to a rank. */
export const FromMemory = {
  /** receiver · first missing · others: the numbers of this rank's messages to that receiver that are here */
  HELD: 1,
  /** That is all of it. A process of a memory says this once to each life, first. */
  READY: 2,
  /** entry · sender · number · context · tag · bytes · is synchronous; then its bytes, if they are few */
  MESSAGE: 3,
  /** entry · receiver · number: that synchronous message of this rank was taken */
  TAKEN: 4,
  /** number · words: a determinant of an earlier life */
  EVENT: 5,
  /** There are no more. */
  EVENTS_END: 6,
  /** ticket · offset · bytes; then these */
  PIECE: 7,
} as const;

/** Words at the beginning of a frame: their count, and the kind. */
export const frameHeadWords = 2;
/** Of the words before the bytes of any frame. */
const frameFactsMax = 16;
/** No honest frame is longer. */
const frameWordsMax = 1 << 24;

export const wordsFor = (bytes: number): number => (bytes + 3) >> 2;

/** One number for a message between two ranks, one of which is known. Ranks are below 2^21. */
export const keyOfMessage = (rank: number, sequence: number): number => rank * 2 ** 32 + (sequence >>> 0);

/** An entry that stands in no order: a message that is announced once more. */
export const noEntry = -1;

/** Puts frames into an end of a channel, one after the other. Nothing else is appended there. */
export class FrameWriter {
  readonly #end: Pick<ChannelEnd, "append">;
  #stage: Int32Array;
  #bytes: Uint8Array;
  /** Words of the stage that have not left. */
  #from = 0;
  #to = 0;

  /** `pieceBytesMax`: the most bytes that a frame carries. */
  constructor(end: Pick<ChannelEnd, "append">, pieceBytesMax: number) {
    this.#end = end;
    this.#stage = new Int32Array(frameHeadWords + frameFactsMax + wordsFor(pieceBytesMax));
    this.#bytes = new Uint8Array(this.#stage.buffer);
  }

  /** Words of the last frame that found no room yet. */
  get left(): number {
    return this.#to - this.#from;
  }

  /** As much leaves as there is room for. True: all has left, and the next frame may come. */
  go(): boolean {
    if (this.#from < this.#to) this.#from += this.#end.append(this.#stage, this.#from, this.#to);
    return this.#from === this.#to;
  }

  /** A frame; true as `go`. The one before has left. */
  put(kind: number, facts: readonly number[]): boolean {
    this.#begin(kind, facts);
    return this.#finish();
  }

  /** The same with bytes that are words already, the last filled with zeros. */
  putWords(kind: number, facts: readonly number[], words: Int32Array): boolean {
    this.#begin(kind, facts);
    this.#stage.set(words, this.#to);
    this.#to += words.length;
    return this.#finish();
  }

  /** The same with bytes, which are copied. */
  putBytes(kind: number, facts: readonly number[], bytes: Uint8Array): boolean {
    this.#begin(kind, facts);
    if (bytes.length > 0) {
      const at = 4 * this.#to;
      this.#to += wordsFor(bytes.length);
      this.#stage[this.#to - 1] = 0;
      this.#bytes.set(bytes, at);
    }
    return this.#finish();
  }

  #begin(kind: number, facts: readonly number[]): void {
    assert(this.#from === this.#to, "a frame begins before the last one has left");
    if (frameHeadWords + facts.length > this.#stage.length) this.#enlarge(frameHeadWords + facts.length);
    this.#stage[1] = kind;
    for (let i = 0; i < facts.length; i++) this.#stage[frameHeadWords + i] = facts[i]!;
    this.#to = frameHeadWords + facts.length;
  }

  /** For a list of numbers that is longer than a piece of a message. */
  #enlarge(words: number): void {
    assert(words <= frameWordsMax, `a frame of ${words} words`);
    this.#stage = new Int32Array(words);
    this.#bytes = new Uint8Array(this.#stage.buffer);
  }

  #finish(): boolean {
    this.#stage[0] = this.#to;
    this.#from = 0;
    return this.go();
  }
}

/** Finds the frames in a stream of words that comes in parts of any size. */
export class WordFrameReader {
  #words = new Int32Array(64);
  /** Words that are here: from one index up to another. */
  #from = 0;
  #to = 0;

  /** Words that belong to no frame that was dropped. */
  get pending(): number {
    return this.#to - this.#from;
  }

  feed(words: Int32Array, at: number, count: number): void {
    this.#reserve(count);
    this.#words.set(words.subarray(at, at + count), this.#to);
    this.#to += count;
  }

  /** The oldest frame, which is valid until the next call; null: it is not all here. */
  peek(): Int32Array | null {
    const length = this.pending === 0 ? 0 : this.#words[this.#from]!;
    return length < frameHeadWords || length > this.pending
      ? null
      : this.#words.subarray(this.#from, this.#from + length);
  }

  /** Is what comes next no frame at all? */
  get isBroken(): boolean {
    if (this.pending === 0) return false;
    const length = this.#words[this.#from]!;
    return length < frameHeadWords || length > frameWordsMax;
  }

  /** Done with the oldest frame. */
  drop(): void {
    this.#from += this.#words[this.#from]!;
    if (this.#from === this.#to) this.reset();
  }

  /** The rest of a frame will not come. */
  reset(): void {
    this.#from = 0;
    this.#to = 0;
  }

  #reserve(count: number): void {
    if (this.#to + count <= this.#words.length) return;
    const kept = this.#words.subarray(this.#from, this.#to);
    const words =
      kept.length + count <= this.#words.length / 2 ? this.#words : new Int32Array(2 * (kept.length + count));
    // Never over words that were given out: `peek` is valid until the next call, and this is one.
    words.set(kept);
    this.#words = words;
    this.#to = kept.length;
    this.#from = 0;
  }
}

/** The bytes behind the words of a frame. */
export function bytesBehind(frame: Int32Array, facts: number, bytes: number): Uint8Array {
  const at = frame.byteOffset + 4 * (frameHeadWords + facts);
  assert(bytes <= 4 * (frame.length - frameHeadWords - facts), "a frame that lacks bytes");
  return new Uint8Array(frame.buffer, at, bytes);
}
