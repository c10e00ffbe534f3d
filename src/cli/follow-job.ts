/** A job on this terminal: what happens to it is said on standard error, signals are passed on, the summary comes last. */
import { constants } from "node:os";
import { countText } from "../core/base/amounts.ts";
import { unreachable } from "../core/base/assert.ts";
import { secondsText } from "../real/service/failure-text.ts";
import type { JobEvent } from "../real/service/job-event.ts";
import type { JobResult } from "../real/service/job-report.ts";
import { CannotLaunch, type RunningJob } from "../real/service/launch.ts";
import { CommandError, complain } from "./complain.ts";
import { endWithParent } from "./parent-watch.ts";
import { recoveryText } from "./recovery-text.ts";

interface FollowOptions {
  readonly quiet?: true;
  /** Where the job is frozen to, if it is. */
  readonly jobDir?: string;
}

/** Means: take checkpoints now. */
export const checkpointSignal = "SIGUSR2";

/** The exit code. */
export async function follow(start: () => RunningJob, options: FollowOptions): Promise<number> {
  const job = started(start);
  const stopListening = listenToSignals(job);
  for await (const event of job) report(event);
  const result = await job.done;
  stopListening();
  if (options.quiet !== true) summarize(job, result, options);
  return result.code;
}

function started(start: () => RunningJob): RunningJob {
  try {
    return start();
  } catch (error) {
    if (error instanceof CannotLaunch) throw new CommandError(error.message, error.exitCode);
    throw error;
  }
}

function summarize(
  { ranks, nodes }: RunningJob,
  { code, afterMs, reason, recovery, summary }: JobResult,
  { jobDir }: FollowOptions,
): void {
  if (reason.kind === "output-closed" || reason.kind === "unusable") return;
  const end = reason.kind === "frozen" && code === 0 ? `frozen; go on with: banyan thaw ${jobDir}` : `exit ${code}`;
  const happened = [...(recovery === null ? [] : recoveryText(recovery)), ...summary];
  const job = `${countText(ranks, "rank")} on ${countText(nodes, "node")}, ${secondsText(afterMs)}, ${end}`;
  complain([job, ...happened].join("; "));
}

function report(event: JobEvent): void {
  switch (event.kind) {
    case "failed": {
      if (event.reason.kind === "output-closed") return;
      const hint = event.reason.kind === "interrupted" ? "; once more ends it at once" : "";
      complain(`${event.message}${hint}`);
      for (const line of event.details) process.stderr.write(line === "" ? "\n" : `    ${line}\n`);
      // One frame is in the message already.
      if (event.frames.length > 1) process.stderr.write(event.frames.map((frame) => `    at ${frame}\n`).join(""));
      return;
    }
    case "node-lost":
    case "rank-lost":
    case "note":
      complain(event.message);
      return;
    case "compiler":
      process.stderr.write(event.text);
      return;
    case "started":
    case "line":
    case "rank-ended":
    case "checkpoint":
    case "recovered":
    case "ended":
      return;
    default:
      unreachable(event);
  }
}

function listenToSignals(job: RunningJob): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let interrupted = false;
  const heard = (signal: NodeJS.Signals): void => {
    job.kill(signal);
    // The nodes have SIGKILL; whatever else is still to be done is not worth waiting for.
    if (interrupted)
      void Promise.race([job.done, pause(500)]).then(() => process.exit(128 + constants.signals[signal]));
    interrupted = true;
  };
  for (const signal of signals) process.on(signal, heard);
  const checkpoint = (): void => job.checkpoint();
  process.on(checkpointSignal, checkpoint);
  const stopWatching = endWithParent(() => heard("SIGHUP"));
  return () => {
    stopWatching();
    for (const signal of signals) process.off(signal, heard);
    process.off(checkpointSignal, checkpoint);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
