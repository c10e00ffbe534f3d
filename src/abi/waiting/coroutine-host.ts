/**
 * `Host` of a C process that shares its thread with others: it never waits. A wait that would have to wait stops the process
 * inside the call (suspension.ts), and whoever runs the processes goes on with it when `Suspension.isReady` says so.
 */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { Now } from "../../core/binding/operations.ts";
import type { Process } from "../../core/process/process.ts";
import { noSpawner, type Spawner } from "../../core/process/spawner.ts";
import type { Host } from "./host.ts";
import type { StopWord } from "./suspension.ts";

interface CoroutineHostOptions {
  readonly process: Process;
  readonly processorName: string;
  readonly stop: StopWord;
  /** Why it cannot spawn others: whoever waits for them would have to wait. */
  readonly spawnsNobody: string;
  abort(code: number, message: string): never;
  now(): number;
  moveClockTo(seconds: number): void;
}

export class CoroutineHost implements Host {
  readonly process: Process;
  readonly processorName: string;
  readonly stop: StopWord;
  readonly spawner: Spawner;
  readonly #options: CoroutineHostOptions;

  constructor(options: CoroutineHostOptions) {
    this.process = options.process;
    this.processorName = options.processorName;
    this.stop = options.stop;
    this.spawner = noSpawner(options.process.ranks, options.spawnsNobody);
    this.#options = options;
  }

  wait(request: RecordId): boolean {
    const { process } = this;
    while (!process.engine.isComplete(request)) if (!process.progress()) return false;
    return true;
  }

  waitUntil(isReady: () => boolean): boolean {
    while (!isReady()) if (!this.process.progress()) return false;
    return true;
  }

  /** Without a message there is nothing that could tell whether one has come: the receive is posted. */
  receiveNow(to: Pointer, room: number, source: number, tag: number, context: number): number {
    const now = this.process.engine.receiveNow(to, room, source, tag, context);
    return now === Now.NOTHING ? Now.MUST_POST : now;
  }

  /** Whoever runs the processes counts. */
  look(): void {
    this.process.progress();
  }

  abort(code: number, message: string): never {
    return this.#options.abort(code, message);
  }

  now(): number {
    return this.#options.now();
  }

  moveClockTo(seconds: number): void {
    this.#options.moveClockTo(seconds);
  }
}
