/** A rank's end of the ring of determinants: appends, and drives the connection to the event logger when it waits for it. */
import { assert } from "../../core/base/assert.ts";
import { determinantHeaderWords } from "../../core/ft/logging/determinant-entries.ts";
import type { DeterminantKind, DeterminantStream } from "../../core/ft/logging/determinant-stream.ts";
import { ring as ringBell } from "../node/node-words.ts";
import { newYield } from "../process/yield.ts";
import { Appended, enterRing, Head, headWords, type RingCalls, type SharedRing } from "./determinant-ring.ts";
import { StreamDriver } from "./stream-driver.ts";

/** Tries before a sleep: who has the lock keeps it for some twenty nanoseconds, unless the system takes its core away. */
const triesMax = 50;
/** A lost notification makes late, not dead. */
const sleepMsMax = 100;

export class DeterminantWriter implements DeterminantStream {
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #mask: number;
  readonly #driver: StreamDriver;
  readonly #yield = newYield();
  readonly #bell: Int32Array;
  readonly #quietBell: Int32Array;
  /** Somebody has waited since the last nap. */
  #isWaiting = false;

  /** `bell` for whoever waits, `quietBell` so that determinants set out before anybody does. */
  constructor(ring: SharedRing, bell: Int32Array, quietBell = bell) {
    this.#words = new Int32Array(ring.memory.buffer);
    this.#calls = enterRing(ring);
    this.#driver = new StreamDriver(ring, this.#calls);
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
    this.#isWaiting = true;
    const stable = this.#calls.stable();
    if (!this.#driver.drive()) ringBell(this.#bell);
    // Perhaps it is this core that the event logger waits for.
    if (this.#calls.stable() === stable) this.#yield();
  }

  /** For a rank that has nothing to do: waits a moment for the event logger, if it waits for that. False: it does not. */
  nap(): boolean {
    if (!this.#isWaiting) return false;
    this.#isWaiting = false;
    this.#driver.nap();
    return true;
  }

  /** Does it wait for the event logger? Asked once: it must say so again. */
  takeWaiting(): boolean {
    const isWaiting = this.#isWaiting;
    this.#isWaiting = false;
    return isWaiting;
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
