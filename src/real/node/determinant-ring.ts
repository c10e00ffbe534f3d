/**
 * The stream of determinants of a correlated set on its way to the event logger: a ring of words in shared memory. The set's
 * ranks append, in an order that is that of shared memory; the node's main thread takes what is there, and stores how far
 * the event logger has acknowledged.
 *
 * Appending is under a lock. Who dies with it in hand stops only those who fall with it: the ring is the set's, and every life
 * of the set has its own.
 *
 *   word 0  lock      word 1  born      word 2  taken      word 3  stable      word 4 …  the ring
 *
 * Positions count words without end (mod 2^32), from where the life before had come to. Full means: who appends waits, in
 * slices of a tenth of a second, until the main thread has made room.
 */
import { assert } from "../../core/base/assert.ts";
import {
  type DeterminantKind,
  type DeterminantStream,
  determinantHeaderWords,
} from "../../core/ft/logging/determinant-stream.ts";
import { ring as ringBell } from "./node-words.ts";

const LOCK = 0;
const BORN = 1;
const TAKEN = 2;
const STABLE = 3;
const headWords = 4;
const ringWords = 1 << 15;

/** `position`: where the stream goes on. */
export function createDeterminantRing(position: number, words = ringWords): SharedArrayBuffer {
  assert((words & (words - 1)) === 0, "the size of a ring is a power of two");
  const ring = new SharedArrayBuffer(4 * (headWords + words));
  new Int32Array(ring).fill(position, BORN, STABLE + 1);
  return ring;
}

/** A rank's end. */
export class DeterminantWriter implements DeterminantStream {
  readonly #words: Int32Array;
  readonly #mask: number;
  readonly #bell: Int32Array;
  readonly #quietBell: Int32Array;

  /** `bell` for whoever waits, `quietBell` so that determinants set out before anybody does. */
  constructor(ring: SharedArrayBuffer, bell: Int32Array, quietBell = bell) {
    this.#words = new Int32Array(ring);
    this.#mask = this.#words.length - headWords - 1;
    this.#bell = bell;
    this.#quietBell = quietBell;
  }

  get born(): number {
    return Atomics.load(this.#words, BORN);
  }

  get stable(): number {
    return Atomics.load(this.#words, STABLE);
  }

  append(rank: number, kind: DeterminantKind, data: readonly number[]): void {
    const words = this.#words;
    const length = determinantHeaderWords + data.length;
    assert(length <= this.#mask, `a determinant of ${length} words`);
    this.#lock(length);
    const at = words[BORN]!;
    this.#put(at, length);
    this.#put(at + 1, rank);
    this.#put(at + 2, kind);
    for (let i = 0; i < data.length; i++) this.#put(at + determinantHeaderWords + i, data[i]!);
    Atomics.store(words, BORN, (at + length) | 0);
    this.#unlock();
    ringBell(this.#quietBell);
  }

  urge(): void {
    ringBell(this.#bell);
  }

  #put(position: number, word: number): void {
    this.#words[headWords + (position & this.#mask)] = word;
  }

  /** With room for so many words. */
  #lock(room: number): void {
    const words = this.#words;
    for (;;) {
      while (Atomics.compareExchange(words, LOCK, 0, 1) !== 0) Atomics.wait(words, LOCK, 1, 1);
      const taken = Atomics.load(words, TAKEN);
      if (((words[BORN]! - taken) | 0) + room <= this.#mask + 1) return;
      this.#unlock();
      ringBell(this.#bell);
      Atomics.wait(words, TAKEN, taken, 100);
    }
  }

  #unlock(): void {
    Atomics.store(this.#words, LOCK, 0);
    Atomics.notify(this.#words, LOCK);
  }
}

/** The main thread's end. */
export class DeterminantReader {
  readonly #words: Int32Array;
  readonly #mask: number;

  constructor(ring: SharedArrayBuffer) {
    this.#words = new Int32Array(ring);
    this.#mask = this.#words.length - headWords - 1;
  }

  /** What has been appended since the last time, and from where on; null: nothing. Makes room. */
  take(): { readonly from: number; readonly part: Int32Array } | null {
    const words = this.#words;
    const from = words[TAKEN]!;
    const count = (Atomics.load(words, BORN) - from) | 0;
    if (count === 0) return null;
    const part = new Int32Array(count);
    for (let i = 0; i < count; i++) part[i] = words[headWords + ((from + i) & this.#mask)]!;
    Atomics.store(words, TAKEN, (from + count) | 0);
    Atomics.notify(words, TAKEN);
    return { from, part };
  }

  /** The event logger has everything up to that position. */
  acknowledge(position: number): void {
    Atomics.store(this.#words, STABLE, position);
  }
}
