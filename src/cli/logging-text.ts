/** What a job under message logging has lived through, in the words of the summary line. */

import type { LoggingReport } from "../real/logging/logging-report.ts";
import { secondsText } from "../real/service/failure-text.ts";

/** Parts of a sentence: losses and checkpoints only where there were any. */
export function loggingText(report: LoggingReport): string[] {
  const { restarts, ranksRestarted, recoveries, checkpoints, loggedBytes, determinantBytes, loggerRestarts } = report;
  const parts: string[] = [];
  if (ranksRestarted > 0) {
    const longestMs = Math.max(...recoveries.map(({ caughtUpMs }) => caughtUpMs));
    const time =
      recoveries.length === 0 ? "" : ` ${recoveries.length === 1 ? "in" : "within"} ${secondsText(longestMs)}`;
    // Those who share their set with nobody else of their node may fall without it.
    const nodes = restarts === 0 ? "" : `${count(restarts, "node")} lost, `;
    parts.push(`${nodes}${count(ranksRestarted, "rank")} restarted${time}`);
  }
  if (loggerRestarts > 0) parts.push(`event logger restarted ${times(loggerRestarts)}`);
  if (checkpoints > 0) parts.push(count(checkpoints, "checkpoint"));
  parts.push(`${sizeText(loggedBytes)} of messages and ${sizeText(determinantBytes)} of choices logged`);
  return parts;
}

function times(number: number): string {
  return number === 1 ? "once" : `${number} times`;
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Decimal units, two digits where that says more: 35 MB, 4.2 KB, 0 B. */
export function sizeText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
