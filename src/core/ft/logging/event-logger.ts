/**
 * The event logger: keeps the stream of determinants of every correlated set, in a failure domain of its own. A restarted set replays
 * the words that the event logger has acknowledged.
 *
 * A set has one life at a time here. `fence` begins the next one: it reads the stream, and from then on words of the old life are
 * refused, so that no life replays less than others have seen (rule 7).
 *
 * An event logger may take the place of one that was lost. It goes on with the streams that the lost one has written (stored-streams.ts).
 * Where those cannot be read the nodes tell the new event logger the parts of their sets' streams that they keep; a set whose stream had
 * been acknowledged further than that cannot be restarted.
 *
 * Positions count words, from the beginning of the job, and wrap as 32-bit integers.
 */
import { assert } from "../../base/assert.ts";
import { wordsBetween } from "../../service-channel/channel.ts";
import { wholeEntries } from "../determinants/determinant-entries.ts";
import { type SetStream, StoredStreams } from "./stored-streams.ts";

export class EventLogger {
  readonly #streams: StoredStreams;

  /** `streams`: those of the event logger before, if they are known. */
  constructor(streams = new StoredStreams()) {
    this.#streams = streams;
  }

  /** Everything that was appended is stored when this returns: it may be acknowledged. */
  settle(): void {
    this.#streams.settle();
  }

  /**
   * A life of a set wants to append. Its node keeps the stream from `begin` on. The position from which on it is wanted; null: an
   * old life speaks.
   */
  open(set: number, incarnation: number, begin: number): number | null {
    let stream = this.#streams.get(set);
    if (stream === undefined) {
      // How much is owed is not known yet: as if it were more than can be.
      const owed = this.#streams.lacksSets ? (begin + far) | 0 : begin;
      stream = this.#streams.open(set, { incarnation, begin, owed });
    }
    if (incarnation !== stream.incarnation) return null;
    // The node was lost while it told its part, and words before `begin` are of no use by now.
    if (wordsBetween(begin, stream.words.end) < 0) {
      stream = this.#streams.open(set, { incarnation, begin, owed: stream.owed });
    }
    stream.hasSpoken = true;
    return stream.words.end;
  }

  /** That much of the stream has been acknowledged, perhaps by an event logger before this one. False: an old life says so. */
  owes(set: number, incarnation: number, position: number): boolean {
    if (incarnation !== this.#of(set).incarnation) return false;
    this.#streams.owe(set, position);
    return true;
  }

  /**
   * A part of the stream of one life of a set: the position up to which all is here now, which is the acknowledgement as soon as it is
   * settled. Words that are here already are not taken twice; null: an old life speaks, and is not answered.
   */
  append(set: number, incarnation: number, from: number, part: Int32Array): number | null {
    const stream = this.#of(set);
    if (incarnation !== stream.incarnation) return null;
    const { words } = stream;
    const known = wordsBetween(from, words.end);
    assert(known >= 0, `the stream of set ${set} goes on at ${from}, and ends at ${words.end}`);
    stream.hasSpoken = true;
    if (known < part.length) this.#streams.append(set, part.subarray(known));
    return words.end;
  }

  /**
   * The set has fallen: its stream from that position on, where an entry begins. `incarnation` is the life that begins. A set may
   * fall in the middle of an entry: that entry was never said, and the stream ends before it. Null: words are missing that were
   * acknowledged once; or a later life has been fenced already, and a dispatcher asks that has a successor (ADR 13).
   *
   * An event logger that is lost before its answer is heard has written that the life begins: its successor is asked again, and
   * answers the same.
   */
  fence(set: number, incarnation: number, from: number): Int32Array | null {
    if (this.#streams.lacksSets && this.#streams.get(set) === undefined) return null;
    // A set that has said nothing may begin anywhere: where the set was from which its rank was taken.
    const stream = this.#streams.get(set) ?? this.#streams.open(set, { incarnation: 0, begin: from, owed: from });
    if (incarnation < stream.incarnation) return null;
    assert(
      incarnation > stream.incarnation || !stream.hasSpoken,
      `life ${incarnation} of set ${set} has spoken, and begins again`,
    );
    if (!isWhole(stream)) {
      this.#streams.fence(set, incarnation, null);
      this.settle();
      return null;
    }
    const words = this.read(set, from);
    const said = wholeEntries(words);
    this.#streams.fence(set, incarnation, (from + said) | 0);
    this.settle();
    return words.subarray(0, said);
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
    const stream = this.#streams.get(set);
    if (stream === undefined) return this.#streams.lacksSets ? null : 0;
    return isWhole(stream) ? stream.words.end : null;
  }

  /** No image will be restored whose position is lower. */
  trim(set: number, below: number): void {
    this.#streams.trim(set, below);
    this.settle();
  }

  /** Bytes kept of all sets. */
  get bytes(): number {
    return this.#streams.bytes;
  }

  #of(set: number): SetStream {
    return this.#streams.get(set) ?? this.#streams.open(set, { incarnation: 0, begin: 0, owed: 0 });
  }
}

/** No two positions that are compared are further apart. */
const far = 0x7fffffff;
const isWhole = ({ words, owed }: SetStream): boolean => wordsBetween(owed, words.end) >= 0;
