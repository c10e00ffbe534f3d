/** The call in which a program waits, as its binding knows it: asked of waits that have lasted long. */
import type { RecordId } from "../base/brand.ts";
import type { Communicator } from "../process/communicator.ts";

export interface WaitingCall {
  /** As the program's language calls it; empty: what is waited for tells. */
  readonly name: string;
  /** The requests that it waits for, if it waits for requests. */
  readonly requests: readonly RecordId[];
  /** One of them is enough. */
  readonly isOneEnough: boolean;
  /** The message that it looks for, by world rank; null: it is no probe. */
  readonly probe: { readonly peer: number; readonly tag: number; readonly context: number } | null;
}

/** What a binding tells about its program. */
export interface CallTeller {
  /** The name of a blocking receive. */
  readonly receive: string;
  /** Null: nothing is known. */
  waitingCall(): WaitingCall | null;
  /** The name that the program, or MPI, gave the communicator; empty: none. */
  nameOf(comm: Communicator): string;
}
