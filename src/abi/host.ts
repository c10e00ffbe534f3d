/** What the C binding needs of the world it runs in. */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import type { Process } from "../core/process/process.ts";

export interface Host {
  readonly process: Process;
  /** Name of the machine, fixed at the start. */
  readonly processorName: string;
  /** Returns when the request is complete; this thread waits. */
  wait(request: RecordId): void;
  /** Returns when `isReady` says so; progress is made meanwhile. */
  waitUntil(isReady: () => boolean): void;
  /** A blocking receive on world ranks; the outcome is in the engine's `last…` fields. */
  receive(to: Pointer, room: number, source: number, tag: number, context: number): void;
  /** Ends the whole job with that exit code. */
  abort(code: number, message: string): never;
  /** Seconds since some moment in the past, MPI_Wtime. */
  now(): number;
}
