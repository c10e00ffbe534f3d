/** The losses and restarts of a job, as words for the summary line. */
import { countText, secondsText, timesText } from "../core/base/amounts.ts";
import type { JobRecoveryReport } from "../real/job/report/job-report.ts";

/** Parts of a sentence; losses and checkpoints are named only if there were any. */
export function recoveryText({
  restarts,
  ranksRestarted,
  recoveries,
  checkpoints,
  moves,
}: JobRecoveryReport): string[] {
  const parts: string[] = [];
  if (ranksRestarted > 0) {
    const longestMs = Math.max(...recoveries.map(({ caughtUpMs }) => caughtUpMs));
    const time =
      recoveries.length === 0 ? "" : ` ${recoveries.length === 1 ? "in" : "within"} ${secondsText(longestMs)}`;
    // A set that is only a part of its node may be lost without the node.
    const nodes = restarts === 0 ? "" : `${countText(restarts, "node")} lost, `;
    parts.push(`${nodes}${countText(ranksRestarted, "rank")} restarted${time}`);
  }
  if (moves > 0) parts.push(`moved ${timesText(moves)}`);
  if (checkpoints > 0) parts.push(countText(checkpoints, "checkpoint"));
  return parts;
}
