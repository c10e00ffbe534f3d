/**
 * The homes of a channel memory with the store that outlives its process. Every method that changes a home adds the record of that change;
 * `settle` writes all records since the last time with one call. Records that are read back make the same changes.
 *
 * Bytes of messages are in memory up to a bound, the oldest of them only in the store above it. Envelopes and events are in memory
 * as long as they are needed.
 */
import { readRecords, recordHeadWords, StoreFrames } from "../../../service-channel/service-store.ts";
import { keyOfMessage, wordsFor } from "../frames.ts";
import { type Facts, Home, type HomeEvent, type HomeMessage, type Mark, type MessagePiece } from "./home.ts";
import type { SegmentStore, WrittenSegment } from "./segment-store.ts";

interface StoredHomesOptions {
  readonly store: SegmentStore;
  /** Bytes of messages that are in memory at most, beside those that have just come. */
  readonly bytesMax: number;
  /** A segment that has more words, beside those that it began with, is followed by another. */
  readonly segmentWordsMax: number;
  /** All that was acknowledged was forced to the disk: damage at the end of the last segment is what a power cut leaves. False unless given. */
  readonly mayEndDamaged?: boolean;
}

/** Kinds of records, each with the words behind. */
const Kind = {
  /** format */
  BEGIN: 0,
  /** client · incarnation: the newest life that was heard */
  LIFE: 1,
  /** receiver · entry · source · number · context · tag · bytes · is synchronous · how many of its bytes are here; then these */
  POST: 2,
  /** receiver · source · number · offset · how many bytes; then these */
  MORE: 3,
  /** receiver · entry · rank that took · number */
  TAKEN: 4,
  /** receiver · number · words */
  EVENT: 5,
  /** receiver · checkpoint · entries · events · senders and numbers of messages without all bytes */
  MARK: 6,
  /** receiver · checkpoint */
  FREE: 7,
  /** receiver · first entry · first event · senders and numbers of messages before it that are needed. There are no marks but those that follow. */
  HOME: 8,
  /** receiver · source · first missing · others */
  RECEIVED: 9,
} as const;

const format = 1;
const postFacts = 6;
const moreFacts = 2;
const notOurs = "is not one that a channel memory writes";
const none: Int32Array = new Int32Array(0);

export class StoredHomes {
  readonly #options: StoredHomesOptions;
  readonly #homes = new Map<number, Home>();
  /** By client: the newest life that was heard. */
  readonly #lives = new Map<number, number>();
  readonly #frames = new StoreFrames();
  /** The present segment, and how many words of it are written. */
  #segment = 0;
  #written = 0;
  /** How many words it may have. A segment has no less news than it repeats. */
  #wordsMax = 0;
  /** How many things each segment has that are needed. */
  readonly #needed = new Map<number, number>();
  /** Pieces whose bytes are in memory, oldest first. */
  readonly #cached = new Set<MessagePiece>();
  #cachedBytes = 0;

  private constructor(options: StoredHomesOptions) {
    this.#options = options;
  }

  static empty(options: StoredHomesOptions): StoredHomes {
    const homes = new StoredHomes(options);
    homes.#beginSegment();
    return homes;
  }

  /** Those that a process before this one has written, oldest segment first; or the mistake in them, for people. */
  static restored(segments: Iterable<WrittenSegment>, options: StoredHomesOptions): StoredHomes | string {
    const homes = new StoredHomes(options);
    const all = [...segments];
    for (const { number, pieces } of all) {
      const problem = homes.#read(number, pieces, options.mayEndDamaged === true && number === all.at(-1)?.number);
      if (problem !== "") return `segment ${number}: ${problem}`;
    }
    for (const [receiver, home] of homes.#homes) if (!home.isWhole) return `messages to rank ${receiver} are missing`;
    const before = [...homes.#needed.keys()];
    homes.#beginSegment();
    for (const segment of before) homes.#dropIfUnneeded(segment);
    return homes;
  }

  lifeOf(client: number): number {
    return this.#lives.get(client) ?? -1;
  }

  homeOf(receiver: number): Home {
    let home = this.#homes.get(receiver);
    if (home === undefined) {
      home = new Home();
      this.#homes.set(receiver, home);
    }
    return home;
  }

  /** Receivers that have a home here, because something was said to them or by them. */
  get receivers(): IterableIterator<number> {
    return this.#homes.keys();
  }

  /** Bytes of messages that are in memory. */
  get bytesInMemory(): number {
    return this.#cachedBytes;
  }

  /** Segments that are there. */
  get segments(): number {
    return this.#needed.size;
  }

  // Changes

  beginLife(client: number, incarnation: number): void {
    this.#lives.set(client, incarnation);
    this.#record(Kind.LIFE, client, incarnation);
  }

  /** A message that is not here, with its first bytes: the words that hold them are copied. */
  post(receiver: number, facts: Facts, bytes: number, words: Int32Array): HomeMessage {
    const home = this.homeOf(receiver);
    const message = home.addMessage(facts, this.#need(this.#segment));
    const { source, sequence, context, tag, isSynchronous } = facts;
    this.#frames.begin(Kind.POST, receiver, message.number);
    this.#frames.put(Int32Array.of(source, sequence, context, tag, facts.bytes, isSynchronous ? 1 : 0, bytes));
    this.#putPiece(home, message, bytes, words);
    return message;
  }

  /** Bytes that follow those that are here. */
  more(receiver: number, message: HomeMessage, bytes: number, words: Int32Array): void {
    const { source, sequence } = message.facts;
    this.#frames.begin(Kind.MORE, receiver, source);
    this.#frames.put(Int32Array.of(sequence, message.arrived, bytes));
    this.#putPiece(this.homeOf(receiver), message, bytes, words);
  }

  #putPiece(home: Home, message: HomeMessage, bytes: number, words: Int32Array): void {
    const at = this.#written + this.#frames.count;
    if (bytes > 0) {
      this.#frames.put(words);
      const segment = this.#need(this.#segment);
      this.#keep(home, message, { offset: message.arrived, bytes, segment, at, words: words.slice() });
    }
    this.#frames.finish();
  }

  #keep(home: Home, message: HomeMessage, piece: MessagePiece): void {
    home.addPiece(message, piece);
    if (piece.words === null) return;
    this.#cached.add(piece);
    this.#cachedBytes += piece.bytes;
  }

  taken(receiver: number, source: number, sequence: number): void {
    if (this.homeOf(receiver).isTaken(source, sequence)) return;
    const segment = this.#need(this.#segment);
    const { number } = this.homeOf(receiver).addTaken({ source, sequence, segment });
    this.#record(Kind.TAKEN, receiver, number, Int32Array.of(source, sequence));
  }

  event(receiver: number, words: Int32Array): void {
    const home = this.homeOf(receiver);
    this.#record(Kind.EVENT, receiver, home.eventsEnd, words);
    home.addEvent({ words: words.slice(), segment: this.#need(this.#segment) });
  }

  mark(receiver: number, checkpoint: number, mark: Mark): void {
    this.homeOf(receiver).marks.set(checkpoint, mark);
    this.#record(Kind.MARK, receiver, checkpoint, Int32Array.of(mark.entries, mark.events, ...mark.incomplete));
  }

  free(receiver: number, checkpoint: number): void {
    this.#record(Kind.FREE, receiver, checkpoint);
    this.#forget(this.homeOf(receiver).free(checkpoint));
  }

  // Bytes

  /** The words of a piece; those of one that is not in memory are read into `stage`, which is large enough for any. */
  wordsOf(piece: MessagePiece, stage: Int32Array): Int32Array {
    if (piece.words !== null) return piece.words;
    const words = stage.subarray(0, wordsFor(piece.bytes));
    this.#options.store.read(piece.segment, piece.at, words);
    return words;
  }

  #forget(gone: readonly (HomeMessage | { readonly kind: "taken"; readonly segment: number } | HomeEvent)[]): void {
    const segments = new Set<number>();
    for (const it of gone) {
      segments.add(it.segment);
      this.#release(it.segment);
      if (!("pieces" in it)) continue;
      for (const piece of it.pieces) {
        segments.add(piece.segment);
        this.#release(piece.segment);
        this.#dropWords(piece);
      }
    }
    // What says so must be written before anything is dropped that it makes useless.
    if (segments.size > 0) this.settle();
    for (const segment of segments) this.#dropIfUnneeded(segment);
  }

  #dropWords(piece: MessagePiece): void {
    if (!this.#cached.delete(piece)) return;
    piece.words = null;
    this.#cachedBytes -= piece.bytes;
  }

  #need(segment: number): number {
    this.#needed.set(segment, (this.#needed.get(segment) ?? 0) + 1);
    return segment;
  }

  #release(segment: number): void {
    this.#needed.set(segment, this.#needed.get(segment)! - 1);
  }

  #dropIfUnneeded(segment: number): void {
    if (segment === this.#segment || this.#needed.get(segment) !== 0) return;
    this.#needed.delete(segment);
    this.#options.store.drop(segment);
  }

  // The store

  /** All changes so far outlive this process when this returns. */
  settle(): void {
    this.#write();
    if (this.#written > this.#wordsMax) {
      const before = this.#segment;
      this.#beginSegment();
      this.#dropIfUnneeded(before);
    }
    for (const piece of this.#cached) {
      if (this.#cachedBytes <= this.#options.bytesMax) break;
      this.#dropWords(piece);
    }
  }

  #write(): void {
    if (this.#frames.count === 0) return;
    const words = this.#frames.take();
    this.#options.store.append(words);
    this.#written += words.length;
  }

  #record(kind: number, a: number, b: number, words = none): void {
    this.#frames.begin(kind, a, b);
    this.#frames.put(words);
    this.#frames.finish();
  }

  /** Another segment, which begins with all that others than messages and events tell. */
  #beginSegment(): void {
    this.#segment++;
    this.#written = 0;
    this.#needed.set(this.#segment, 0);
    this.#options.store.begin(this.#segment);
    this.#record(Kind.BEGIN, format, 0);
    for (const [client, incarnation] of this.#lives) this.#record(Kind.LIFE, client, incarnation);
    for (const [receiver, home] of this.#homes) this.#recordHome(receiver, home);
    this.#write();
    this.#wordsMax = this.#written + Math.max(this.#written, this.#options.segmentWordsMax);
  }

  #recordHome(receiver: number, home: Home): void {
    const { entriesBegin, eventsBegin, messages, received, marks } = home;
    const early = [...messages.values()].filter(({ number }) => number < entriesBegin);
    const pairs = early.flatMap(({ facts }) => [facts.source, facts.sequence]);
    this.#record(Kind.HOME, receiver, entriesBegin, Int32Array.of(eventsBegin, ...pairs));
    for (const [source, { firstMissing, later }] of received) {
      this.#record(Kind.RECEIVED, receiver, source, Int32Array.of(firstMissing, ...later));
    }
    for (const [checkpoint, { entries, events, incomplete }] of marks) {
      this.#record(Kind.MARK, receiver, checkpoint, Int32Array.of(entries, events, ...incomplete));
    }
  }

  #read(segment: number, pieces: Iterable<Uint8Array>, mayEndDamaged: boolean): string {
    this.#segment = segment;
    this.#needed.set(segment, 0);
    let at = 0;
    const take = (record: Int32Array): string => {
      const isFirst = at === 0;
      at += recordHeadWords;
      const problem = isFirst === (record[0] === Kind.BEGIN) ? this.#take(record, at) : notOurs;
      at += record.length;
      return problem;
    };
    // A process after this one finds other segments behind it.
    const cut = (byte: number): void => this.#options.store.cut(segment, byte);
    return readRecords(pieces, take, mayEndDamaged ? cut : undefined);
  }

  /** Makes the change that a record tells, which stands at that index of its segment. Returns the mistake in it; empty: there is none. */
  #take(record: Int32Array, at: number): string {
    if (record.length < 3) return notOurs;
    const [kind, a, b] = record as unknown as readonly [number, number, number];
    const words = record.subarray(3);
    switch (kind) {
      case Kind.BEGIN:
        return a === format ? "" : notOurs;
      case Kind.LIFE:
        this.#lives.set(a, b);
        return "";
      case Kind.POST:
        return this.#takePost(a, b, words, at + 3);
      case Kind.MORE:
        return this.#takeMore(a, b, words, at + 3);
      case Kind.TAKEN: {
        if (words.length !== 2) return notOurs;
        const home = this.homeOf(a);
        if (b >= home.entriesBegin)
          home.addTaken({ source: words[0]!, sequence: words[1]!, segment: this.#need(this.#segment) }, b);
        return "";
      }
      case Kind.EVENT: {
        const home = this.homeOf(a);
        if (b >= home.eventsBegin) home.addEvent({ words: words.slice(), segment: this.#need(this.#segment) }, b);
        return "";
      }
      case Kind.MARK:
        if (words.length < 2) return notOurs;
        this.homeOf(a).marks.set(b, { entries: words[0]!, events: words[1]!, incomplete: [...words.subarray(2)] });
        return "";
      case Kind.FREE:
        this.#unneed(this.homeOf(a).free(b));
        return "";
      case Kind.HOME: {
        if (words.length < 1) return notOurs;
        const home = this.homeOf(a);
        home.marks.clear();
        this.#unneed(home.freeBefore(b, words[0]!, [...words.subarray(1)]));
        return "";
      }
      case Kind.RECEIVED: {
        const numbers = this.homeOf(a).receivedOf(b);
        numbers.addBefore(words[0]!);
        for (const number of words.subarray(1)) numbers.add(number);
        return "";
      }
      default:
        return notOurs;
    }
  }

  #takePost(receiver: number, number: number, words: Int32Array, at: number): string {
    const facts = postFacts + 1;
    const count = words[postFacts];
    if (count === undefined || words.length !== facts + wordsFor(count)) return notOurs;
    const home = this.homeOf(receiver);
    if (number < home.entriesBegin) return notOurs;
    const [source, sequence, context, tag, bytes, isSynchronous] = words as unknown as readonly number[];
    const message = home.addMessage(
      {
        source: source!,
        sequence: sequence!,
        context: context!,
        tag: tag!,
        bytes: bytes!,
        isSynchronous: isSynchronous === 1,
      },
      this.#need(this.#segment),
      number,
    );
    this.#takePiece(home, message, count, at + facts);
    return "";
  }

  #takeMore(receiver: number, source: number, words: Int32Array, at: number): string {
    const facts = moreFacts + 1;
    const [sequence, offset, count] = words as unknown as readonly number[];
    if (count === undefined || words.length !== facts + wordsFor(count)) return notOurs;
    const home = this.homeOf(receiver);
    const message = home.messages.get(keyOfMessage(source, sequence!));
    // Its envelope was in a segment that is not needed any more.
    if (message === undefined) return "";
    if (offset !== message.arrived) return notOurs;
    this.#takePiece(home, message, count, at + facts);
    return "";
  }

  #takePiece(home: Home, message: HomeMessage, bytes: number, at: number): void {
    if (bytes === 0) return;
    const segment = this.#need(this.#segment);
    this.#keep(home, message, { offset: message.arrived, bytes, segment, at, words: null });
  }

  #unneed(gone: ReturnType<Home["free"]>): void {
    for (const it of gone) {
      this.#release(it.segment);
      if ("pieces" in it) for (const piece of it.pieces) this.#release(piece.segment);
    }
  }
}
