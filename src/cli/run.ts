/** `banyan run`: one job, on this terminal. A shell around `launch`: options, signals, messages, exit code. */
import { constants } from "node:os";
import { Command } from "commander";
import { unreachable } from "../core/base/assert.ts";
import { secondsText } from "../real/service/failure-text.ts";
import type { JobEvent } from "../real/service/job-event.ts";
import { CannotLaunch, launch, type RunningJob } from "../real/service/launch.ts";
import type { CreateCommand } from "./commands.ts";
import { CommandError, complain, UsageError } from "./complain.ts";
import { endWithParent } from "./parent-watch.ts";
import { wholeNumber } from "./whole-number.ts";

interface RunOptions {
  readonly ranks: number;
  readonly nodes: number;
  readonly protocol: string;
  readonly label?: true;
  readonly trace?: string;
  readonly heap?: number;
  readonly memory?: number;
  readonly dir?: string[];
  readonly sandbox?: true;
  readonly port?: number;
  readonly timeout?: number;
  readonly heartbeat?: number;
  readonly patience?: number;
  readonly quiet?: true;
}

export const runCommand: CreateCommand = (finished) =>
  new Command("run")
    .description("Run a program (TypeScript, JavaScript, C, C++, or a module that `banyan cc` made) on several ranks.")
    .usage("[options] <program> [arguments of the program...]")
    .argument("<program>", "the program")
    .argument("[args...]", "all that follows is the program's own")
    .option("-n, --ranks <number>", "how many ranks", wholeNumber("--ranks"), 1)
    .option("--nodes <number>", "how many node processes hold them, in blocks", wholeNumber("--nodes"), 1)
    .option("--protocol <name>", "fault tolerance", "none")
    .option("-l, --label", "put the rank in front of each line")
    .option("--trace <file>", "write a trace for Perfetto or chrome://tracing")
    .option("--heap <MB>", "size of each rank's JavaScript heap", wholeNumber("--heap"))
    .option(
      "--memory <MB>",
      "size of each node's shared memory, of a C program each rank's own (default: 1024)",
      wholeNumber("--memory"),
    )
    .option(
      "--dir <folder>",
      "let a C program use this folder too (again for more)",
      (folder, all: string[]) => [...all, folder],
      [],
    )
    .option("--sandbox", "let a C program use no folder at all, not even the current one")
    .option(
      "--port <number>",
      "node i listens for the others on this port + i (default: free ones)",
      wholeNumber("--port"),
    )
    .option("--timeout <seconds>", "end the job after this long (exit code 124)", seconds)
    .option("--heartbeat <ms>", "how often nodes give a sign of life (default: 100)", wholeNumber("--heartbeat"))
    .option("--patience <ms>", "how long a silent node is waited for (default: 750)", wholeNumber("--patience"))
    .option("-q, --quiet", "no summary line")
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
Standard output carries what the program prints and nothing else; rank 0 reads standard input.
The exit code is that of the first rank that failed, of MPI_Abort, 128 + signal, 124 after a timeout, or 0.

Examples:
  banyan run -n 4 solver.ts 1000
  banyan run -n 4 solver.c 1000
  banyan run -n 8 --nodes 4 --label solver.ts --size 1000`,
    )
    .passThroughOptions()
    .action(async (program: string, args: string[], options: RunOptions) =>
      finished(await run(program, args, options)),
    );

async function run(program: string, args: string[], options: RunOptions): Promise<number> {
  const job = start(program, args[0] === "--" ? args.slice(1) : args, options);
  const stopListening = listenToSignals(job);
  for await (const event of job) report(event);
  const { code, afterMs, reason } = await job.done;
  stopListening();
  const { ranks, nodes, quiet } = options;
  const silent = quiet === true || reason.kind === "output-closed" || reason.kind === "unusable";
  if (!silent) complain(`${count(ranks, "rank")} on ${count(nodes, "node")}, ${secondsText(afterMs)}, exit ${code}`);
  return code;
}

function start(program: string, args: string[], options: RunOptions): RunningJob {
  const { ranks, nodes, protocol, trace, heap, memory, port, timeout, heartbeat, patience, label } = options;
  const folders = options.sandbox === true ? [] : [".", ...(options.dir ?? [])];
  try {
    return launch(program, {
      args,
      ranks,
      nodes,
      protocol,
      trace,
      label,
      heapMb: heap,
      memoryMb: memory,
      folders,
      port,
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
      heartbeatMs: heartbeat,
      patienceMs: patience,
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
    });
  } catch (error) {
    if (error instanceof CannotLaunch) throw new CommandError(error.message, error.exitCode);
    throw error;
  }
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
    case "note":
      complain(event.message);
      return;
    case "compiler":
      process.stderr.write(event.text);
      return;
    case "started":
    case "line":
    case "rank-ended":
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
  const stopWatching = endWithParent(() => heard("SIGHUP"));
  return () => {
    stopWatching();
    for (const signal of signals) process.off(signal, heard);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw new UsageError(`Cannot use "${text}" for --timeout: it must be a number of seconds`);
  return value;
}
