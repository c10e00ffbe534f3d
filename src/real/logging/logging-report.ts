/** What a job under message logging logged, captured and lived through: for its summary, and for whoever launched it. */
import type { Logged } from "../../core/ft/logging/logging-protocol.ts";
import type { RecoveryReport } from "../../core/service/recovery.ts";

/** What message logging itself did. */
export interface LogVolumes {
  /** Payload in the logs of senders, as far as ranks have come to their end. */
  readonly loggedBytes: number;
  readonly loggedMessages: number;
  /** What the event logger was given. */
  readonly determinantBytes: number;
  /** How often another event logger took the place of one that was lost. */
  readonly loggerRestarts: number;
  /** Undefined: the rank has not come to its end. */
  readonly perRank: readonly (Logged | undefined)[];
}

export interface LoggingReport extends LogVolumes, RecoveryReport {
  /** Nodes that were lost and started again. */
  readonly restarts: number;
}

export const bytesOf = ({ bytesTo }: Logged): number => bytesTo.reduce((sum, bytes) => sum + bytes, 0);

export function volumesOf(
  perRank: readonly (Logged | undefined)[],
): Pick<LogVolumes, "loggedBytes" | "loggedMessages" | "perRank"> {
  const known = perRank.flatMap((logged) => logged ?? []);
  return {
    loggedBytes: known.reduce((sum, logged) => sum + bytesOf(logged), 0),
    loggedMessages: known.reduce((sum, { messages }) => sum + messages, 0),
    perRank,
  };
}
