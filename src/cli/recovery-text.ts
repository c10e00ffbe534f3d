/** What a job in which the lost are started again has lived through, in the words of the summary line. */
import { countText } from "../core/base/amounts.ts";
import { secondsText } from "../real/service/failure-text.ts";
import type { JobRecoveryReport } from "../real/service/job-report.ts";

/** Parts of a sentence: losses and checkpoints only where there were any. */
export function recoveryText({ restarts, ranksRestarted, recoveries, checkpoints }: JobRecoveryReport): string[] {
  const parts: string[] = [];
  if (ranksRestarted > 0) {
    const longestMs = Math.max(...recoveries.map(({ caughtUpMs }) => caughtUpMs));
    const time =
      recoveries.length === 0 ? "" : ` ${recoveries.length === 1 ? "in" : "within"} ${secondsText(longestMs)}`;
    // Those who share their set with nobody else of their node may fall without it.
    const nodes = restarts === 0 ? "" : `${countText(restarts, "node")} lost, `;
    parts.push(`${nodes}${countText(ranksRestarted, "rank")} restarted${time}`);
  }
  if (checkpoints > 0) parts.push(countText(checkpoints, "checkpoint"));
  return parts;
}
