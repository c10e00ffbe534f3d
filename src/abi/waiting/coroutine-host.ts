/**
 * `CHost` of a C process that shares its thread with others. A wait stops the process inside the call (suspension.ts) as soon as another
 * one has something to do, and the world that runs the processes goes on with it when `Suspension.isReady` says so.
 */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { Now } from "../../core/binding/operations.ts";
import type { Process } from "../../core/process/process.ts";
import type { Spawner } from "../../core/process/spawner.ts";
import type { CHost } from "./host.ts";
import type { StopWord } from "./suspension.ts";

interface CoroutineHostOptions {
  readonly process: Process;
  readonly survivesDeaths: boolean;
  readonly processorName: string;
  readonly stop: StopWord;
  readonly spawner: Spawner;
  /**
   * Nothing moves here: shall another process have the thread? False: none has anything to do, and a moment has passed, perhaps the last
   * of the wait (`isOver`).
   */
  mustGiveWay(isOver: () => boolean): boolean;
  /** Of a wait that has lasted. */
  readonly whereabouts: { readonly sleeps: number; end(): void };
  /** Makes the process stop at its next capture point: `Suspension.givesWay`. */
  giveWay(): void;
  abort(code: number, message: string, members: readonly number[]): never;
  now(): number;
  moveClockTo(seconds: number): void;
}

/** Calls that look and go on, or read a clock: so many in a row, then others may have a turn. */
const looksMax = 32;

const never = (): boolean => false;

export class CoroutineHost implements CHost {
  readonly process: Process;
  readonly survivesDeaths: boolean;
  readonly processorName: string;
  readonly stop: StopWord;
  readonly spawner: Spawner;
  readonly #options: CoroutineHostOptions;
  #looks = 0;
  /** The request that the program waits for, or waited for last; −1: it waits for something else. */
  awaited = -1 as RecordId;
  /** The program does not wait, it looks. */
  isLooking = false;

  constructor(options: CoroutineHostOptions) {
    this.process = options.process;
    this.survivesDeaths = options.survivesDeaths;
    this.processorName = options.processorName;
    this.stop = options.stop;
    this.spawner = options.spawner;
    this.#options = options;
  }

  wait(request: RecordId): boolean {
    const { process } = this;
    const { engine } = process;
    this.awaited = request;
    while (!engine.isComplete(request)) if (!process.progress() && this.#options.mustGiveWay(never)) return false;
    this.#endOfWait();
    return true;
  }

  waitUntil(isReady: () => boolean): boolean {
    this.awaited = -1 as RecordId;
    while (!isReady()) if (!this.process.progress() && this.#options.mustGiveWay(isReady)) return false;
    this.#endOfWait();
    return true;
  }

  #endOfWait(): void {
    const { whereabouts } = this.#options;
    if (whereabouts.sleeps !== 0) whereabouts.end();
    this.process.openPass();
  }

  /** Without a message there is nothing that could tell whether one has come: the receive is posted. */
  receiveNow(to: Pointer, room: number, source: number, tag: number, context: number): number {
    const now = this.process.engine.receiveNow(to, room, source, tag, context);
    return now === Now.NOTHING ? Now.MUST_POST : now;
  }

  look(): void {
    if (!this.process.progress()) this.glance();
  }

  /** The program goes on, and may look again at once: after a while others have a turn, at the next capture point. */
  glance(): void {
    if (++this.#looks < looksMax) return;
    this.#looks = 0;
    this.isLooking = true;
    if (this.#options.mustGiveWay(never)) this.#options.giveWay();
    this.isLooking = false;
  }

  abort(code: number, message: string, members: readonly number[]): never {
    return this.#options.abort(code, message, members);
  }

  now(): number {
    this.glance();
    return this.#options.now();
  }

  moveClockTo(seconds: number): void {
    this.#options.moveClockTo(seconds);
  }
}
