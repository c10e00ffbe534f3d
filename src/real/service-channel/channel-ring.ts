/**
 * The client's end of a channel in shared memory: a ring of words on their way to the service, a ring of words that have come from
 * it, and the connection between (core/service-channel/connection.ts). Threads of the client append, in an order that is that of
 * shared memory. A thread that waits for the service sends and receives itself (channel-driver.ts); the node's main
 * thread does so for threads that do not wait, connects, and makes room where words are kept until trimmed (channel-host.ts).
 *
 * Appending is under a lock. A thread that dies with the lock stops only threads that fall with it: the rings are those of one life.
 *
 *   lock, born        written under the lock; readers look at `born` alone, the position behind the last word
 *   called            1: the main thread has been called and has not looked yet
 *   freed             words before it may be overwritten
 *   stable            the service has acknowledged everything before it
 *   driver …          held by the thread that drives: position up to which words were sent; the connection's number, descriptor and state; see channel-driver.ts
 *   arrived, origin   written by the driver: position behind the last word that came, and the process of the service that sent it
 *   consumed          written by the taker: words before it may be overwritten
 *   taker             held by the thread that takes words
 *   fenced            1: the service does not hear this life any more
 *   wake              the eventfd of the thread that sleeps over the connection, and one; 0: none does
 *
 * Those that different threads write have cache lines of their own. Positions count words without end (mod 2^32), from where the
 * life before had come to. Full means: `append` takes less than it is given, and its caller waits, in slices of a tenth
 * of a second, until there is room.
 */
import { assert } from "../../core/base/assert.ts";
import type { Retention } from "../../core/service-channel/channel.ts";
import { connectionWords } from "../../core/service-channel/connection.ts";
import { scratchBytes } from "../transport/sockets/socket-calls.ts";
import moduleBytes from "./channel-ring.wat";

/** Indices of words; those that channel-ring.wat touches are as there. */
export const Head = {
  LOCK: 0,
  BORN: 1,
  CALLED: 32,
  FREED: 64,
  STABLE: 96,
  DRIVER: 128,
  SENT: 129,
  NUMBER: 130,
  FD: 131,
  BROKEN: 132,
  ARRIVED: 160,
  ORIGIN: 161,
  CONSUMED: 192,
  TAKER: 193,
  FENCED: 224,
  WAKE: 225,
} as const;
export const headWords = 256;
const ringWords = 1 << 15;
const wasmPageBytes = 65536;

/** Results of `lock` and `append6`, as in channel-ring.wat. */
export const Appended = { DONE: 0, BUSY: 1, FULL: 2, CALL: 4 } as const;

/** The functions of channel-ring.wat; their comments there are the contract. */
export interface RingCalls {
  lock(length: number): number;
  lockOrSleep(length: number): number;
  publish(length: number): number;
  append6(a: number, b: number, c: number, d: number, e: number, f: number): number;
  born(): number;
  stable(): number;
  heed(): number;
  free(position: number): void;
  acknowledge(position: number): void;
  tryDrive(): number;
  leaveDrive(): void;
  sent(): number;
  setSent(position: number): void;
  arrived(): number;
  arrive(position: number): void;
  consumed(): number;
  consume(position: number): void;
  origin(): number;
  beginAnew(origin: number): number;
  tryTake(): number;
  leaveTake(): void;
}

/** The parts of a channel that threads of a node share; in the workerData of a rank. */
export interface SharedChannel {
  readonly memory: WebAssembly.Memory;
  readonly retention: Retention;
  /** Of the ring of words that go out, and of that of words that come back, which follows it. */
  readonly words: number;
  readonly incomingWords: number;
  /** See `Incoming`. */
  readonly unsaidWordsMax: number;
  /** Where this thread has its scratch space for socket calls, a byte offset. */
  readonly scratch: number;
}

export interface ChannelRingOptions {
  readonly retention: Retention;
  /** Where the stream goes on. */
  readonly position: number;
  /** How many may use it. */
  readonly threads?: number;
  /** Powers of two; of words that come back there may be none. */
  readonly words?: number;
  readonly incomingWords?: number;
  readonly unsaidWordsMax?: number;
}

/** Indices of the ring of words that come back, and of the connection. */
export const incomingAt = ({ words }: SharedChannel): number => headWords + words;
export const connectionAt = ({ words, incomingWords }: SharedChannel): number => headWords + words + incomingWords;

/** For the first of its threads. */
export function createChannelRing(options: ChannelRingOptions): SharedChannel {
  const { retention, position, threads = 1, words = ringWords, incomingWords = 0, unsaidWordsMax = 0 } = options;
  assert(
    (words & (words - 1)) === 0 && (incomingWords & (incomingWords - 1)) === 0,
    "rings have powers of two of words",
  );
  const scratch = (4 * (headWords + words + incomingWords + connectionWords) + 15) & ~15;
  const pages = Math.ceil((scratch + threads * scratchBytes) / wasmPageBytes);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const view = new Int32Array(memory.buffer);
  for (const word of [Head.BORN, Head.FREED, Head.STABLE, Head.SENT]) view[word] = position;
  return { memory, retention, words, incomingWords, unsaidWordsMax, scratch };
}

/** The same for another of its threads, counted from 0. */
export function channelOfThread(channel: SharedChannel, thread: number): SharedChannel {
  return { ...channel, scratch: channel.scratch + thread * scratchBytes };
}

let compiled: WebAssembly.Module | undefined;

/** This thread's way into the rings. */
export function enterRing({ memory, words }: Pick<SharedChannel, "memory" | "words">): RingCalls {
  compiled ??= new WebAssembly.Module(moduleBytes);
  const { exports } = new WebAssembly.Instance(compiled, { ring: { memory, words } });
  return exports as unknown as RingCalls;
}
