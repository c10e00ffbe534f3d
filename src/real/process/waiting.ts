/**
 * How a process waits. The loop of every blocking call is
 *
 *     while (!done()) if (progress()) waiting.reset(); else waiting.idle();
 *
 * and each `idle` does one more small thing. With a core for every rank it polls the ring's next slot for a while (a packet is
 * seen within nanoseconds); after a few microseconds it gives the core away between polls, which costs 0.4 µs on an idle
 * machine and saves much on a busy one (8 bytes between two ranks, the machine busy with other programs: 4 µs, 25 with spins of
 * 40 µs); then it parks. Where the first yield of a wait finds that another thread wants the core, the next waits do not spin (ADR 64). With more ranks than cores it gives the core away about 200 times, 50 where others are on other nodes, then parks. (Allreduce of 8 ranks
 * on 2 cores: 5 µs by yielding, 42 and more by parking, worse by spinning first. 4 ranks on 2 nodes and 2 cores, two exchanges
 * a step: 17 to 23 µs with anything from 5 to 5000 yields, 33 with none.)
 *
 * Parking takes two calls. The first writes "parked" into the bell and returns: the caller's loop then polls everything it
 * could be waiting for once more, packets, room, gates, notices. The second sleeps. A writer of any of these writes first and
 * then reads the bell, so no wake-up is lost, and this file need not know the awaited event. Sleep is bounded all the same: if
 * a writer forgets to ring, the process is late, not dead.
 */

import { SharedCore } from "../machine/shared-core.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { newYield } from "../machine/yield.ts";
import { Bell, Line, lineOf } from "../transport/layout.ts";
import type { NodeMemory } from "../transport/node-memory.ts";

/** The object of the polls while spinning: the ring, or the ring and the sockets. True: a packet is there, or on its way. */
interface Spinner {
  spin(looks: number): boolean;
}

/** Sockets: a process with sockets cannot sleep on its bell alone. */
interface Sleeper {
  /** True: `sleep` wakes for a socket as well as for the bell (`Bell.PARKED_ELSEWHERE`). May change at every poll. */
  readonly canSleep: boolean;
  /** Otherwise: the longest sleep on the bell before the sockets must be polled again. Asked once for each sleep. */
  nextNapMs(): number;
  sleep(timeoutMs: number): void;
  /**
   * Calls back once when a socket can be read, from the event loop; the returned function ends the watch. `null`: not possible,
   * so nap.
   */
  onReady(callback: () => void): (() => void) | null;
}

/** A source of events that rings no bell. */
export interface Napper {
  /** Sleeps on the source for a moment, if the process has waited for it since the last time. False: it has not. */
  nap(): boolean;
  /** Has the process waited for the source since the last time? */
  takeWaiting(): boolean;
  /** A descriptor that can be read when the source has something, for a sleep over other things as well; −1 or not there: none now. */
  readonly readyFd?: number;
  /** A longer sleep that the process's bell ends too (`Bell.PARKED_ELSEWHERE`); not there, or `canSleep` is false: naps are all there is. */
  readonly canSleep?: boolean;
  sleep?(timeoutMs: number): void;
  /** Much is on its way from or to the source, whose process wants a core for that: a sleep is better than a spin. */
  readonly isInBulk?: boolean;
  /** Processes of a service from which all that this one waits for comes, each of which wants a core too. None unless given. */
  readonly services?: number;
}

interface WaitingOptions {
  /** More ranks than cores on this machine. */
  readonly crowded: boolean;
  /** Calls of the spin loop before the first yield, and polls in each: about 1.4 µs a call. None when crowded. */
  readonly spins?: number;
  readonly looks?: number;
  readonly yields?: number;
  readonly parkMsMax?: number;
  readonly sleeper?: Sleeper | null;
  readonly napper?: Napper | null;
  readonly core?: SharedCore;
  /** A little work for later, done each time the core was given away; false: there is none. */
  readonly prepare?: (() => boolean) | undefined;
}

/**
 * Where all comes from a service, and cores are fewer than processes: it must have one to do anything. (8 bytes there and back through a channel
 * memory that looks 50 times before it sleeps, 2 ranks on 2 cores: 93 to 102 µs with 10 to 40 yields, 130 with none, 3 or 100; with 20 or 25 looks 131 to 138; ADR 68.)
 */
const yieldsBeforeService = 20;
/**
 * Only where that is of use: after so many waits in a row that were short. A rank that waits for long, or one whose answers come while others compute, sleeps at once: its looks would
 * take the core from them. (A master that hands out rows of a picture to 3 workers on 2 cores: ADR 74.)
 */
const shortWaitMs = 0.3;
const shortWaitsMin = 4;

/**
 * More ranks than cores, on several nodes. Linux makes a scheduling group of each session, which a node is: a yield gives no other node the core. (cg of class A, two replicas on 2 cores: 2.30 to 2.35 s with anything from 2 to 50 yields,
 * 2.40 to 2.55 with 200, 2.39 with none; where replicas compare messages and wait for each other 2.65 to 2.77, 2.94 to 3.09, 2.97 to 3.05.)
 */
const yieldsAmongNodes = 50;

/** With sockets: a megabyte takes 150 µs to another node, and a sleeping core needs up to 50 µs to wake. */
const spinsWithSockets = 200;
const yieldsWithSockets = 1000;

/**
 * Glances between two that give the core away. (HPL of order 1000 with 4 ranks on 2 cores, which polls for its panels: 0.3 s
 * with anything from 1 to 200, 1.0 to 1.6 s without. RandomAccess, which polls before every update: half as fast with 1.)
 */
const glancesPerYield = 100;

/** Turns of the event loop that an `await` takes before it sleeps: a turn costs a microsecond or two, a wake-up ten. */
const turnsBeforeSleep = 50;

export class Waiting {
  readonly #spinner: Spinner;
  readonly #sleeper: Sleeper | null;
  readonly #napper: Napper | null;
  readonly #words: Int32Array;
  readonly #store: (address: number, value: number) => void;
  readonly #bell: number;
  readonly #yield: () => void;
  readonly #looks: number;
  /** Idle calls up to these counts are spins, then yields; then comes the park. */
  readonly #spinsEnd: number;
  #yieldsEnd: number;
  /** The same after waits that were short, and after others; differ only where all comes from a service. */
  readonly #yieldsEndShort: number;
  readonly #yieldsEndLong: number;
  /** Waits in a row that were short; and when the first nap of the present one began. */
  #shortWaits = 0;
  #nappedMs = 0;
  readonly #parkMsMax: number;
  readonly #core: SharedCore;
  readonly #prepare: (() => boolean) | undefined;
  /** Idle calls since the last reset; those that were left out count as well. */
  #idles = 0;
  /** Glances since the last that gave the core away. */
  #glances = 0;
  /** The bell's value when the process is about to sleep; AWAKE: not yet announced. */
  #announced: number = Bell.AWAKE;
  /** Naps since the last reset: what comes soon ends the first one, before any bell is announced. */
  #naps = 0;
  /** How often this process slept: for tests and statistics. */
  parks = 0;

  constructor(node: NodeMemory, spinner: Spinner, options: WaitingOptions) {
    const { crowded, sleeper = null, napper = null, looks = 1000, parkMsMax = 100 } = options;
    const { spins = crowded ? 0 : sleeper === null ? 4 : spinsWithSockets } = options;
    const yieldsAmongRanks = sleeper === null ? 200 : yieldsAmongNodes;
    const yieldsCrowded = (napper?.services ?? 0) > 0 ? yieldsBeforeService : yieldsAmongRanks;
    const { yields = crowded ? yieldsCrowded : sleeper === null ? 100 : yieldsWithSockets } = options;
    this.#spinner = spinner;
    this.#sleeper = sleeper;
    this.#napper = napper;
    this.#words = node.words;
    this.#store = node.calls.store;
    this.#bell = lineOf(node.layout, node.process) + Line.BELL;
    this.#core = options.core ?? new SharedCore();
    this.#prepare = options.prepare;
    this.#yield = newYield();
    this.#looks = looks;
    this.#spinsEnd = spins;
    this.#yieldsEndShort = spins + yields;
    this.#yieldsEndLong = crowded && (napper?.services ?? 0) > 0 ? spins : this.#yieldsEndShort;
    this.#yieldsEnd = this.#yieldsEndShort;
    this.#parkMsMax = parkMsMax;
  }

  /** Nothing progressed: waits a little longer than last time. */
  idle(): void {
    const idles = this.#idles === 0 && this.#core.isShared ? this.#spinsEnd : this.#idles;
    if (idles < this.#yieldsEnd && this.#napper?.isInBulk !== true) {
      this.#idles = idles + 1;
      if (idles > this.#spinsEnd || this.#spinsEnd === 0) {
        this.#yield();
        this.#prepare?.();
      } else if (idles === this.#spinsEnd) this.#yieldFirst();
      else if (this.#spinner.spin(this.#looks)) this.#idles = 0;
    } else this.#park();
  }

  /** The first of a wait tells whether spins are in another thread's way. */
  #yieldFirst(): void {
    const startMs = steadyMs();
    this.#yield();
    this.#core.yielded(steadyMs() - startMs);
  }

  /**
   * Nothing progressed, and the program goes on, perhaps to poll again: a loop of MPI_Test or MPI_Iprobe would keep the core
   * from the awaited peers until the system takes it away, milliseconds later. True: it gave the core away.
   */
  glance(): boolean {
    if (++this.#glances < glancesPerYield) return false;
    this.#glances = 0;
    this.#yield();
    return true;
  }

  /** Something progressed. */
  reset(): void {
    if (this.#idles + this.#naps > 0 && this.#yieldsEndLong < this.#yieldsEndShort) this.#judge();
    this.#idles = 0;
    this.#naps = 0;
    if (this.#announced !== Bell.AWAKE) this.#wake();
  }

  /** A wait is over: shall the next one begin with looks? */
  #judge(): void {
    const isShort = this.#naps === 0 || steadyMs() - this.#nappedMs < shortWaitMs;
    this.#shortWaits = isShort ? this.#shortWaits + 1 : 0;
    this.#yieldsEnd = this.#shortWaits >= shortWaitsMin ? this.#yieldsEndShort : this.#yieldsEndLong;
  }

  /**
   * The same for `await`: one more small wait that lets the event loop run. First turns of the event loop, then the bell is
   * announced, then a sleep on it that resolves when the bell rings.
   */
  async whenSomething(): Promise<void> {
    if (this.#idles < turnsBeforeSleep) {
      this.#idles++;
      return new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#napper?.takeWaiting()) return new Promise((resolve) => setTimeout(resolve, 1));
    if (this.#announced === Bell.AWAKE) return this.#announce(Bell.PARKED);
    this.parks++;
    await this.#rungOrReady();
    this.#wake();
  }

  async #rungOrReady(): Promise<void> {
    let unwatch: (() => void) | null = null;
    const ready = new Promise<void>((resolve) => {
      unwatch = this.#sleeper?.onReady(resolve) ?? null;
    });
    const timeoutMs = unwatch === null ? this.#napMs() : this.#parkMsMax;
    const rung = Atomics.waitAsync(this.#words, this.#bell >> 2, Bell.PARKED, timeoutMs);
    if (rung.async) await Promise.race([rung.value, ready]);
    (unwatch as (() => void) | null)?.();
    // A forgotten waiter would swallow the next ring.
    if (rung.async) Atomics.notify(this.#words, this.#bell >> 2);
  }

  #napMs(): number {
    return Math.min(this.#parkMsMax, this.#sleeper?.nextNapMs() ?? Number.POSITIVE_INFINITY);
  }

  #announce(bell: number): void {
    this.#announced = bell;
    this.#store(this.#bell, bell);
  }

  #park(): void {
    const napper = this.#naps > 0 && this.#napper?.canSleep === true ? this.#napper : null;
    if (this.#naps === 0 && this.#napper !== null) this.#nappedMs = steadyMs();
    if (napper === null && this.#napper?.nap()) {
      this.#naps++;
      this.parks++;
      return;
    }
    const place = napper !== null || this.#sleeper?.canSleep ? Bell.PARKED_ELSEWHERE : Bell.PARKED;
    // Also when the first socket has come since the announcement: the bell would not wake the process for it.
    if (this.#announced !== place) {
      this.#announce(place);
      return;
    }
    this.parks++;
    if (napper !== null) napper.sleep!(this.#parkMsMax);
    else if (place === Bell.PARKED_ELSEWHERE) this.#sleeper!.sleep(this.#parkMsMax);
    else Atomics.wait(this.#words, this.#bell >> 2, Bell.PARKED, this.#napMs());
    this.#wake();
  }

  #wake(): void {
    this.#announced = Bell.AWAKE;
    this.#store(this.#bell, Bell.AWAKE);
  }
}
