/** A job on this terminal: events of the job go to standard error, signals are passed on, the summary comes last. */
import { constants } from "node:os";
import { countText, secondsText } from "../core/base/amounts.ts";
import { unreachable } from "../core/base/assert.ts";
import { CannotLaunch, type RunningJob } from "../real/job/launch.ts";
import type { JobEvent } from "../real/job/report/job-event.ts";
import type { JobResult } from "../real/job/report/job-report.ts";
import { CommandError, complain } from "./complain.ts";
import { type JobAnswer, type JobQuestion, moveOrder, openDoor } from "./job-door.ts";
import { JobScreen, type JobStreams } from "./job-screen.ts";
import { endWithParent } from "./parent-watch.ts";
import { recoveryText } from "./recovery-text.ts";
import { shellWord } from "./shell-word.ts";

interface FollowOptions {
  readonly quiet?: true;
  /** The folder that the job is frozen into, if it is to be frozen. */
  readonly jobDir?: string;
}

/** The signal that asks for checkpoints now. */
export const checkpointSignal = "SIGUSR2";

/** The signal that asks where the ranks are; Ctrl-\\ at a terminal. */
const whereaboutsSignal = "SIGQUIT";

/** The exit code. `start` is given the streams of the job. */
export async function follow(start: (streams: JobStreams) => RunningJob, options: FollowOptions): Promise<number> {
  const screen = new JobScreen({ isQuiet: options.quiet === true });
  const job = started(() => start(screen.streams));
  screen.begin(job);
  const stopListening = listenToSignals(job);
  const closeDoor = openDoor(answerOf(job));
  for await (const event of job) {
    screen.heard(event);
    report(event, screen);
  }
  const result = await job.done;
  screen.end();
  stopListening();
  closeDoor();
  if (options.quiet !== true) summarize(job, result, options);
  return result.code;
}

/** For `banyan ps`. */
function answerOf(job: RunningJob): (question: JobQuestion) => Promise<JobAnswer> {
  const sinceMs = Date.now();
  const command = process.argv.slice(2).join(" ");
  const { ranks, nodes, protocol } = job;
  return async (question) => {
    const table = question === "ranks" ? (await job.whereabouts()).table : null;
    const order = moveOrder(question);
    const obstacle = order === null ? "" : job.move(order);
    return { ranks, nodes, protocol, sinceMs, command, table, obstacle };
  };
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
  const isFrozen = reason.kind === "frozen" && code === 0;
  const end = isFrozen ? `frozen; go on with: banyan thaw ${shellWord(jobDir ?? "")}` : `exit ${code}`;
  const happened = [...(recovery === null ? [] : recoveryText(recovery)), ...summary];
  const job = `${countText(ranks, "rank")} on ${countText(nodes, "node")}, ${secondsText(afterMs)}, ${end}`;
  complain([job, ...happened].join("; "));
}

function report(event: JobEvent, screen: JobScreen): void {
  switch (event.kind) {
    case "failed": {
      if (event.reason.kind === "output-closed") return;
      const hint = event.reason.kind === "interrupted" ? "; once more ends it at once" : "";
      screen.write(`banyan: ${event.message}${hint}\n`);
      for (const line of event.details) screen.write(line === "" ? "\n" : `    ${line}\n`);
      // The message names the first frame already.
      if (event.frames.length > 1) screen.write(event.frames.map((frame) => `    ${frameText(frame)}\n`).join(""));
      return;
    }
    case "node-lost":
    case "rank-lost":
    case "moved":
    case "note":
      screen.write(`banyan: ${event.message}\n`);
      return;
    case "compiler":
      screen.write(event.text);
      return;
    case "whereabouts":
      screen.write(`banyan: where the ranks are after ${secondsText(event.afterMs)}:\n`);
      screen.write(event.table.map((line) => `${line}\n`).join(""));
      return;
    case "recovered":
      screen.remember(event);
      return;
    case "started":
    case "gathering":
    case "line":
    case "rank-ended":
    case "checkpoint":
    case "compiling":
    case "ended":
      return;
    default:
      unreachable(event);
  }
}

/** "… and 47 more of the same" is no frame. */
const frameText = (frame: string): string => (frame.startsWith("…") ? frame : `at ${frame}`);

function listenToSignals(job: RunningJob): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let interrupted = false;
  const heard = (signal: NodeJS.Signals): void => {
    job.kill(signal);
    // The nodes have been sent SIGKILL; nothing else is worth waiting for.
    if (interrupted)
      void Promise.race([job.done, pause(500)]).then(() => process.exit(128 + constants.signals[signal]));
    interrupted = true;
  };
  for (const signal of signals) process.on(signal, heard);
  const checkpoint = (): void => job.checkpoint();
  process.on(checkpointSignal, checkpoint);
  const tell = (): void => job.tellWhereabouts();
  process.on(whereaboutsSignal, tell);
  const stopWatching = endWithParent(() => heard("SIGHUP"));
  return () => {
    stopWatching();
    for (const signal of signals) process.off(signal, heard);
    process.off(checkpointSignal, checkpoint);
    process.off(whereaboutsSignal, tell);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
