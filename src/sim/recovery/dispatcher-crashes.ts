/**
 * Crashes of a simulated dispatcher: between two events, or in the middle of a record of its journal. Its successor knows what the
 * journal says. Orders on their way are lost or arrive late, as the seed says; a node that has heard from the successor refuses late
 * ones, which carry an older term (ADR 13).
 */
import type { Dispatcher } from "../../core/service/dispatcher.ts";
import type { JobRecord } from "../../core/service/job-record.ts";
import { type JobState, jobStateFrom } from "../../core/service/job-state.ts";
import { decodeJournal, encodeRecord } from "../../core/service/journal.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";

interface CrashOptions {
  readonly world: World;
  readonly random: Random;
  /** Longest time until a dispatcher that has crashed has a successor. */
  readonly restartNs: number;
}

interface CrashPorts {
  /** The dispatcher is gone, and everything on its way to it. */
  crashed(): void;
  /** A successor begins. */
  takeOver(): void;
  /** Is there nothing left that a crash could disturb? */
  isEnded(): boolean;
  /** The term that the node with that number has heard of; undefined: it is a suspect, and hears nothing. */
  termOf(node: number): number | undefined;
}

/** Orders that a dispatcher gives at one moment; the nodes look at them when they arrive. */
export interface Order {
  /** Was the dispatcher that gave it lost, and the order with it? */
  isLost(): boolean;
  /** Has another dispatcher's term begun since, or is there none? */
  isLate(): boolean;
  /** The order arrives at a node now: does the node carry it out? It refuses an order of an older term than it has heard of. */
  isTakenBy(node: number): boolean;
  /** How many deaths the dispatcher that gave it has declared. */
  deathsDeclared(): number;
}

/** The dispatcher is gone in the middle of a record. */
class Torn extends Error {}

export class DispatcherCrashes {
  /** How often the dispatcher has crashed; how often in the middle of a record; orders of an older term that nodes took or refused. */
  readonly counts = { all: 0, torn: 0, lateOrders: 0, refusedOrders: 0 };
  /** There is no dispatcher at the moment. */
  isDown = false;
  readonly #options: CrashOptions;
  readonly #ports: CrashPorts;
  readonly #journal: number[] = [];
  /** Will the next record be torn? */
  #isTearing = false;
  /** Is the dispatcher in the middle of an event? */
  #isBusy = false;
  /** By crash: do the orders that were on their way arrive? */
  readonly #ordersArrive: boolean[] = [];

  constructor(options: CrashOptions, ports: CrashPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** The dispatcher writes a record to its journal. */
  write(record: JobRecord): void {
    const bytes = encodeRecord(record);
    if (this.#isTearing) {
      this.#journal.push(...bytes.subarray(0, this.#options.random.below(bytes.length)));
      throw new Torn();
    }
    this.#journal.push(...bytes);
  }

  /** What the journal says. A torn end is cut off. */
  written(): JobState {
    const read = decodeJournal(Uint8Array.from(this.#journal));
    if (read.kind === "damaged") throw new Error(read.problem);
    this.#journal.length = read.bytes;
    return jobStateFrom(read.records);
  }

  /** One event of the dispatcher, if there is one; events inside of it are part of it. A torn record ends it and the dispatcher. */
  event(act: () => void): void {
    if (this.isDown) return;
    const isInside = this.#isBusy;
    this.#isBusy = true;
    try {
      act();
    } catch (error) {
      if (!(error instanceof Torn) || isInside) throw error;
      this.counts.torn++;
      this.#crashed();
    } finally {
      this.#isBusy = isInside;
    }
  }

  /** The dispatcher crashes now, or in the middle of the next record that it writes. */
  crash(): void {
    const { world, random } = this.#options;
    if (this.isDown || this.#ports.isEnded()) return;
    this.#isTearing = random.chance(0.5);
    if (this.#isTearing) return;
    // Between two events, not in the middle of this one.
    world.plan(world.nowNs, () => {
      if (!this.isDown && !this.#ports.isEnded()) this.#crashed();
    });
  }

  #crashed(): void {
    const { world, random, restartNs } = this.#options;
    this.counts.all++;
    this.#ordersArrive.push(random.chance(0.5));
    this.isDown = true;
    this.#isTearing = false;
    this.#ports.crashed();
    world.trace.note(world.nowNs, "dispatcher crashed", []);
    world.plan(world.nowNs + random.below(restartNs + 1), () => {
      this.isDown = false;
      this.#ports.takeOver();
    });
  }

  /** That dispatcher, the present one, gives an order. */
  order({ state }: Dispatcher): Order {
    const { term } = state;
    const { counts } = this;
    const crashes = counts.all;
    const isLate = (): boolean => crashes !== counts.all;
    return {
      isLate,
      isLost: () => isLate() && !this.#ordersArrive[crashes]!,
      isTakenBy: (node) => {
        const heard = this.#ports.termOf(node);
        if (heard === undefined) return false;
        const isTaken = heard <= term;
        if (isLate()) counts[isTaken ? "lateOrders" : "refusedOrders"]++;
        return isTaken;
      },
      deathsDeclared: () => state.deaths.length,
    };
  }
}
