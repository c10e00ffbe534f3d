/**
 * The stream of determinants of a correlated set on its way to the event logger: a ring of words in shared memory. The set's
 * ranks append, in an order that is that of shared memory. Whoever waits for the event logger sends what is there and reads its
 * acknowledgements (stream-driver.ts); the node's main thread does so for those who do not wait, keeps a copy and makes room.
 *
 * Appending is under a lock. Who dies with it in hand stops only those who fall with it: the ring is the set's, and every life
 * of the set has its own.
 *
 *   lock, born   under the lock; who only looks, looks at `born`, the position behind the last word
 *   called       1: the main thread has been called and has not looked yet
 *   freed        words before it may be overwritten
 *   stable       the event logger has acknowledged everything before it
 *   driver …     the connection, see stream-driver.ts
 *
 * Those that different threads write have cache lines of their own. Positions count words without end (mod 2^32), from where the
 * life before had come to. Full means: who appends waits, in slices of a tenth of a second, until there is room.
 */
import { assert } from "../../core/base/assert.ts";
import { scratchBytes } from "../transport/tcp/socket-calls.ts";
import moduleBytes from "./determinant-ring.wat";

/** Indices of words, as in determinant-ring.wat. */
export const Head = { LOCK: 0, BORN: 1, CALLED: 32, FREED: 64, STABLE: 96, DRIVER: 128, SENT: 129 } as const;
export const headWords = 256;
const ringWords = 1 << 15;
const wasmPageBytes = 65536;

/** What `lock` and `append3` come to, as in determinant-ring.wat. */
export const Appended = { DONE: 0, BUSY: 1, FULL: 2, CALL: 4 } as const;

/** The functions of determinant-ring.wat; their comments there are the contract. */
export interface RingCalls {
  lock(length: number): number;
  lockOrSleep(length: number): number;
  publish(length: number): number;
  append3(rank: number, kind: number, a: number, b: number, c: number): number;
  born(): number;
  stable(): number;
  heed(): number;
  free(position: number): void;
  acknowledge(position: number): void;
  tryDrive(): number;
  leaveDrive(): void;
  sent(): number;
  setSent(position: number): void;
}

/** What threads of a node share of a ring; goes into the workerData of a rank. */
export interface SharedRing {
  readonly memory: WebAssembly.Memory;
  readonly words: number;
  /** Where this thread has its scratch space for socket calls, a byte offset. */
  readonly scratch: number;
}

export interface RingOptions {
  /** Where the stream goes on. */
  readonly position: number;
  /** How many may use it. */
  readonly threads?: number;
  readonly words?: number;
}

/** For the first of its threads. */
export function createDeterminantRing({ position, threads = 1, words = ringWords }: RingOptions): SharedRing {
  assert((words & (words - 1)) === 0, "the size of a ring is a power of two");
  const scratch = 4 * (headWords + words);
  const pages = Math.ceil((scratch + threads * scratchBytes) / wasmPageBytes);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const view = new Int32Array(memory.buffer);
  for (const word of [Head.BORN, Head.FREED, Head.STABLE, Head.SENT]) view[word] = position;
  return { memory, words, scratch };
}

/** The same ring for another of its threads, counted from 0. */
export function ringOfThread(ring: SharedRing, thread: number): SharedRing {
  return { ...ring, scratch: ring.scratch + thread * scratchBytes };
}

let compiled: WebAssembly.Module | undefined;

/** This thread's way into the ring. */
export function enterRing({ memory, words }: SharedRing): RingCalls {
  compiled ??= new WebAssembly.Module(moduleBytes);
  const { exports } = new WebAssembly.Instance(compiled, { ring: { memory, words } });
  return exports as unknown as RingCalls;
}
