/**
 * How a process waits. The loop of every blocking call is
 *
 *     while (!done()) if (progress()) waiting.reset(); else waiting.idle();
 *
 * and each `idle` does one more small thing: with a core for every rank it looks at the ring's next slot for a while (a
 * packet is seen within nanoseconds), then gives the core away a few times, then parks; with more ranks than cores it gives
 * the core away about 200 times, then parks. (Allreduce of 8 ranks on 2 cores: 5 µs by yielding, 42 and more by
 * parking, worse by spinning first.)
 *
 * Parking takes two calls. The first says "parked" in the bell and returns: the caller's loop now looks once more at
 * everything it could be waiting for, packets, room, gates, notices. The second sleeps. Whoever changes any of those
 * changes first and reads the bell then, so no wake-up is lost, and this file need not know what is being waited for.
 * Sleep is bounded all the same: should somebody forget to ring, we are late, not dead.
 */
import { Bell, Line, lineOf } from "../transport/layout.ts";
import type { NodeMemory } from "../transport/node-memory.ts";
import type { RingTransport } from "../transport/ring-transport.ts";
import { newYield } from "./yield.ts";

export interface WaitingOptions {
  /** More ranks than cores on this machine. */
  readonly crowded: boolean;
  /** Calls of the spin loop before the first yield, and looks in each: about 1.4 µs a call. */
  readonly spins?: number;
  readonly looks?: number;
  readonly yields?: number;
  readonly parkMsMax?: number;
}

/** Turns of the event loop that an `await` takes before it sleeps: a turn costs a microsecond or two, a wake-up ten. */
const turnsBeforeSleep = 50;

export class Waiting {
  readonly #ring: RingTransport;
  readonly #words: Int32Array;
  readonly #store: (address: number, value: number) => void;
  readonly #bell: number;
  readonly #yield: () => void;
  readonly #looks: number;
  /** Idle calls before these are spent are spins, then yields; then comes the park. */
  readonly #spinsEnd: number;
  readonly #yieldsEnd: number;
  readonly #parkMsMax: number;
  /** Idle calls since the last reset. */
  #idles = 0;
  #announced = false;
  /** How often this process slept: for tests and statistics. */
  parks = 0;

  constructor(node: NodeMemory, ring: RingTransport, options: WaitingOptions) {
    const { crowded, spins = crowded ? 0 : 30, looks = 1000, yields = crowded ? 200 : 30, parkMsMax = 100 } = options;
    this.#ring = ring;
    this.#words = node.words;
    this.#store = node.calls.store;
    this.#bell = lineOf(node.layout, node.process) + Line.BELL;
    this.#yield = newYield();
    this.#looks = looks;
    this.#spinsEnd = spins;
    this.#yieldsEnd = spins + yields;
    this.#parkMsMax = parkMsMax;
  }

  /** Nothing progressed: wait a little longer than last time. */
  idle(): void {
    const idles = this.#idles;
    if (idles < this.#yieldsEnd) {
      this.#idles = idles + 1;
      if (idles < this.#spinsEnd) this.#ring.spin(this.#looks);
      else this.#yield();
    } else this.#park();
  }

  /** Something progressed. */
  reset(): void {
    this.#idles = 0;
    if (this.#announced) this.#wake();
  }

  /**
   * The same for `await`: one more small wait that lets the event loop run meanwhile. First turns of the event loop, then the
   * bell is announced, then a sleep on it that resolves when it is rung.
   */
  async whenSomething(): Promise<void> {
    if (this.#idles < turnsBeforeSleep) {
      this.#idles++;
      return new Promise((resolve) => setImmediate(resolve));
    }
    if (!this.#announced) {
      this.#announced = true;
      this.#store(this.#bell, Bell.PARKED);
      return;
    }
    this.parks++;
    const rung = Atomics.waitAsync(this.#words, this.#bell >> 2, Bell.PARKED, this.#parkMsMax);
    if (rung.async) await rung.value;
    this.#wake();
  }

  #park(): void {
    if (!this.#announced) {
      this.#announced = true;
      this.#store(this.#bell, Bell.PARKED);
      return;
    }
    this.parks++;
    Atomics.wait(this.#words, this.#bell >> 2, Bell.PARKED, this.#parkMsMax);
    this.#wake();
  }

  #wake(): void {
    this.#announced = false;
    this.#store(this.#bell, Bell.AWAKE);
  }
}
