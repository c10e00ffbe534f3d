/** Between the dispatcher and a checkpoint server. */
import type { JobSecret } from "../transport/handshake/handshake.ts";

/** The first message: whose images these are, and at which address of the machine nodes call. */
export interface CheckpointServerSetup {
  readonly kind: "setup";
  readonly job: JobSecret;
  readonly host: string;
}
/** Nobody will ask for that checkpoint any more. */
interface DropCheckpoint {
  readonly kind: "drop";
  readonly set: number;
  readonly number: number;
}
export type ToCheckpointServer = CheckpointServerSetup | DropCheckpoint;

interface Listens {
  readonly kind: "listens";
  readonly port: number;
}
/** It never will. */
interface CannotListen {
  readonly kind: "unable";
  readonly why: string;
}
export type FromCheckpointServer = Listens | CannotListen;
