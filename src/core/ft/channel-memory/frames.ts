/**
 * What ranks and channel memories say to each other: frames of words, the first of which is their count and the second their kind.
 * Bytes stand behind the words of a frame, the last word filled with zeros. The message that two words name is (rank, number): number of
 * the channel between the two ranks, as everywhere (rule 1).
 *
 * A channel acknowledges whole frames, never a part of one: a memory that takes the place of another finds the beginning of a frame.
 *
 * Bytes begin at an even word of the stream, and so does every frame: behind one with an odd number of words stands a filler. So bytes stand at multiples
 * of eight in rings, stages and the rank's memory alike; V8 copies them eight times as fast from there (ADR 57).
 */
import { assert } from "../../base/assert.ts";
import { copyWords } from "../../base/copy-words.ts";
import type { ChannelEnd, Stretch } from "../../service-channel/channel.ts";
import { blockWords, type WordBlocks } from "../../service-channel/word-blocks.ts";

/** From a rank to a memory. */
export const ToMemory = {
  /** receiver · number · context · tag · bytes · is synchronous; then its first bytes */
  POST: 1,
  /** receiver · number · offset · 0; then bytes from there on */
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
  /** entry · sender · number · context · tag · bytes · is synchronous · 0; then its bytes, if they are few */
  MESSAGE: 3,
  /** entry · receiver · number: that synchronous message of this rank was taken */
  TAKEN: 4,
  /** number · words: a determinant of an earlier life */
  EVENT: 5,
  /** There are no more. */
  EVENTS_END: 6,
  /** ticket · offset · bytes · 0; then these */
  PIECE: 7,
} as const;

/** Words at the beginning of a frame: their count, and the kind. */
export const frameHeadWords = 2;
/** Words between the head and the bytes, of frames with bytes; even numbers. */
export const postFrameFacts = 6;
export const moreFrameFacts = 4;
export const messageFrameFacts = 8;
export const pieceFrameFacts = 4;
/** A word that belongs to no frame: none has so few. */
const filler = 1;
/** So many bytes go to the channel from where they are; fewer are copied, to go with the words before them. */
const manyBytes = 1 << 12;
const stageWordsMin = 1 << 8;
/** Less room is not worth a receive of its own. */
const placeWordsMin = 1 << 12;
/** Of the memory in which some words are kept, unless a frame is larger, */
const keptWordsMax = 1 << 16;
/** and of a frame for all of which there is room from its beginning on: the largest that ranks and memories say. */
const roomyWordsMax = 1 << 17;
/** One that is larger is received to a block (`WordBlocks`). */
const largeWords = 1 << 15;
/** No honest frame is longer. */
const frameWordsMax = 1 << 24;

export const wordsFor = (bytes: number): number => (bytes + 3) >> 2;

/** One number for a message between two ranks, one of which is known. Ranks are below 2^21. */
export const keyOfMessage = (rank: number, sequence: number): number => rank * 2 ** 32 + (sequence >>> 0);

/** An entry that stands in no order: a message that is announced once more. */
export const noEntry = -1;

/** Where frames go. */
interface FrameEnd extends Pick<ChannelEnd, "append" | "appendWith"> {
  /** The same without a copy, if the end can do that: nobody changes the words any more. */
  lend?(words: Int32Array, from: number, to: number): number;
}

/** Puts frames into an end of a channel, one after the other. Nothing else is appended there. */
export class FrameWriter {
  readonly #end: FrameEnd;
  #stage = new Int32Array(stageWordsMin);
  #bytes = new Uint8Array(this.#stage.buffer);
  /** Words of the stage that have not left. */
  #from = 0;
  #to = 0;
  /** Does a filler follow the frame? */
  #isOdd = false;

  constructor(end: FrameEnd) {
    this.#end = end;
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
    this.#begin(kind, facts, 0);
    return this.#finish();
  }

  /** The same with bytes that are words already, the last filled with zeros. The facts are an even number. */
  putWords(kind: number, facts: readonly number[], words: Int32Array): boolean {
    assert(facts.length % 2 === 0, "bytes stand at an even word");
    this.#begin(kind, facts, words.length);
    this.#reserve(words.length);
    copyWords(words, 0, this.#stage, this.#to, words.length);
    this.#to += words.length;
    return this.#finish();
  }

  /** The same with bytes, which are copied unless nobody changes them any more (`isLent`). The facts are an even number. */
  putBytes(kind: number, facts: readonly number[], bytes: Uint8Array, isLent = false): boolean {
    assert(facts.length % 2 === 0, "bytes stand at an even word");
    this.#begin(kind, facts, wordsFor(bytes.length));
    const isMuch = bytes.length >= manyBytes && bytes.byteOffset % 4 === 0;
    this.#stageBytes(isMuch ? this.#append(bytes, isLent) : bytes);
    return this.#finish();
  }

  /** The same with few bytes of an array, so many from an index on, which are copied. */
  putFewBytes(kind: number, facts: readonly number[], bytes: Uint8Array, from: number, count: number): boolean {
    assert(facts.length % 2 === 0, "bytes stand at an even word");
    const words = wordsFor(count);
    this.#begin(kind, facts, words);
    this.#reserve(words);
    if (words > 0) this.#stage[this.#to + words - 1] = 0;
    for (let i = 0, at = 4 * this.#to; i < count; i++) this.#bytes[at + i] = bytes[from + i]!;
    this.#to += words;
    return this.#finish();
  }

  #begin(kind: number, facts: readonly number[], more: number): void {
    assert(this.#from === this.#to, "a frame begins before the last one has left");
    const words = frameHeadWords + facts.length;
    assert(words + more <= frameWordsMax, "a frame is too long");
    this.#from = 0;
    this.#to = 0;
    this.#reserve(words);
    this.#stage[0] = words + more;
    this.#stage[1] = kind;
    for (let i = 0; i < facts.length; i++) this.#stage[frameHeadWords + i] = facts[i]!;
    this.#to = words;
    this.#isOdd = (words + more) % 2 === 1;
  }

  /** The words that are staged, and bytes from where they are. Returns those that found no room, and the last ones that are no whole word. */
  #append(bytes: Uint8Array, isLent: boolean): Uint8Array {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const end = this.#end;
    const staged = this.#to;
    if (end.appendWith !== undefined) {
      this.#from = end.appendWith(this.#stage, staged, words);
    } else if (this.go()) {
      const lends = isLent && end.lend !== undefined;
      this.#from += lends ? end.lend!(words, 0, words.length) : end.append(words, 0, words.length);
    }
    if (this.#from < staged) return bytes;
    const taken = this.#from - staged;
    this.#from = 0;
    this.#to = 0;
    return bytes.subarray(4 * taken);
  }

  #stageBytes(bytes: Uint8Array): void {
    const count = wordsFor(bytes.length);
    if (count === 0) return;
    this.#reserve(count);
    this.#stage[this.#to + count - 1] = 0;
    this.#bytes.set(bytes, 4 * this.#to);
    this.#to += count;
  }

  #finish(): boolean {
    if (this.#isOdd) {
      this.#reserve(1);
      this.#stage[this.#to++] = filler;
    }
    return this.go();
  }

  /** Room for so many words behind those that are staged. */
  #reserve(words: number): void {
    if (this.#to + words <= this.#stage.length) return;
    const stage = new Int32Array(2 * (this.#to + words));
    stage.set(this.#stage.subarray(0, this.#to));
    this.#stage = stage;
    this.#bytes = new Uint8Array(stage.buffer);
  }
}

const none = new Int32Array(0);

/** Finds the frames in a stream of words that comes in parts of any size. */
export class WordFrameReader {
  #words = new Int32Array(64);
  #bytes = new Uint8Array(this.#words.buffer);
  /** Words that are here: from one index up to another. */
  #from = 0;
  #to = 0;
  /** Some of the words were given away. */
  #isKept = false;
  /** Views of the words that were given out last, each with its beginning: messages of the same length come to the same place, and a view for each is much for a few words. */
  #frame = none;
  #frameFrom = 0;
  #room = none;
  #roomFrom = 0;
  readonly #blocks: WordBlocks | null;

  /** `blocks`: memory for large frames; null: they have their own. */
  constructor(blocks: WordBlocks | null = null) {
    this.#blocks = blocks;
  }

  /** Words that belong to no frame that was dropped. */
  get pending(): number {
    return this.#to - this.#from;
  }

  feed(words: Int32Array, at: number, count: number): void {
    this.#reserve(count, this.pending === 0 ? (words[at] ?? 0) : this.#words[this.#from]!);
    copyWords(words, at, this.#words, this.#to, count);
    this.#to += count;
  }

  /** Where the next words can be written, at most so many; `placed` says how many were. */
  place(max: number, into: Stretch): void {
    const few = Math.min(max, placeWordsMin);
    if (this.#to + few > this.#words.length)
      this.#reserve(Math.min(max, keptWordsMax / 2), this.pending === 0 ? 0 : this.#words[this.#from]!);
    into.memory = this.#bytes;
    into.at = 4 * this.#to;
    into.bytes = 4 * Math.min(max, this.#words.length - this.#to);
  }

  /** The same for whoever writes words. */
  placeOfWords(count: number): Int32Array {
    this.#reserve(count, 0);
    if (this.#room.length !== count || this.#roomFrom !== this.#to) {
      this.#room = this.#words.subarray(this.#to, this.#to + count);
      this.#roomFrom = this.#to;
    }
    return this.#room;
  }

  placed(count: number): void {
    this.#to += count;
  }

  /** The oldest frame, which is valid until the next call; null: it is not all here. */
  peek(): Int32Array | null {
    this.#pass();
    const length = this.pending === 0 ? 0 : this.#words[this.#from]!;
    if (length < frameHeadWords || length > this.pending) return null;
    if (this.#frame.length !== length || this.#frameFrom !== this.#from) {
      this.#frame = this.#words.subarray(this.#from, this.#from + length);
      this.#frameFrom = this.#from;
    }
    return this.#frame;
  }

  /** What is here of the oldest frame, of which not all is. */
  get part(): Int32Array {
    return this.#words.subarray(this.#from, this.#to);
  }

  /** Is what comes next no frame at all? */
  get isBroken(): boolean {
    this.#pass();
    if (this.pending === 0) return false;
    const length = this.#words[this.#from]!;
    return length < frameHeadWords || length > frameWordsMax;
  }

  /** The words of the oldest frame are not used for anything else, ever. */
  keep(): void {
    this.#isKept = true;
  }

  /** Done with the oldest frame. */
  drop(): void {
    this.#from += this.#words[this.#from]!;
    this.#pass();
    if (this.#from === this.#to) this.reset();
  }

  /** The rest of a frame will not come that is before so many words. */
  keepLast(count: number): void {
    this.#from = this.#to - count;
  }

  /** The rest of a frame will not come. */
  reset(): void {
    const to = this.#isKept ? this.#to : 0;
    // A part of the next word may be placed already.
    if (this.#to < this.#words.length) this.#words[to] = this.#words[this.#to]!;
    this.#from = to;
    this.#to = to;
  }

  /** Fillers. */
  #pass(): void {
    while (this.#from < this.#to && this.#words[this.#from] === filler) this.#from++;
  }

  /** Room for so many words, and for all of a frame that has so many: the frame is not moved again as it comes. */
  #reserve(count: number, frameWords: number): void {
    const kept = this.#to - this.#from;
    const needed = Math.max(kept + count, frameWords > roomyWordsMax ? 0 : frameWords);
    if (this.#from + needed <= this.#words.length) return;
    const isLarge = !this.#isKept && needed <= this.#words.length / 2;
    const length = this.#isKept ? Math.max(needed, Math.min(2 * needed, keptWordsMax)) : 2 * needed;
    const words = isLarge ? this.#words : this.#newWords(needed, length);
    // Never over words that were given out: `peek` is valid until the next call, and this is one. With the word behind them: a part of it may be placed already.
    words.set(this.#words.subarray(this.#from, this.#to + 1));
    if (words !== this.#words) {
      this.#bytes = new Uint8Array(words.buffer);
      // Whoever was given some of them holds them still.
      this.#blocks?.letGo(this.#words);
    }
    this.#isKept = false;
    this.#words = words;
    this.#frame = none;
    this.#room = none;
    this.#to = kept;
    this.#from = 0;
  }

  /** A block is for large frames alone: one of which little is kept stays whole. */
  #newWords(needed: number, length: number): Int32Array<ArrayBuffer> {
    const isForBlock = this.#blocks !== null && needed > largeWords && needed <= blockWords;
    return isForBlock ? this.#blocks.take() : new Int32Array(length + (length & 1));
  }
}

/** So many bytes are copied one by one: views of them take longer to make. */
export const fewBytes = 64;

/** Bytes that begin with a word of a frame, so many, to a place among others. */
export function copyFewBytes(frame: Int32Array, from: number, into: Uint8Array, at: number, bytes: number): void {
  assert(bytes <= 4 * (frame.length - from), "a frame that lacks bytes");
  for (let i = 0; i < bytes; i++) into[at + i] = frame[from + (i >> 2)]! >> (8 * (i & 3));
}

/** The bytes behind the words of a frame. */
export function bytesBehind(frame: Int32Array, facts: number, bytes: number): Uint8Array {
  const at = frame.byteOffset + 4 * (frameHeadWords + facts);
  assert(bytes <= 4 * (frame.length - frameHeadWords - facts), "a frame that lacks bytes");
  return new Uint8Array(frame.buffer, at, bytes);
}
