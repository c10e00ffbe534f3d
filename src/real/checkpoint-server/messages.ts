/** Between the dispatcher and a checkpoint server. */
import type { Job } from "../transport/handshake/handshake.ts";

/** The first message: whose images these are. */
interface CheckpointServerSetup {
  readonly kind: "setup";
  readonly job: Job;
}
/** Nobody will ask for that checkpoint any more. */
interface DropCheckpoint {
  readonly kind: "drop";
  readonly set: number;
  readonly number: number;
}
export type ToCheckpointServer = CheckpointServerSetup | DropCheckpoint;

/** It listens; or why it cannot. */
export interface FromCheckpointServer {
  readonly problem: string;
}
