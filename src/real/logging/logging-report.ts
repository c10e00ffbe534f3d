/** What a job under message logging logged, captured and lived through: for its summary, and for whoever launched it. */
import type { Logged } from "../../core/ft/logging/logging-protocol.ts";

/** How long one checkpoint of a set took. */
export interface CheckpointTimes {
  readonly set: number;
  readonly number: number;
  /** From the stop of the first member, and of the last one, until nothing was under way in the set. */
  readonly settledMs: number;
  readonly barrierMs: number;
  /** From the wish until all members had been copied and went on; until all images were written; until they counted. */
  readonly capturedMs: number;
  readonly storedMs: number;
  readonly committedMs: number;
}

/** A loss that was made good. Times from the loss on. */
export interface RecoveryTimes {
  readonly ranks: readonly number[];
  /** Until the last of its ranks ran again. */
  readonly runningMs: number;
  /** Until the last of them had come as far as the life before. */
  readonly caughtUpMs: number;
}

export interface LoggingReport {
  /** Payload in the logs of senders, as far as ranks have come to their end. */
  readonly loggedBytes: number;
  readonly loggedMessages: number;
  /** What the event logger was given. */
  readonly determinantBytes: number;
  readonly checkpoints: number;
  /** Nodes that were lost and started again. */
  readonly restarts: number;
  readonly ranksRestarted: number;
  /** How often another event logger took the place of one that was lost. */
  readonly loggerRestarts: number;
  /** Undefined: the rank has not come to its end. */
  readonly perRank: readonly (Logged | undefined)[];
  /** The first of them. */
  readonly checkpointTimes: readonly CheckpointTimes[];
  readonly recoveries: readonly RecoveryTimes[];
}

export const bytesOf = ({ bytesTo }: Logged): number => bytesTo.reduce((sum, bytes) => sum + bytes, 0);
