/**
 * The event logger: keeps the stream of determinants of every correlated set, in a failure domain of its own. What it has
 * acknowledged is what a restarted set replays.
 *
 * A set has one life at a time here. `fence` begins the next one: it reads the stream and from then on refuses what the old
 * life still sends, so that nobody replays less than what others have seen (rule 7).
 *
 * An event logger may take the place of one that was lost. It is then told again, by the nodes, what they keep of their sets'
 * streams; a set whose stream had been acknowledged further than that cannot be restarted.
 *
 * Positions count words, from the beginning of the job, and wrap as 32-bit integers.
 */
import { assert } from "../../base/assert.ts";
import { wholeEntries } from "./determinant-entries.ts";

const partWordsMin = 1 << 8;
const partWordsMax = 1 << 14;

interface Part {
  readonly words: Int32Array;
  /** Words of it from an index on, up to another. */
  from: number;
  to: number;
}

interface SetLog {
  incarnation: number;
  /** Position of the first word that is kept. */
  begin: number;
  /** All of them full but the last. */
  parts: Part[];
  /** Words in all parts. */
  words: number;
  /** What an event logger before this one has acknowledged. */
  owed: number;
}

export class EventLogger {
  readonly #sets = new Map<number, SetLog>();
  readonly #isSuccessor: boolean;

  /** `isSuccessor`: there was one before, which is lost. */
  constructor(isSuccessor = false) {
    this.#isSuccessor = isSuccessor;
  }

  /**
   * A life of a set wants to append. Its node keeps the stream from `begin` on. The position from which on it is wanted; null: an
   * old life speaks.
   */
  open(set: number, incarnation: number, begin: number): number | null {
    const known = this.#sets.get(set);
    if (known !== undefined && incarnation !== known.incarnation) return null;
    if (known !== undefined && ((endOf(known) - begin) | 0) >= 0) return endOf(known);
    if (known !== undefined) {
      // It was lost in the middle of telling, and what comes before `begin` is of no use by now.
      Object.assign(known, { begin, parts: [], words: 0 });
      return begin;
    }
    // How much is owed is not known yet: as if it were more than can be.
    this.#sets.set(set, {
      incarnation,
      begin,
      parts: [],
      words: 0,
      owed: this.#isSuccessor ? (begin + far) | 0 : begin,
    });
    return begin;
  }

  /** That much of the stream has been acknowledged, perhaps by an event logger before this one. */
  owes(set: number, incarnation: number, position: number): void {
    const log = this.#of(set);
    if (incarnation === log.incarnation) log.owed = position;
  }

  /**
   * A part of the stream of one life of a set: the position up to which all is here now, which is the acknowledgement. What is
   * here already is not taken twice; null: an old life speaks, and is not answered.
   */
  append(set: number, incarnation: number, from: number, part: Int32Array): number | null {
    const log = this.#of(set);
    if (incarnation !== log.incarnation) return null;
    const end = endOf(log);
    const known = (end - from) | 0;
    assert(known >= 0, `the stream of set ${set} goes on at ${from}, and ends at ${end}`);
    for (let rest = part.subarray(known); rest.length > 0; ) {
      const last = lastOf(log);
      const taken = rest.subarray(0, last.words.length - last.to);
      last.words.set(taken, last.to);
      last.to += taken.length;
      log.words += taken.length;
      rest = rest.subarray(taken.length);
    }
    return endOf(log);
  }

  /**
   * The set has fallen: its stream from that position on, where an entry begins. `incarnation` is the life that begins. Who falls
   * may have been in the middle of an entry: that was never said, and the stream ends before it. Null: not all of it is here
   * that was acknowledged once.
   */
  fence(set: number, incarnation: number, from: number): Int32Array | null {
    if (this.#isSuccessor && !this.#sets.has(set)) return null;
    const log = this.#of(set);
    assert(incarnation > log.incarnation, `life ${incarnation} of set ${set} begins after life ${log.incarnation}`);
    log.incarnation = incarnation;
    if (!isWhole(log)) return null;
    const stream = this.read(set, from);
    const said = wholeEntries(stream);
    dropLast(log, stream.length - said);
    // What is cut off was acknowledged, perhaps; nothing depended on it.
    log.owed = endOf(log);
    return stream.subarray(0, said);
  }

  /** The stream from that position on. */
  read(set: number, from: number): Int32Array {
    const log = this.#of(set);
    const skipped = (from - log.begin) | 0;
    assert(
      skipped >= 0 && skipped <= log.words,
      `the stream of set ${set} is read from ${from}, and kept from ${log.begin} to ${endOf(log)}; an image is committed when all before it is here`,
    );
    const all = new Int32Array(log.words);
    let at = 0;
    for (const { words, from: first, to } of log.parts) {
      all.set(words.subarray(first, to), at);
      at += to - first;
    }
    return all.subarray(skipped);
  }

  /** Position of the first word that is kept of a set's stream. */
  begin(set: number): number {
    return this.#of(set).begin;
  }

  /** Position behind the last word of a set's stream. */
  end(set: number): number {
    return endOf(this.#of(set));
  }

  /** The same; null: not all of it is here that was acknowledged once. */
  reached(set: number): number | null {
    const log = this.#sets.get(set);
    if (log === undefined) return this.#isSuccessor ? null : 0;
    return isWhole(log) ? endOf(log) : null;
  }

  /** No image will be restored whose position is lower. */
  trim(set: number, below: number): void {
    const log = this.#sets.get(set);
    if (log === undefined) return;
    for (let left = Math.min((below - log.begin) | 0, log.words); left > 0; ) {
      const first = log.parts[0]!;
      const dropped = Math.min(left, first.to - first.from);
      first.from += dropped;
      log.begin = (log.begin + dropped) | 0;
      log.words -= dropped;
      left -= dropped;
      if (first.from === first.to) log.parts.shift();
    }
  }

  /** Bytes kept of all sets. */
  get bytes(): number {
    let words = 0;
    for (const log of this.#sets.values()) words += log.words;
    return 4 * words;
  }

  #of(set: number): SetLog {
    let log = this.#sets.get(set);
    if (log === undefined) {
      log = { incarnation: 0, begin: 0, parts: [], words: 0, owed: 0 };
      this.#sets.set(set, log);
    }
    return log;
  }
}

/** A part with room: larger ones the more there is, within limits. */
function lastOf({ parts, words }: SetLog): Part {
  const last = parts.at(-1);
  if (last !== undefined && last.to < last.words.length) return last;
  const part = { words: new Int32Array(Math.min(partWordsMax, Math.max(partWordsMin, words))), from: 0, to: 0 };
  parts.push(part);
  return part;
}

function dropLast(log: SetLog, count: number): void {
  log.words -= count;
  for (let left = count; left > 0; ) {
    const last = log.parts.at(-1)!;
    const dropped = Math.min(left, last.to - last.from);
    last.to -= dropped;
    left -= dropped;
    if (last.from === last.to) log.parts.pop();
  }
}

/** No two positions that are compared are further apart. */
const far = 0x7fffffff;
const isWhole = (log: SetLog): boolean => ((endOf(log) - log.owed) | 0) >= 0;
const endOf = ({ begin, words }: SetLog): number => (begin + words) | 0;
