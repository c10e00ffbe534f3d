/** The services that both faces of MPI need of the world their program runs in. */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { Process } from "../process/process.ts";
import type { Spawner } from "../process/spawner.ts";

/** A process, and how its program waits. */
export interface Waits {
  readonly process: Process;
  /** Waits until the request is complete. False: it is not, and the process shall stop inside this call (C programs only). */
  wait(request: RecordId): boolean;
  /** The same until `isReady` says so; progress is made meanwhile. */
  waitUntil(isReady: () => boolean): boolean;
  /**
   * A blocking receive on world ranks that posts nothing: one of `Now`, with the outcome in the engine's `last…` fields.
   * MUST_POST: only a posted receive can take the message. NOTHING: the process shall stop inside this call.
   */
  receiveNow(to: Pointer, room: number, source: number, tag: number, context: number): number;
  /** Progress for a call that only looks, as MPI_Test does: the program goes on, and may look again at once. */
  look(): void;
}

export interface HostWorld extends Waits {
  /** Does the job go on when processes die, so that the program can repair itself? The attribute MPI_FT. */
  readonly survivesDeaths: boolean;
  /** Name of the machine, fixed at the start. */
  readonly processorName: string;
  /** Starts other processes while the job runs. */
  readonly spawner: Spawner;
  /** Ends the whole job with that exit code; where deaths are survived, and members (world ranks) are given, only those. */
  abort(code: number, message: string, members: readonly number[]): never;
  /** Seconds since some moment in the past, MPI_Wtime. */
  now(): number;
  /** That clock shows that time now, or a later one: so much has passed in an earlier life. */
  moveClockTo(seconds: number): void;
}
