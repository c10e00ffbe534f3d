/** The streams of a client in shared memory, for the thread that drives its connection. */
import {
  type Incoming,
  type LastingWords,
  type Outgoing,
  type Stretch,
  wordsBetween,
} from "../../core/service-channel/channel.ts";
import { Head, headWords, incomingAt, type RingCalls, type SharedChannel } from "./channel-ring.ts";
import { copyManyWords } from "./copy-many-words.ts";

/** Words of a ring that begins at an index, from a position on, to an array. */
export function copyOut(ring: Int32Array, position: number, into: Int32Array, at: number, count: number): void {
  const from = position & (ring.length - 1);
  const first = Math.min(count, ring.length - from);
  copyManyWords(ring, from, into, at, first);
  if (first < count) copyManyWords(ring, 0, into, at + first, count - first);
}

/** Words `at` … of an array into a ring, from a position on. */
export function copyIn(ring: Int32Array, position: number, words: Int32Array, at: number, count: number): void {
  const to = position & (ring.length - 1);
  const first = Math.min(count, ring.length - to);
  copyManyWords(words, at, ring, to, first);
  if (first < count) copyManyWords(words, at + first, ring, 0, count - first);
}

export class RingOutgoing implements Outgoing {
  readonly #head: Int32Array;
  readonly #ring: Int32Array;
  readonly #calls: RingCalls;
  readonly #isFreedWhenStable: boolean;
  readonly lasting?: LastingWords;

  constructor({ memory, words, retention }: SharedChannel, calls: RingCalls) {
    this.#head = new Int32Array(memory.buffer, 0, headWords);
    this.#ring = new Int32Array(memory.buffer, 4 * headWords, words);
    this.#calls = calls;
    this.#isFreedWhenStable = retention === "until-acknowledged";
    // Otherwise words make room as soon as they are sent.
    if (!this.#isFreedWhenStable) return;
    const bytes = new Uint8Array(memory.buffer);
    this.lasting = {
      count: (max) => this.#count(max),
      find: (position, into) => {
        const from = position & (words - 1);
        into.memory = bytes;
        into.at = 4 * (headWords + from);
        into.bytes = 4 * (words - from);
      },
    };
  }

  get begin(): number {
    return Atomics.load(this.#head, Head.FREED);
  }

  get born(): number {
    return this.#calls.born();
  }

  get sent(): number {
    return this.#calls.sent();
  }

  get stable(): number {
    return this.#calls.stable();
  }

  /** They count as sent when they have been copied, not before: where words are kept elsewhere the main thread frees what was sent, whoever drives. */
  send(into: Int32Array, at: number, max: number): number {
    const sent = this.#calls.sent();
    const count = this.#unsent(sent, max);
    if (count === 0) return 0;
    copyOut(this.#ring, sent, into, at, count);
    this.#calls.setSent((sent + count) | 0);
    return count;
  }

  /** They stay here until they are acknowledged. */
  #count(max: number): number {
    const sent = this.#calls.sent();
    const count = this.#unsent(sent, max);
    if (count > 0) this.#calls.setSent((sent + count) | 0);
    return count;
  }

  #unsent(sent: number, max: number): number {
    return Math.min(max, wordsBetween(sent, this.#calls.born()));
  }

  acknowledge(position: number): void {
    this.#calls.acknowledge(position);
    if (this.#isFreedWhenStable) this.#free(this.#calls.stable());
  }

  /** To wake those who wait for room takes longer than all else here, and nobody does while half of the ring is free but for an entry that is larger: that one sleeps for its bounded while. */
  #free(stable: number): void {
    const freed = this.begin;
    if (stable === freed) return;
    if (2 * wordsBetween(freed, this.#calls.born()) > this.#ring.length) this.#calls.free(stable);
    else Atomics.store(this.#head, Head.FREED, stable);
  }

  resume(position: number): void {
    this.#calls.setSent(position);
  }
}

export class RingIncoming implements Incoming {
  readonly unsaidWordsMax: number;
  readonly #bytes: Uint8Array;
  readonly #ring: Int32Array;
  readonly #calls: RingCalls;
  #takenOrigin = 0;

  constructor(channel: SharedChannel, calls: RingCalls) {
    this.unsaidWordsMax = channel.unsaidWordsMax;
    this.#bytes = new Uint8Array(channel.memory.buffer);
    this.#ring = new Int32Array(channel.memory.buffer, 4 * incomingAt(channel), channel.incomingWords);
    this.#calls = calls;
  }

  get arrived(): number {
    return this.#calls.arrived();
  }

  get settled(): number {
    return this.#calls.arrived();
  }

  get origin(): number {
    return this.#calls.origin();
  }

  receive(words: Int32Array, at: number, count: number): number {
    const arrived = this.#calls.arrived();
    const taken = Math.min(count, this.#ring.length - wordsBetween(this.#calls.consumed(), arrived));
    if (taken === 0) return 0;
    copyIn(this.#ring, arrived, words, at, taken);
    this.#calls.arrive((arrived + taken) | 0);
    return taken;
  }

  place(max: number, into: Stretch): void {
    const arrived = this.#calls.arrived();
    const { length } = this.#ring;
    const to = arrived & (length - 1);
    const room = length - wordsBetween(this.#calls.consumed(), arrived);
    into.memory = this.#bytes;
    into.at = this.#ring.byteOffset + 4 * to;
    into.bytes = 4 * Math.min(max, room, length - to);
  }

  placed(count: number): number {
    this.#calls.arrive((this.#calls.arrived() + count) | 0);
    return count;
  }

  beginAnew(origin: number): boolean {
    return this.#calls.beginAnew(origin) === 1;
  }

  /** Nothing has come that was not taken. */
  get isEmpty(): boolean {
    return this.#calls.consumed() === this.#calls.arrived();
  }

  /** For one thread at a time: words that have come, how many. */
  take(into: Int32Array): number {
    if (this.#calls.tryTake() === 0) return 0;
    const consumed = this.#calls.consumed();
    const count = Math.min(into.length, wordsBetween(consumed, this.#calls.arrived()));
    if (count > 0) {
      this.#takenOrigin = this.#calls.origin();
      copyOut(this.#ring, consumed, into, 0, count);
      this.#calls.consume((consumed + count) | 0);
    }
    this.#calls.leaveTake();
    return count;
  }

  /** Of the words that this thread took last. */
  get takenOrigin(): number {
    return this.#takenOrigin;
  }
}
