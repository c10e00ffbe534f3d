/**
 * The stream of determinants of a correlated set on its way to the event logger: a ring of words in shared memory. The set's
 * ranks append, in an order that is that of shared memory; the node's main thread takes what is there, and stores how far
 * the event logger has acknowledged.
 *
 * Appending is under a lock. Who dies with it in hand stops only those who fall with it: the ring is the set's, and every life
 * of the set has its own.
 *
 *   lock, born   under the lock; who only looks, looks at `born`, the position behind the last word
 *   called       1: whoever takes has been called and has not looked yet
 *   freed        words before it may be overwritten
 *   stable       the event logger has acknowledged everything before it
 *
 * Each has a cache line of its own, but `lock` and `born`, which are written together. Positions count words without end (mod
 * 2^32), from where the life before had come to. Full means: who appends waits, in slices of a tenth of a second, until there
 * is room.
 */
import { assert } from "../../core/base/assert.ts";
import {
  type DeterminantKind,
  type DeterminantStream,
  determinantHeaderWords,
} from "../../core/ft/logging/determinant-stream.ts";
import moduleBytes from "./determinant-ring.wat";
import { ring as ringBell } from "./node-words.ts";

/** Indices of words, as in determinant-ring.wat. */
export const Head = { LOCK: 0, BORN: 1, CALLED: 32, FREED: 64, STABLE: 96 } as const;
export const headWords = 256;
const ringWords = 1 << 15;
const wasmPageBytes = 65536;

/** What `lock` and `append3` come to, as in determinant-ring.wat. */
export const Appended = { DONE: 0, BUSY: 1, FULL: 2, CALL: 4 } as const;
/** Tries before a sleep: who has the lock keeps it for some twenty nanoseconds, unless the system takes its core away. */
const triesMax = 50;
/** A lost notification makes late, not dead. */
const sleepMsMax = 100;

/** The functions of determinant-ring.wat; their comments there are the contract. */
interface RingCalls {
  lock(length: number): number;
  lockOrSleep(length: number): number;
  publish(length: number): number;
  append3(rank: number, kind: number, a: number, b: number, c: number): number;
  born(): number;
  stable(): number;
  heed(): number;
  free(position: number): void;
  acknowledge(position: number): void;
}

/** What threads of a node share of a ring; goes into the workerData of a rank. */
export interface SharedRing {
  readonly memory: WebAssembly.Memory;
  readonly words: number;
}

/** `position`: where the stream goes on. */
export function createDeterminantRing(position: number, words = ringWords): SharedRing {
  assert((words & (words - 1)) === 0, "the size of a ring is a power of two");
  const pages = Math.ceil((4 * (headWords + words)) / wasmPageBytes);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const view = new Int32Array(memory.buffer);
  for (const word of [Head.BORN, Head.FREED, Head.STABLE]) view[word] = position;
  return { memory, words };
}

let compiled: WebAssembly.Module | undefined;

function enter({ memory, words }: SharedRing): RingCalls {
  compiled ??= new WebAssembly.Module(moduleBytes);
  const { exports } = new WebAssembly.Instance(compiled, { ring: { memory, words } });
  return exports as unknown as RingCalls;
}

/** A rank's end. */
export class DeterminantWriter implements DeterminantStream {
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #mask: number;
  readonly #bell: Int32Array;
  readonly #quietBell: Int32Array;

  /** `bell` for whoever waits, `quietBell` so that determinants set out before anybody does. */
  constructor(ring: SharedRing, bell: Int32Array, quietBell = bell) {
    this.#words = new Int32Array(ring.memory.buffer);
    this.#calls = enter(ring);
    this.#mask = ring.words - 1;
    this.#bell = bell;
    this.#quietBell = quietBell;
  }

  get born(): number {
    return this.#calls.born();
  }

  get stable(): number {
    return this.#calls.stable();
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    const outcome = this.#calls.append3(rank, kind, a, b, c);
    if (outcome === Appended.DONE) return;
    if (outcome === Appended.CALL) ringBell(this.#quietBell);
    else this.append(rank, kind, [a, b, c]);
  }

  append(rank: number, kind: DeterminantKind, data: readonly number[]): void {
    const length = determinantHeaderWords + data.length;
    assert(length <= this.#mask, `a determinant of ${length} words`);
    this.#lock(length);
    const at = this.#words[Head.BORN]!;
    this.#put(at, length);
    this.#put(at + 1, rank);
    this.#put(at + 2, kind);
    for (let i = 0; i < data.length; i++) this.#put(at + determinantHeaderWords + i, data[i]!);
    if (this.#calls.publish(length) === Appended.CALL) ringBell(this.#quietBell);
  }

  urge(): void {
    ringBell(this.#bell);
  }

  #put(position: number, word: number): void {
    this.#words[headWords + (position & this.#mask)] = word;
  }

  /** With room for so many words. */
  #lock(room: number): void {
    for (let tries = 0; ; tries++) {
      const outcome = tries < triesMax ? this.#calls.lock(room) : this.#calls.lockOrSleep(room);
      if (outcome === Appended.DONE) return;
      if (outcome === Appended.FULL) this.#waitForRoom(room);
      else if (tries >= triesMax) Atomics.wait(this.#words, Head.LOCK, 2, sleepMsMax);
    }
  }

  #waitForRoom(room: number): void {
    const freed = Atomics.load(this.#words, Head.FREED);
    if (((this.born - freed) | 0) + room <= this.#mask + 1) return;
    ringBell(this.#bell);
    Atomics.wait(this.#words, Head.FREED, freed, sleepMsMax);
  }
}

/** The main thread's end. */
export class DeterminantReader {
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #mask: number;

  constructor(ring: SharedRing) {
    this.#words = new Int32Array(ring.memory.buffer);
    this.#calls = enter(ring);
    this.#mask = ring.words - 1;
  }

  /** What has been appended since the last time, and from where on; null: nothing. Makes room. */
  take(): { readonly from: number; readonly part: Int32Array } | null {
    const words = this.#words;
    const from = words[Head.FREED]!;
    const count = (this.#calls.heed() - from) | 0;
    if (count === 0) return null;
    const part = new Int32Array(count);
    for (let i = 0; i < count; i++) part[i] = words[headWords + ((from + i) & this.#mask)]!;
    this.#calls.free((from + count) | 0);
    return { from, part };
  }

  /** The event logger has everything up to that position. */
  acknowledge(position: number): void {
    this.#calls.acknowledge(position);
  }
}
