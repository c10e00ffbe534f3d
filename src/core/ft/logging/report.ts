/** Amounts that ranks under message logging have put into logs, for the summary of a job and for its launcher. */
import { sizeText, timesText } from "../../base/amounts.ts";
import type { ProtocolReport } from "../definition.ts";

/** Amounts that a process has put into logs, in all of its life that its image knows of. */
export interface Logged {
  /** Payload, by the set of the receiver. */
  readonly bytesTo: readonly number[];
  readonly messages: number;
  readonly determinantBytes: number;
}

/** Of the part for the job. */
export interface LoggingJobReport {
  /** In all streams that the event logger was given. */
  readonly determinantBytes: number;
  /** How often another event logger took the place of one that was lost. */
  readonly loggerRestarts: number;
}

export interface LoggingReport extends LoggingJobReport {
  /** Payload in the logs of senders, as far as ranks have come to their end. */
  readonly loggedBytes: number;
  readonly loggedMessages: number;
  /** Undefined: the rank has not come to its end. */
  readonly perRank: readonly (Logged | undefined)[];
}

export function loggingReport({ ranks, job }: ProtocolReport): LoggingReport {
  const perRank = ranks as readonly (Logged | undefined)[];
  const known = perRank.flatMap((logged) => logged ?? []);
  return {
    ...(job as LoggingJobReport),
    loggedBytes: known.reduce((sum, { bytesTo }) => sum + bytesTo.reduce((total, bytes) => total + bytes, 0), 0),
    loggedMessages: known.reduce((sum, { messages }) => sum + messages, 0),
    perRank,
  };
}

export function summaryOf(report: ProtocolReport): string[] {
  const { loggedBytes, determinantBytes, loggerRestarts } = loggingReport(report);
  const logged = `${sizeText(loggedBytes)} of messages and ${sizeText(determinantBytes)} of choices logged`;
  return loggerRestarts === 0 ? [logged] : [`event logger restarted ${timesText(loggerRestarts)}`, logged];
}
