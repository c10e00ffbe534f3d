/** The streams of a channel's end in ordinary memory, with bounds: those of a service, and of clients that are one thread. */
import { assert } from "../base/assert.ts";
import { type Incoming, type LastingWords, type Outgoing, type Retention, wordsBetween } from "./channel.ts";
import type { WordHolds } from "./word-blocks.ts";
import { WordLog } from "./word-log.ts";

interface OutgoingOptions {
  readonly retention: Retention;
  /** Words that may be here; full means: no more is appended. Of a stream that is kept until trimmed, words that are not acknowledged. */
  readonly wordsMax: number;
  /** Position of the first word. */
  readonly begin?: number;
  /** Who hears which words are lent to it; nobody unless given. */
  readonly holds?: WordHolds;
}

export class MemoryOutgoing implements Outgoing {
  readonly #options: OutgoingOptions;
  readonly #log: WordLog;
  readonly lasting?: LastingWords;
  #sent: number;
  #stable: number;

  constructor(options: OutgoingOptions) {
    const { begin = 0 } = options;
    this.#options = options;
    this.#log = new WordLog(begin, options.holds);
    this.#sent = begin;
    this.#stable = begin;
    if (options.retention !== "until-acknowledged") return;
    this.lasting = {
      count: (max) => this.#count(max),
      find: (position, into) => this.#log.find(position, into),
    };
  }

  get begin(): number {
    return this.#log.begin;
  }

  get born(): number {
    return this.#log.end;
  }

  get sent(): number {
    return this.#sent;
  }

  get stable(): number {
    return this.#stable;
  }

  /** Words that were acknowledged before this life: they are only kept. */
  preset(words: Int32Array): void {
    this.#log.append(words);
    this.#sent = this.born;
    this.#stable = this.born;
  }

  append(words: Int32Array, from: number, to: number): number {
    const count = this.#fitting(to - from);
    this.#log.append(words, from, from + count);
    return count;
  }

  /** The same without a copy: nobody changes the words any more. */
  lend(words: Int32Array, from: number, to: number): number {
    const count = this.#fitting(to - from);
    this.#log.lend(words.subarray(from, from + count));
    return count;
  }

  #fitting(count: number): number {
    const room = this.#options.wordsMax - wordsBetween(this.#stable, this.born);
    return Math.max(0, Math.min(room, count));
  }

  send(into: Int32Array, at: number, max: number): number {
    const from = this.#sent;
    const count = this.#count(max);
    if (count > 0) this.#log.copy(from, into, at, count);
    return count;
  }

  #count(max: number): number {
    const count = Math.min(max, wordsBetween(this.#sent, this.born));
    this.#sent = (this.#sent + count) | 0;
    return count;
  }

  acknowledge(position: number): void {
    if (wordsBetween(this.#stable, position) <= 0) return;
    this.#stable = position;
    if (this.#options.retention === "until-acknowledged") this.#log.trim(position);
  }

  resume(position: number): void {
    assert(
      wordsBetween(this.begin, position) >= 0 && wordsBetween(position, this.born) >= 0,
      `a stream that is kept from ${this.begin} to ${this.born} goes on at ${position}`,
    );
    this.#sent = position;
  }

  /** The other end has heard nothing from this process, and had come to that position with the one before: all words go there. */
  resumeElsewhere(position: number): void {
    this.#log.moveTo(position);
    this.#sent = position;
    this.#stable = position;
  }

  trim(below: number): void {
    this.#log.trim(below);
  }
}

interface MemoryIncomingOptions {
  readonly wordsMax: number;
  readonly begin?: number;
  readonly origin?: number;
  readonly unsaidWordsMax?: number;
}

export class MemoryIncoming implements Incoming {
  readonly unsaidWordsMax: number;
  readonly #log: WordLog;
  readonly #wordsMax: number;
  #origin: number;

  constructor({ wordsMax, begin = 0, origin = 0, unsaidWordsMax = 0 }: MemoryIncomingOptions) {
    this.unsaidWordsMax = unsaidWordsMax;
    this.#log = new WordLog(begin);
    this.#wordsMax = wordsMax;
    this.#origin = origin;
  }

  get arrived(): number {
    return this.#log.end;
  }

  get settled(): number {
    return this.#log.end;
  }

  get origin(): number {
    return this.#origin;
  }

  receive(words: Int32Array, at: number, count: number): number {
    const taken = Math.min(count, this.#wordsMax - this.#log.count);
    this.#log.append(words, at, at + taken);
    return taken;
  }

  beginAnew(origin: number): boolean {
    if (this.#log.count > 0) return false;
    this.#origin = origin;
    return true;
  }

  take(into: Int32Array): number {
    const count = this.#log.copy(this.#log.begin, into, 0, into.length);
    this.#log.trim((this.#log.begin + count) | 0);
    return count;
  }
}

/** A direction without a stream: nothing is ever sent, and words that arrive are an error of the peer. */
export const silent: Outgoing = {
  begin: 0,
  born: 0,
  sent: 0,
  stable: 0,
  send: () => 0,
  acknowledge() {},
  resume() {},
};
