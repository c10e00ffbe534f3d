/**
 * The event logger: keeps the stream of determinants of every correlated set, in a failure domain of its own. What it has
 * acknowledged is what a restarted set replays.
 *
 * A set has one life at a time here. `fence` begins the next one: it reads the stream and from then on refuses what the old
 * life still sends, so that nobody replays less than what others have seen (rule 7).
 *
 * Positions count words, from the beginning of the job, and wrap as 32-bit integers.
 */
import { assert } from "../base/assert.ts";

interface SetLog {
  incarnation: number;
  /** Position of the first word that is kept. */
  begin: number;
  parts: Int32Array[];
  /** Words in all parts. */
  words: number;
}

export class EventLogger {
  readonly #sets = new Map<number, SetLog>();

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
    if (known < part.length) {
      log.parts.push(part.slice(known));
      log.words += part.length - known;
    }
    return endOf(log);
  }

  /** The set has fallen: its stream from that position on. `incarnation` is the life that begins. */
  fence(set: number, incarnation: number, from: number): Int32Array {
    const log = this.#of(set);
    assert(incarnation > log.incarnation, `life ${incarnation} of set ${set} begins after life ${log.incarnation}`);
    log.incarnation = incarnation;
    return this.read(set, from);
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
    for (const part of log.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all.subarray(skipped);
  }

  /** Position behind the last word of a set's stream. */
  end(set: number): number {
    return endOf(this.#of(set));
  }

  /** No image will be restored whose position is lower. */
  trim(set: number, below: number): void {
    const log = this.#of(set);
    while (log.parts.length > 0 && ((log.begin + log.parts[0]!.length - below) | 0) <= 0) {
      const part = log.parts.shift()!;
      log.begin = (log.begin + part.length) | 0;
      log.words -= part.length;
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
      log = { incarnation: 0, begin: 0, parts: [], words: 0 };
      this.#sets.set(set, log);
    }
    return log;
  }
}

const endOf = ({ begin, words }: SetLog): number => (begin + words) | 0;
