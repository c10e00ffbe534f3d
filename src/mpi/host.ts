/**
 * The services that the TypeScript API needs of the world it runs in. The real one is real/process/rank-host.ts. Its programs are never
 * stopped inside a call, so its waits always end with what was waited for.
 */
import type { RecordId } from "../core/base/brand.ts";
import type { HostWorld } from "../core/binding/world.ts";
import type { Communicator } from "../core/process/communicator.ts";

export interface Host extends HostWorld {
  /**
   * Returns when the gate of the communicator's board is open; throws PROC_FAILED when a member died, who may never come, and
   * REVOKED when the communicator is revoked. The board is not used again then.
   */
  waitForGate(comm: Communicator): void;
  /**
   * As `waitUntil`, for `await`: the thread's event loop goes on and is kept alive. `request`: what is waited for, for people who ask
   * where the rank is.
   */
  whenReady(isReady: () => boolean, request?: RecordId): Promise<void>;
  /** The program, or MPI, calls the communicator so; for people too. */
  named?(comm: Communicator, name: string): void;
  /** Ends the program in order, wherever it is. */
  exit(): never;
  /** Sets the result that `launch` gives to the program that started the job; rank 0's counts. */
  result(value: unknown): void;
  /** Images of the rank's correlated set are taken, with that state of its program; where no protocol uses them, nothing is. */
  checkpoint(state: Uint8Array): void;
  /** What was given to `checkpoint`, if the program began with an image; null: it did not. */
  restored(): Uint8Array | null;
  /** How many `await`s have not gone on. */
  readonly awaiting: number;
  /** Told of spans worth drawing while a trace is written; null otherwise. */
  readonly tracer: Tracer | null;
}

export interface Tracer {
  begin(name: string, peer: number, tag: number, bytes: number): void;
  end(): void;
}
