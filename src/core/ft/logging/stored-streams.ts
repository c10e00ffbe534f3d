/**
 * The streams of all sets as the event logger has them: in memory, and as records in a store, from which another event logger takes them
 * over (ADR 19). Every method that changes a stream adds the record of that change; `settle` writes all records since the last time
 * with one call. Records that are read back make the same changes in the same order, so the streams are the same.
 *
 * Records are words, the first of which is their kind (below). The first record of a store says which format it has.
 */
import { assert } from "../../base/assert.ts";
import { wordsBetween } from "../../service-channel/channel.ts";
import { readRecords, type ServiceStore, StoreFrames } from "../../service-channel/service-store.ts";
import { WordLog } from "../../service-channel/word-log.ts";

export interface SetStream {
  /** The life that may append. */
  incarnation: number;
  words: WordLog;
  /** The position up to which an event logger before this one has acknowledged. */
  owed: number;
  /** Has this process heard from that life? */
  hasSpoken: boolean;
}

interface StoredStreamsOptions {
  readonly store?: ServiceStore | undefined;
  /** Bytes that are of no use in the store, beside half of it, until it is written anew. */
  readonly slackBytes?: number | undefined;
  /** See `readRecords`. */
  readonly mayEndDamaged?: boolean;
}

/** Kinds of records, each with the words behind. */
const Kind = {
  /** format · are there sets that may have been acknowledged something of which nothing is here? */
  BEGIN: 0,
  /** set · incarnation · begin · owed: the stream of the set begins, without words */
  OPEN: 1,
  /** set · position · words */
  WORDS: 2,
  /** set · owed */
  OWES: 3,
  /** set · incarnation · end: that life goes on at `end`, and nothing is owed */
  FENCE: 4,
  /** set · incarnation: that life is the present one; the stream is as it was */
  LIFE: 5,
  /** set · position */
  TRIM: 6,
} as const;

const format = 1;
const slackBytesDefault = 1 << 20;
/** Of one record, when all is written anew. */
const recordWordsMax = 1 << 14;
const none: Int32Array = new Int32Array(0);

export class StoredStreams {
  readonly #sets = new Map<number, SetStream>();
  readonly #slackBytes: number;
  #lacksSets: boolean;
  /** Null: nothing is written. */
  #store: ServiceStore | null = null;
  readonly #frames = new StoreFrames();
  #storedBytes = 0;

  /** New ones. `lacksSets`: they were with an event logger that is lost, and only nodes know their contents. */
  constructor(lacksSets = false, { store, slackBytes = slackBytesDefault }: StoredStreamsOptions = {}) {
    this.#lacksSets = lacksSets;
    this.#slackBytes = slackBytes;
    if (store !== undefined) this.#writeTo(store);
  }

  /** Those that an event logger has written to a store, in pieces of any size; or the mistake in them, for people. `options` is for the new ones. */
  static restored(pieces: Iterable<Uint8Array>, options: StoredStreamsOptions = {}): StoredStreams | string {
    const { store, mayEndDamaged = false, ...others } = options;
    const streams = new StoredStreams(false, others);
    let count = 0;
    const take = (record: Int32Array): string => {
      if ((count++ === 0) !== (record[0] === Kind.BEGIN)) return notOurs;
      return streams.#take(record);
    };
    const problem = readRecords(pieces, take, mayEndDamaged ? () => {} : undefined);
    if (problem !== "") return problem;
    if (count === 0) return "it is empty";
    if (store !== undefined) streams.#writeTo(store);
    return streams;
  }

  /** May there be sets that were acknowledged something, and of which nothing is here? */
  get lacksSets(): boolean {
    return this.#lacksSets;
  }

  get(set: number): SetStream | undefined {
    return this.#sets.get(set);
  }

  /** Bytes of all streams. */
  get bytes(): number {
    let count = 0;
    for (const { words } of this.#sets.values()) count += words.count;
    return 4 * count;
  }

  // Changes

  /** The stream of a set begins, or begins anew, at a position. */
  open(set: number, { incarnation, begin, owed }: { incarnation: number; begin: number; owed: number }): SetStream {
    const stream = { incarnation, words: new WordLog(begin), owed, hasSpoken: false };
    this.#sets.set(set, stream);
    if (this.#store !== null) this.#record(Kind.OPEN, set, incarnation, Int32Array.of(begin, owed));
    return stream;
  }

  append(set: number, words: Int32Array): void {
    const stream = this.#of(set);
    if (this.#store !== null) this.#record(Kind.WORDS, set, stream.words.end, words);
    stream.words.append(words);
  }

  owe(set: number, position: number): void {
    this.#of(set).owed = position;
    if (this.#store !== null) this.#record(Kind.OWES, set, position);
  }

  /** Another life of the set goes on at a position: words behind it are dropped. Null: the stream stays as it is. */
  fence(set: number, incarnation: number, end: number | null): void {
    const stream = this.#of(set);
    stream.incarnation = incarnation;
    stream.hasSpoken = false;
    if (end === null) {
      if (this.#store !== null) this.#record(Kind.LIFE, set, incarnation);
      return;
    }
    stream.words.dropLast(wordsBetween(end, stream.words.end));
    // Words that were cut off had been acknowledged, perhaps; nothing depended on them.
    stream.owed = end;
    if (this.#store !== null) this.#record(Kind.FENCE, set, incarnation, Int32Array.of(end));
  }

  /** Words before that position are not needed any more. */
  trim(set: number, below: number): void {
    const stream = this.#sets.get(set);
    if (stream === undefined || wordsBetween(stream.words.begin, below) <= 0) return;
    stream.words.trim(below);
    if (this.#store === null) return;
    this.#record(Kind.TRIM, set, below);
    if (this.#storedBytes > 2 * this.bytes + this.#slackBytes) this.#writeAnew(this.#store);
  }

  // The store

  /** All changes so far outlive this process when this returns. */
  settle(): void {
    if (this.#frames.count === 0) return;
    const words = this.#frames.take();
    this.#storedBytes += 4 * words.length;
    this.#store?.append(words);
  }

  #record(kind: number, a: number, b: number, words = none): void {
    this.#frames.begin(kind, a, b);
    this.#frames.put(words);
    this.#frames.finish();
  }

  #writeTo(store: ServiceStore): void {
    this.#store = store;
    this.#writeAnew(store);
  }

  #writeAnew(store: ServiceStore): void {
    this.#frames.take();
    this.#storedBytes = 0;
    store.replace(this.#parts());
  }

  /** All that there is, as records, in parts of a bounded size. */
  *#parts(): Iterable<Int32Array> {
    this.#record(Kind.BEGIN, format, this.#lacksSets ? 1 : 0);
    for (const [set, { incarnation, words, owed }] of this.#sets) {
      this.#record(Kind.OPEN, set, incarnation, Int32Array.of(words.begin, owed));
      for (let at = words.begin; wordsBetween(at, words.end) > 0; at = (at + recordWordsMax) | 0) {
        const part = new Int32Array(Math.min(recordWordsMax, wordsBetween(at, words.end)));
        words.copy(at, part, 0, part.length);
        this.#record(Kind.WORDS, set, at, part);
        yield this.#taken();
      }
    }
    yield this.#taken();
  }

  #taken(): Int32Array {
    const words = this.#frames.take();
    this.#storedBytes += 4 * words.length;
    return words;
  }

  /** Makes the change that a record tells. Returns the mistake in the record; empty: there is none. */
  #take(record: Int32Array): string {
    const [kind, set = 0, value = 0] = record;
    const stream = this.#sets.get(set);
    const isOf = (words: number): boolean => record.length === words;
    switch (kind) {
      case Kind.BEGIN:
        if (!isOf(3) || set !== format) return notOurs;
        this.#lacksSets = value !== 0;
        return "";
      case Kind.OPEN:
        if (!isOf(5)) return notOurs;
        this.open(set, { incarnation: value, begin: record[3]!, owed: record[4]! });
        return "";
      case Kind.WORDS:
        if (value !== stream?.words.end) return notOurs;
        this.append(set, record.subarray(3));
        return "";
      case Kind.OWES:
        if (!isOf(3) || stream === undefined) return notOurs;
        this.owe(set, value);
        return "";
      case Kind.FENCE: {
        if (!isOf(4) || stream === undefined) return notOurs;
        const dropped = wordsBetween(record[3]!, stream.words.end);
        if (dropped < 0 || dropped > stream.words.count) return notOurs;
        this.fence(set, value, record[3]!);
        return "";
      }
      case Kind.LIFE:
        if (!isOf(3) || stream === undefined) return notOurs;
        this.fence(set, value, null);
        return "";
      case Kind.TRIM:
        if (!isOf(3) || stream === undefined) return notOurs;
        this.trim(set, value);
        return "";
      default:
        return notOurs;
    }
  }

  #of(set: number): SetStream {
    const stream = this.#sets.get(set);
    assert(stream !== undefined, `set ${set} has no stream yet`);
    return stream;
  }
}

const notOurs = "is not one that an event logger writes";
