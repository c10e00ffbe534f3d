/**
 * The homes of a channel memory with the store that outlives its process. Every method that changes a home adds the record of that change;
 * `settle` writes all records since the last time with one call. Records that are read back make the same changes.
 *
 * Out of core: bytes of messages, and messages and events themselves, are in memory up to bounds, older ones only in the store. A life that asks
 * for those has them from there, a block at a time (home-reader.ts). A receiver that lives and keeps up is told what is in memory.
 */
import { assert } from "../../../base/assert.ts";
import type { WordChecksum } from "../../../base/word-checksum.ts";
import { readRecords, recordHeadWords, StoreFrames } from "../../../service-channel/service-store.ts";
import { WordBlocks } from "../../../service-channel/word-blocks.ts";
import { wordsFor } from "../frames.ts";
import { CachedPieces } from "./cached-pieces.ts";
import { Home, type Mark } from "./home.ts";
import {
  eventOf,
  type Facts,
  type HomeEntry,
  HomeMessage,
  type MessagePiece,
  type RecordPlace,
  takenOf,
} from "./home-items.ts";
import { HomeReader } from "./home-reader.ts";
import { entryIn, eventIn, HomeRecord, moreFacts, placeOfRecord, postFacts, recordFacts } from "./home-records.ts";
import type { SegmentStore, WrittenSegment } from "./segment-store.ts";
import type { Weight } from "./stored-order.ts";

interface StoredHomesOptions {
  readonly store: SegmentStore;
  /** Bytes of messages that are in memory at most, beside those that have just come. */
  readonly bytesMax: number;
  /** The same of messages and events, whatever their bytes: one that is large counts for several. */
  readonly itemsMax: number;
  /** A segment that has more words, beside those that it began with, is followed by another. */
  readonly segmentWordsMax: number;
  /** All that was acknowledged was forced to the disk: damage at the end of the last segment is what a power cut leaves. False unless given. */
  readonly mayEndDamaged?: boolean;
  /** The checksum of words (core/base/word-checksum.ts), where there is a faster way. */
  readonly checksum?: WordChecksum;
}

const format = 1;
const notOurs = "is not one that a channel memory writes";
const none: Int32Array = new Int32Array(0);
/** So many words of a message are written from where they are; fewer are copied, to be written with others. */
const manyWords = 1 << 10;

/** What a segment has of one home: entries and events before these numbers, and none behind. */
interface Last {
  entries: number;
  events: number;
}

export class StoredHomes {
  readonly #options: StoredHomesOptions;
  readonly #homes = new Map<number, Home>();
  /** By client: the newest life that was heard. */
  readonly #lives = new Map<number, number>();
  readonly #frames: StoreFrames;
  /** The present segment, and how many words of it are written. */
  #segment = 0;
  #written = 0;
  /** How many words it may have. A segment has no less news than it repeats. */
  #wordsMax = 0;
  /** By segment and receiver: what it has that is needed. */
  readonly #segments = new Map<number, Map<number, Last>>();
  readonly #weight: Weight = { sum: 0 };
  /** Memory in which pieces of messages are received, and stay. */
  readonly blocks = new WordBlocks();
  readonly #cached = new CachedPieces(this.blocks);
  /** Messages whose last bytes have come and may not be written yet. */
  readonly #whole: { readonly home: Home; readonly message: HomeMessage }[] = [];
  /** For what is not in memory. */
  readonly reader: HomeReader;

  private constructor(options: StoredHomesOptions) {
    this.#options = options;
    this.#frames = new StoreFrames(options.checksum);
    this.reader = new HomeReader(options.store);
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
    homes.#beginSegment();
    for (const home of homes.#homes.values()) homes.#unneed(home);
    homes.#dropUnneeded();
    return homes;
  }

  lifeOf(client: number): number {
    return this.#lives.get(client) ?? -1;
  }

  homeOf(receiver: number): Home {
    let home = this.#homes.get(receiver);
    if (home === undefined) {
      home = new Home(receiver, this.#weight, ({ pieces }) => {
        for (const piece of pieces) this.#cached.drop(piece);
      });
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
    return this.#cached.bytes;
  }

  /** Messages and events that are in memory, as `itemsMax` counts them. */
  get itemsInMemory(): number {
    return this.#weight.sum;
  }

  // Changes

  beginLife(client: number, incarnation: number): void {
    this.#lives.set(client, incarnation);
    this.#record(HomeRecord.LIFE, client, incarnation);
  }

  /** A message that is not here, with its first bytes: nobody changes the words that hold them any more. */
  post(receiver: number, facts: Facts, bytes: number, words: Int32Array): HomeMessage {
    const home = this.homeOf(receiver);
    const message = new HomeMessage(home.entries.end, facts, this.#nextPlace(postFacts + words.length));
    const { source, sequence, context, tag, isSynchronous } = facts;
    this.#frames.begin(HomeRecord.POST, receiver, message.number);
    this.#frames.put4(source, sequence, context, tag);
    this.#frames.put3(facts.bytes, isSynchronous ? 1 : 0, bytes);
    if (bytes > 0) message.add(this.#pieceOf(message, bytes, words));
    this.#frames.finish();
    home.addMessage(message);
    this.#noteEntry(receiver, message.number);
    return message;
  }

  /** Bytes that follow those that are here. As for `post`. */
  more(receiver: number, message: HomeMessage, bytes: number, words: Int32Array): void {
    const { source, sequence } = message.facts;
    this.#frames.begin(HomeRecord.MORE, receiver, source);
    this.#frames.put3(sequence, message.arrived, bytes);
    const piece = this.#pieceOf(message, bytes, words);
    this.#frames.finish();
    this.#addPiece(this.homeOf(receiver), message, piece);
  }

  #addPiece(home: Home, message: HomeMessage, piece: MessagePiece): void {
    home.addPiece(message, piece);
    if (message.isWhole) this.#whole.push({ home, message });
    this.#noteEntry(home.receiver, message.number);
  }

  /** Writes the next bytes of a message, which stay in memory for now. */
  #pieceOf(message: HomeMessage, bytes: number, words: Int32Array): MessagePiece {
    const at = this.#written + this.#frames.count;
    if (words.length < manyWords) this.#frames.put(words);
    else this.#frames.lend(words);
    const piece = { offset: message.arrived, bytes, segment: this.#segment, at, words };
    this.#cached.add(piece);
    return piece;
  }

  taken(receiver: number, source: number, sequence: number): void {
    const home = this.homeOf(receiver);
    if (this.reader.isTaken(home, source, sequence)) return;
    const taken = takenOf(home.entries.end, source, sequence, this.#nextPlace(2));
    this.#record(HomeRecord.TAKEN, receiver, taken.number, Int32Array.of(source, sequence));
    home.addTaken(taken);
    this.#noteEntry(receiver, taken.number);
  }

  event(receiver: number, words: Int32Array): void {
    const home = this.homeOf(receiver);
    const event = eventOf(home.events.end, words.slice(), this.#nextPlace(words.length));
    this.#record(HomeRecord.EVENT, receiver, event.number, words);
    home.addEvent(event);
    this.#noteEvent(receiver, event.number);
  }

  /** Where the next record will stand, if it has so many words beside the three of any. */
  #nextPlace(words: number): RecordPlace {
    const at = this.#written + this.#frames.count;
    return { segment: this.#segment, at, end: at + recordHeadWords + recordFacts + words };
  }

  mark(receiver: number, checkpoint: number, mark: Mark): void {
    this.homeOf(receiver).marks.set(checkpoint, mark);
    this.#record(HomeRecord.MARK, receiver, checkpoint, Int32Array.of(mark.entries, mark.events, ...mark.incomplete));
  }

  free(receiver: number, checkpoint: number): void {
    const home = this.homeOf(receiver);
    this.#record(HomeRecord.FREE, receiver, checkpoint);
    if (!home.free(checkpoint, this.reader)) return;
    // What says so must be written before anything is dropped that it makes useless.
    this.settle();
    this.#unneed(home);
    this.#dropUnneeded();
  }

  // Bytes

  /** The words of a piece; those of one that is not in memory are read into `stage`, which is large enough for any, and there then. */
  wordsOf(piece: MessagePiece, stage: Int32Array | null): Int32Array {
    if (piece.words !== null) return piece.words;
    assert(stage !== null, "a piece that is not in memory has no place");
    const words = stage.subarray(0, wordsFor(piece.bytes));
    this.#options.store.read(piece.segment, piece.at, words);
    return words;
  }

  // Segments that are needed

  #noteEntry(receiver: number, number: number): void {
    const last = this.#lastOf(receiver);
    last.entries = Math.max(last.entries, number + 1);
  }

  #noteEvent(receiver: number, number: number): void {
    this.#lastOf(receiver).events = number + 1;
  }

  #lastOf(receiver: number): Last {
    const lasts = this.#segments.get(this.#segment)!;
    let last = lasts.get(receiver);
    if (last === undefined) {
      last = { entries: 0, events: 0 };
      lasts.set(receiver, last);
    }
    return last;
  }

  /** That home has freed something. */
  #unneed({ receiver, entries, events, early }: Home): void {
    const kept = new Set(early.flatMap(({ segment, pieces }) => [segment, ...pieces.map((piece) => piece.segment)]));
    for (const [segment, lasts] of this.#segments) {
      const last = lasts.get(receiver);
      if (last === undefined || last.entries > entries.begin || last.events > events.begin) continue;
      if (!kept.has(segment)) lasts.delete(receiver);
    }
  }

  #dropUnneeded(): void {
    for (const [segment, { size }] of this.#segments) {
      if (size > 0 || segment === this.#segment) continue;
      this.#segments.delete(segment);
      this.#options.store.drop(segment);
    }
  }

  // The store

  /** All changes so far outlive this process when this returns. */
  settle(): void {
    this.#write();
    if (this.#written > this.#wordsMax) {
      this.#beginSegment();
      this.#dropUnneeded();
    }
    this.#passOldest();
    this.#cached.trim(this.#options.bytesMax);
  }

  /** Not the oldest of all, but some of those of the home that has most. All are in the store. */
  #passOldest(): void {
    if (this.#whole.length > 0) for (const { home, message } of this.#whole.splice(0)) home.follow(message);
    while (this.#weight.sum > this.#options.itemsMax) {
      let most: Home | undefined;
      for (const home of this.#homes.values()) if (most === undefined || home.inMemory > most.inMemory) most = home;
      assert(most !== undefined && most.inMemory > 0, "what has a weight is in memory");
      most.passSome();
    }
  }

  #write(): void {
    if (this.#frames.count === 0) return;
    const { count } = this.#frames;
    const { store } = this.#options;
    if (store.appendFirst === undefined || this.#frames.hasLent) store.append(this.#frames.takeParts());
    else store.appendFirst(this.#frames.words, this.#frames.takeCount());
    this.#written += count;
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
    this.#segments.set(this.#segment, new Map());
    this.#options.store.begin(this.#segment);
    this.#record(HomeRecord.BEGIN, format, 0);
    for (const [client, incarnation] of this.#lives) this.#record(HomeRecord.LIFE, client, incarnation);
    for (const [receiver, home] of this.#homes) this.#recordHome(receiver, home);
    this.#write();
    this.#wordsMax = this.#written + Math.max(this.#written, this.#options.segmentWordsMax);
  }

  #recordHome(receiver: number, home: Home): void {
    const { received, marks } = home;
    const pairs = home.early.flatMap(({ facts }) => [facts.source, facts.sequence]);
    this.#record(HomeRecord.HOME, receiver, home.entries.begin, Int32Array.of(home.events.begin, ...pairs));
    for (const [source, { firstMissing, later }] of received) {
      this.#record(HomeRecord.RECEIVED, receiver, source, Int32Array.of(firstMissing, ...later));
    }
    for (const [checkpoint, { entries, events, incomplete }] of marks) {
      this.#record(HomeRecord.MARK, receiver, checkpoint, Int32Array.of(entries, events, ...incomplete));
    }
  }

  #read(segment: number, pieces: Iterable<Uint8Array>, mayEndDamaged: boolean): string {
    this.#segment = segment;
    this.#segments.set(segment, new Map());
    let at = 0;
    const take = (record: Int32Array): string => {
      const isFirst = at === 0;
      at += recordHeadWords;
      const place = placeOfRecord(segment, record, at);
      at += record.length;
      if (record.length < recordFacts || isFirst !== (record[0] === HomeRecord.BEGIN)) return notOurs;
      const problem = this.#take(record, place);
      this.#passOldest();
      return problem;
    };
    // A process after this one finds other segments behind it.
    const cut = (byte: number): void => this.#options.store.cut(segment, byte);
    return readRecords(pieces, take, mayEndDamaged ? cut : undefined);
  }

  /** Makes the change that a record tells, which stands there. Returns the mistake in it; empty: there is none. */
  #take(record: Int32Array, place: RecordPlace): string {
    const [kind, a, b] = record as unknown as readonly [number, number, number];
    const words = record.subarray(recordFacts);
    switch (kind) {
      case HomeRecord.BEGIN:
        return a === format ? "" : notOurs;
      case HomeRecord.LIFE:
        this.#lives.set(a, b);
        return "";
      case HomeRecord.POST:
      case HomeRecord.TAKEN:
        return this.#takeEntry(this.homeOf(a), entryIn(record, place));
      case HomeRecord.MORE:
        return this.#takeMore(a, b, words, place);
      case HomeRecord.EVENT: {
        const home = this.homeOf(a);
        if (b < home.events.end) return notOurs;
        home.addEvent(eventIn(record.slice(), place));
        this.#noteEvent(a, b);
        return "";
      }
      case HomeRecord.MARK:
        if (words.length < 2) return notOurs;
        this.homeOf(a).marks.set(b, { entries: words[0]!, events: words[1]!, incomplete: [...words.subarray(2)] });
        return "";
      case HomeRecord.FREE:
        this.homeOf(a).free(b, this.reader);
        return "";
      case HomeRecord.HOME: {
        if (words.length < 1) return notOurs;
        const home = this.homeOf(a);
        home.marks.clear();
        const begins = { entries: b, events: words[0]!, incomplete: [...words.subarray(1)] };
        home.freeBefore(begins, this.reader);
        return "";
      }
      case HomeRecord.RECEIVED: {
        const numbers = this.homeOf(a).receivedOf(b);
        numbers.addBefore(words[0]!);
        for (const number of words.subarray(1)) numbers.add(number);
        return "";
      }
      default:
        return notOurs;
    }
  }

  #takeEntry(home: Home, entry: HomeEntry | null): string {
    if (entry === null || entry.number < home.entries.end) return notOurs;
    if (entry.kind === "message") home.addMessage(entry);
    else home.addTaken(entry);
    this.#noteEntry(home.receiver, entry.number);
    return "";
  }

  #takeMore(receiver: number, source: number, words: Int32Array, { segment, at }: RecordPlace): string {
    const [sequence, offset, bytes] = words as unknown as readonly number[];
    if (bytes === undefined || words.length !== moreFacts + wordsFor(bytes)) return notOurs;
    const home = this.homeOf(receiver);
    const message = home.messages.get(source, sequence!);
    // Its envelope was in a segment that is not needed any more.
    if (message === undefined) return "";
    if (offset! < message.arrived) return notOurs;
    if (offset! > message.arrived) {
      home.lack(message);
      return "";
    }
    const first = at + recordHeadWords + recordFacts + moreFacts;
    this.#addPiece(home, message, { offset: offset!, bytes, segment, at: first, words: null });
    return "";
  }
}
