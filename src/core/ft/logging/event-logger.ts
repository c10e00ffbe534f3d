/**
 * The event logger: keeps the stream of determinants of every correlated set, in a failure domain of its own. What it has
 * acknowledged is what a restarted set replays.
 *
 * A set has one life at a time here. `fence` begins the next one: it reads the stream and from then on refuses what the old
 * life still sends, so that no life replays less than what others have seen (rule 7).
 *
 * An event logger may take the place of one that was lost. It is then told again, by the nodes, what they keep of their sets'
 * streams; a set whose stream had been acknowledged further than that cannot be restarted.
 *
 * Positions count words, from the beginning of the job, and wrap as 32-bit integers.
 */
import { assert } from "../../base/assert.ts";
import { wordsBetween } from "../../service-channel/channel.ts";
import { WordLog } from "../../service-channel/word-log.ts";
import { wholeEntries } from "./determinant-entries.ts";

interface SetLog {
  incarnation: number;
  words: WordLog;
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
    if (known === undefined) {
      // How much is owed is not known yet: as if it were more than can be.
      const owed = this.#isSuccessor ? (begin + far) | 0 : begin;
      this.#sets.set(set, { incarnation, words: new WordLog(begin), owed });
      return begin;
    }
    if (incarnation !== known.incarnation) return null;
    // It was lost in the middle of telling, and what comes before `begin` is of no use by now.
    if (wordsBetween(begin, known.words.end) < 0) known.words = new WordLog(begin);
    return known.words.end;
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
    const { words } = log;
    const known = wordsBetween(from, words.end);
    assert(known >= 0, `the stream of set ${set} goes on at ${from}, and ends at ${words.end}`);
    words.append(part.subarray(known));
    return words.end;
  }

  /**
   * The set has fallen: its stream from that position on, where an entry begins. `incarnation` is the life that begins. A set may
   * fall in the middle of an entry: that entry was never said, and the stream ends before it. Null: words are missing that were
   * acknowledged once; or a later life has been fenced already, and a dispatcher asks that has a successor (ADR 13).
   */
  fence(set: number, incarnation: number, from: number): Int32Array | null {
    if (this.#isSuccessor && !this.#sets.has(set)) return null;
    const log = this.#of(set);
    if (incarnation < log.incarnation) return null;
    assert(incarnation > log.incarnation, `life ${incarnation} of set ${set} begins twice`);
    log.incarnation = incarnation;
    if (!isWhole(log)) return null;
    const stream = this.read(set, from);
    const said = wholeEntries(stream);
    log.words.dropLast(stream.length - said);
    // What is cut off was acknowledged, perhaps; nothing depended on it.
    log.owed = log.words.end;
    return stream.subarray(0, said);
  }

  /** The stream from that position on. */
  read(set: number, from: number): Int32Array {
    const { words } = this.#of(set);
    const { begin, end } = words;
    assert(
      wordsBetween(begin, from) >= 0 && wordsBetween(from, end) >= 0,
      `the stream of set ${set} is read from ${from}, and kept from ${begin} to ${end}; an image is committed when all before it is here`,
    );
    return words.read(from);
  }

  /** Position of the first word that is kept of a set's stream. */
  begin(set: number): number {
    return this.#of(set).words.begin;
  }

  /** Position behind the last word of a set's stream. */
  end(set: number): number {
    return this.#of(set).words.end;
  }

  /** The same; null: not all of it is here that was acknowledged once. */
  reached(set: number): number | null {
    const log = this.#sets.get(set);
    if (log === undefined) return this.#isSuccessor ? null : 0;
    return isWhole(log) ? log.words.end : null;
  }

  /** No image will be restored whose position is lower. */
  trim(set: number, below: number): void {
    this.#sets.get(set)?.words.trim(below);
  }

  /** Bytes kept of all sets. */
  get bytes(): number {
    let count = 0;
    for (const { words } of this.#sets.values()) count += words.count;
    return 4 * count;
  }

  #of(set: number): SetLog {
    let log = this.#sets.get(set);
    if (log === undefined) {
      log = { incarnation: 0, words: new WordLog(), owed: 0 };
      this.#sets.set(set, log);
    }
    return log;
  }
}

/** No two positions that are compared are further apart. */
const far = 0x7fffffff;
const isWhole = ({ words, owed }: SetLog): boolean => wordsBetween(owed, words.end) >= 0;
