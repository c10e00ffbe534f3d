/** Runs of a program in TypeScript for a determinism check: real jobs, in which messages are held back. */
import { sendRecord } from "../core/ft/send-record/definition.ts";
import type { RecordedRunNumbers } from "../core/ft/send-record/delayed-recorder.ts";
import type { SendEntries } from "../core/ft/send-record/send-log.ts";
import { CannotLaunch, type LaunchOptions, launch } from "../real/job/launch.ts";
import { type CheckedRun, type CheckOptions, keptOf, type MakeRun } from "./checked-run.ts";
import { CommandError } from "./complain.ts";

const lastLinesMax = 10;
/** Lines of a rank that are kept. */
const linesMax = 10_000;

export function realRuns(path: string, args: readonly string[], { ranks, nodes, first }: CheckOptions): MakeRun {
  return (run) => recordedJob(path, { ranks, nodes, args, protocol: sendRecord.name, run, seed: first });
}

async function recordedJob(path: string, options: LaunchOptions & RecordedRunNumbers): Promise<CheckedRun> {
  const { run, seed, ranks = 1 } = options;
  const printed = Array.from({ length: ranks }, (): string[] => []);
  const lastLines: string[] = [];
  let failure: string | null = null;
  const job = started(path, options);
  for await (const event of job) {
    if (event.kind === "failed") failure ??= event.message;
    if (event.kind === "compiler") process.stderr.write(event.text);
    if (event.kind !== "line") continue;
    lastLines.push(event.text);
    if (lastLines.length > lastLinesMax) lastLines.shift();
    const lines = event.rank === null || event.stream !== "stdout" ? undefined : printed[event.rank];
    if (lines !== undefined && lines.length < linesMax) lines.push(event.text);
  }
  const { code, protocol } = await job.done;
  if (code !== 0) failure ??= `the job ended with code ${code}`;
  const sends = printed.map((_, rank) => (protocol.ranks[rank] as SendEntries | undefined) ?? nothingSent);
  const made = { run, seed: seed + run, failure, lastLines, sends, calls: [], printed, hasReadInput: false };
  return { ...made, ...keptOf(sends) };
}

const nothingSent: SendEntries = { words: new Int32Array(0), count: 0 };

function started(path: string, options: LaunchOptions): ReturnType<typeof launch> {
  try {
    return launch(path, options);
  } catch (error) {
    if (error instanceof CannotLaunch) throw new CommandError(error.message, error.exitCode);
    throw error;
  }
}
