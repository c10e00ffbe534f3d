/** A thread's end of a channel: appends words, takes answers, and drives the connection when it waits for the service. */
import { assert } from "../../core/base/assert.ts";
import { type ClientEnd, wordsBetween } from "../../core/service-channel/channel.ts";
import { ring as ringBell } from "../machine/bell.ts";
import { newYield } from "../machine/yield.ts";
import { ChannelDriver } from "./channel-driver.ts";
import { Appended, enterRing, Head, headWords, type RingCalls, type SharedChannel } from "./channel-ring.ts";
import { copyIn } from "./ring-streams.ts";

/** Tries before a sleep: the lock is held for some twenty nanoseconds, unless the system takes its core away. */
const triesMax = 50;
/** So many words at once are a part of something large; and so many that are not acknowledged: of small ones some may wait (`Incoming.unsaidWordsMax`). */
const bulkWords = 1 << 10;
const bulkUnstableWords = 1 << 13;
/** A lost notification makes late, not dead. */
const sleepMsMax = 100;

export class ChannelThread implements ClientEnd {
  readonly #words: Int32Array;
  readonly #ring: Int32Array;
  readonly #calls: RingCalls;
  readonly #driver: ChannelDriver;
  readonly #yield = newYield();
  readonly #bell: Int32Array;
  readonly #quietBell: Int32Array;
  readonly #sendsItself: boolean;
  #origin = 0;
  /** The thread has waited since the last nap. */
  #isWaiting = false;
  /** Since the last `move`. */
  #hasTaken = false;
  /** Words that were taken last, or a few times before: the end of something large is small. */
  #tookLast = 0;

  /**
   * `bell` wakes the main thread for a thread that waits, `quietBell` for words that the thread could not send at once. It tries that with all that
   * it appends if it `sendsItself`, and it alone; otherwise with the first words since it waited last or the main thread looked: the service has
   * most of what a program chooses by the time that somebody waits for it, the main thread need not wake, and a program that chooses
   * without end makes no system call for each. The others leave when a thread waits, and when the main thread looks, which it has to do now and then.
   */
  constructor(channel: SharedChannel, bell: Int32Array, quietBell = bell, sendsItself = false) {
    const { memory, words } = channel;
    this.#words = new Int32Array(memory.buffer);
    this.#ring = new Int32Array(memory.buffer, 4 * headWords, words);
    this.#calls = enterRing(channel);
    this.#driver = new ChannelDriver(channel, this.#calls, sendsItself);
    this.#bell = bell;
    this.#quietBell = quietBell;
    this.#sendsItself = sendsItself;
  }

  get born(): number {
    return this.#calls.born();
  }

  get stable(): number {
    return this.#calls.stable();
  }

  get origin(): number {
    return this.#origin;
  }

  get isFenced(): boolean {
    return Atomics.load(this.#words, Head.FENCED) === 1;
  }

  append(words: Int32Array, from: number, to: number): number {
    const room = this.#ring.length - wordsBetween(Atomics.load(this.#words, Head.FREED), this.#calls.born());
    const count = Math.min(room, to - from);
    if (count <= 0) return 0;
    // Others may append meanwhile: then there may be less room.
    if (!this.#lock(count)) return 0;
    copyIn(this.#ring, this.#words[Head.BORN]!, words, from, count);
    this.#publish(count);
    return count;
  }

  appendWith(first: Int32Array, count: number, others: Int32Array): number {
    const room = this.#ring.length - wordsBetween(Atomics.load(this.#words, Head.FREED), this.#calls.born());
    const taken = Math.min(room, count + others.length);
    if (taken <= count) return this.append(first, 0, count);
    if (!this.#lock(taken)) return 0;
    const born = this.#words[Head.BORN]!;
    copyIn(this.#ring, born, first, 0, count);
    copyIn(this.#ring, (born + count) | 0, others, 0, taken - count);
    this.#publish(taken);
    return taken;
  }

  /** All of them as one, so that words of no other thread stand between. Waits until there is room. */
  appendWhole(words: readonly number[]): void {
    const count = words.length;
    assert(count <= this.#ring.length, `${count} words at once`);
    while (!this.#lock(count)) this.#waitForRoom(count);
    const at = this.#words[Head.BORN]!;
    const mask = this.#ring.length - 1;
    for (let i = 0; i < count; i++) this.#ring[(at + i) & mask] = words[i]!;
    this.#publish(count);
  }

  /** The same for six words: allocates nothing. */
  append6(a: number, b: number, c: number, d: number, e: number, f: number): void {
    const outcome = this.#calls.append6(a, b, c, d, e, f);
    if (outcome !== Appended.DONE) this.appended6(outcome, [a, b, c, d, e, f]);
  }

  /** The same in two halves, for other WebAssembly: a call of channel-ring.wat, and the rest of it unless its outcome was DONE. */
  get appendCall6(): RingCalls["append6"] {
    return this.#calls.append6;
  }

  appended6(outcome: number, words: readonly number[]): void {
    if (outcome === Appended.CALL) this.#sayOrRing();
    else this.appendWhole(words);
  }

  take(into: Int32Array): number {
    const { incoming } = this.#driver;
    const count = incoming.take(into);
    if (count === 0) return 0;
    this.#tookLast = Math.max(count, this.#tookLast >> 2);
    this.#origin = incoming.takenOrigin;
    this.#hasTaken = true;
    return count;
  }

  get isEmpty(): boolean {
    return this.#driver.incoming.isEmpty;
  }

  /** A thread that has taken words looks again before it has used them: to find nothing takes a system call. What it appends it sends itself. */
  move(): void {
    if (this.#hasTaken && this.#sendsItself) {
      this.#hasTaken = false;
      return;
    }
    if (!this.#driver.drive()) ringBell(this.#bell);
  }

  /** Said at once: the thread may compute for long before it moves again, and the answer should be here then. */
  ask(): void {
    this.#driver.ask();
    this.#driver.say();
  }

  /** The thread waits until all words appended so far are stable. */
  urge(): void {
    const before = this.#calls.stable();
    this.move();
    if (this.#words[Head.CALLED] !== 0) Atomics.store(this.#words, Head.CALLED, 0);
    const stable = this.#calls.stable();
    // The answer may have been here already: who slept for it then would sleep in vain.
    this.#isWaiting = stable !== this.#calls.born();
    // Perhaps it is this core that the service waits for.
    if (stable === before) this.#yield();
  }

  /** Waits a moment for the service. */
  wait(): void {
    this.#driver.nap();
  }

  /** Can it sleep until it is woken, over these channels too? */
  canSleepOver(others: readonly ChannelThread[]): boolean {
    if (!this.#driver.canSleep) return false;
    for (const other of others) if (!other.#driver.canSleep || !this.#driver.watch(other.#driver)) return false;
    return true;
  }

  /** Until a service says something, the main thread wakes this one, or that long. */
  sleep(timeoutMs: number): void {
    this.#driver.sleep(timeoutMs);
  }

  /** Is something large on its way here, or there? */
  get isInBulk(): boolean {
    return this.#tookLast >= bulkWords || wordsBetween(this.#calls.stable(), this.#calls.born()) >= bulkUnstableWords;
  }

  /** For a rank that has nothing to do: waits a moment for the service, if it waits for that. False: it does not. */
  nap(): boolean {
    if (!this.#isWaiting) return false;
    this.#isWaiting = false;
    this.wait();
    return true;
  }

  get readyFd(): number {
    return this.#driver.readyFd;
  }

  /** Does it wait for the service? Asked once: it must say so again. */
  takeWaiting(): boolean {
    const isWaiting = this.#isWaiting;
    this.#isWaiting = false;
    return isWaiting;
  }

  #publish(count: number): void {
    const mustCall = this.#calls.publish(count) === Appended.CALL;
    // No other thread appends to such a channel, so nobody has relied on the call that is taken back.
    if (this.#sendsItself && this.#driver.say()) {
      if (mustCall) Atomics.store(this.#words, Head.CALLED, 0);
    } else if (mustCall) this.#sayOrRing();
  }

  #sayOrRing(): void {
    if (this.#sendsItself || !this.#driver.say()) ringBell(this.#quietBell);
  }

  /** With room for so many words. False: there is none. */
  #lock(room: number): boolean {
    for (let tries = 0; ; tries++) {
      const outcome = tries < triesMax ? this.#calls.lock(room) : this.#calls.lockOrSleep(room);
      if (outcome !== Appended.BUSY) return outcome === Appended.DONE;
      if (tries >= triesMax) Atomics.wait(this.#words, Head.LOCK, 2, sleepMsMax);
    }
  }

  #waitForRoom(room: number): void {
    const freed = Atomics.load(this.#words, Head.FREED);
    if (wordsBetween(freed, this.born) + room <= this.#ring.length) return;
    ringBell(this.#bell);
    Atomics.wait(this.#words, Head.FREED, freed, sleepMsMax);
  }
}
