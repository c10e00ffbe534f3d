/**
 * What the TypeScript API needs of the world it runs in: the process, and how to wait. The real one is
 * real/process/rank-host.ts.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import type { Communicator } from "../core/process/communicator.ts";
import type { Process } from "../core/process/process.ts";

export interface Host {
  readonly process: Process;
  /** Name of the machine, fixed at the start. */
  readonly processorName: string;
  /** Returns when the request is complete; this thread waits. */
  wait(request: RecordId): void;
  /** Progress for a call that only looks, as `test` does: the program goes on, and may look again at once. */
  look(): void;
  /** Returns when `isReady` says so; progress is made meanwhile. */
  waitUntil(isReady: () => boolean): void;
  /**
   * Returns when the gate of the communicator's board is open; throws PROC_FAILED when a member died, who may never come, and
   * REVOKED when the communicator is revoked. The board is not used again then.
   */
  waitForGate(comm: Communicator): void;
  /** As `waitUntil`, for `await`: the thread's event loop goes on and is kept alive. */
  whenReady(isReady: () => boolean): Promise<void>;
  /** A blocking receive on world ranks; the outcome is in the engine's `last…` fields. */
  receive(to: Pointer, room: number, source: number, tag: number, context: number): void;
  /** Ends the whole job with that exit code. */
  abort(code: number, message: string): never;
  /** What `launch` gives to whoever started the job; rank 0's counts. */
  result(value: unknown): void;
  /** Images of the rank's correlated set are taken, with that state of its program; where no protocol uses them, nothing is. */
  checkpoint(state: Uint8Array): void;
  /** What was given to `checkpoint`, if the program began with an image; null: it did not. */
  restored(): Uint8Array | null;
  /** How many `await`s have not gone on. */
  readonly awaiting: number;
  /** Seconds since some moment in the past, MPI_Wtime. */
  now(): number;
  /** That clock shows that time now, or a later one: so much has passed in an earlier life. */
  moveClockTo(seconds: number): void;
  /** Told of spans worth drawing while a trace is written; null otherwise. */
  readonly tracer: Tracer | null;
}

export interface Tracer {
  begin(name: string, peer: number, tag: number, bytes: number): void;
  end(): void;
}
