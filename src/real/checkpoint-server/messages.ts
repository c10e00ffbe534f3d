/** Messages between the dispatcher and a checkpoint server. */
import type { JobSecret } from "../transport/handshake/handshake.ts";

/** The first message: the job, and the address of this machine at which nodes call. */
export interface CheckpointServerSetup {
  readonly kind: "setup";
  readonly job: JobSecret;
  readonly host: string;
}
/** No node will ask for that checkpoint any more. */
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
/** It cannot listen, now or later. */
interface CannotListen {
  readonly kind: "unable";
  readonly why: string;
}
export type FromCheckpointServer = Listens | CannotListen;
