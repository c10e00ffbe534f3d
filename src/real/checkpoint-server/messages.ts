/** Between the dispatcher and a checkpoint server. */

/** Nobody will ask for that checkpoint any more. */
export interface ToCheckpointServer {
  readonly kind: "drop";
  readonly set: number;
  readonly number: number;
}

/** It listens; or why it cannot. */
export interface FromCheckpointServer {
  readonly problem: string;
}
