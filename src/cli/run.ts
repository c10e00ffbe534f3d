/** `banyan run`: one job, on this terminal. A shell around `launch`. */
import { Command, Option } from "commander";
import { cacheFolder } from "../cc/cache.ts";
import { protocolNames } from "../core/ft/protocol-named.ts";
import { protocolDefault } from "../core/ft/registry.ts";
import { launch, type RunningJob } from "../real/job/launch.ts";
import type { CreateCommand } from "./create-command.ts";
import { duration } from "./duration.ts";
import { environmentGiven } from "./environment-given.ts";
import { readFaultPlan } from "./fault-plan.ts";
import { follow } from "./follow-job.ts";
import { sayable } from "./odd-name.ts";
import { addProtocolOptions, protocolExamples, protocolsHelp, protocolValues } from "./protocol-options.ts";
import { wholeNumber } from "./whole-number.ts";

interface RunOptions {
  readonly ranks: number;
  readonly nodes: number;
  readonly protocol: string;
  /** Values of options that protocols added. */
  readonly [option: string]: unknown;
  readonly label?: true;
  readonly trace?: string;
  readonly heap?: number;
  readonly memory?: number;
  readonly dir?: string[];
  readonly sandbox?: true;
  readonly env: string[];
  readonly port?: number;
  readonly timeout?: number;
  readonly heartbeat?: number;
  readonly patience?: number;
  readonly ranksPerThread?: number;
  readonly freezeAt?: number;
  readonly faults?: string;
  readonly keepSuspects?: true;
  readonly jobDir?: string;
  readonly quiet?: true;
  readonly host?: string;
  readonly nodeCommand?: string;
}

export const runCommand: CreateCommand = (finished) =>
  addProtocolOptions(new Command("run"))
    .description("Run a program (TypeScript, JavaScript, C, C++, or a module that `banyan cc` made) on several ranks.")
    .usage("[options] <program> [arguments of the program...]")
    .argument("<program>", "the program")
    .argument("[args...]", "all that follows is the program's own")
    .option("-n, --ranks <number>", "how many ranks", wholeNumber("--ranks"), 1)
    .option("--nodes <number>", "how many node processes hold them, in blocks", wholeNumber("--nodes"), 1)
    .option("--protocol <name>", `fault tolerance: ${protocolNames.join(", ")}`, protocolDefault.name)
    .option("--faults <plan>", "make things go wrong: a fault plan, or @file that holds one (docs/faults.md)")
    .option("--keep-suspects", "leave nodes alive that are taken for dead because of their silence")
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
    .option(
      "--sandbox",
      "let a C program use no folder but those of --dir, not even the current one, and see no variable but those of --env",
    )
    .option(
      "--env <NAME=value>",
      "put this into the environment of a C program; NAME alone: as it is here (again for more)",
      (variable, all: string[]) => [...all, variable],
      [],
    )
    .option(
      "--port <number>",
      "node i listens for the others on this port + i (default: free ones)",
      wholeNumber("--port"),
    )
    .option("--timeout <time>", "end the job after this long (exit code 124)", duration("--timeout"))
    .option(
      "--ranks-per-thread <number>",
      "let so many ranks of a C program take turns in a thread (default: as many as give each core one thread)",
      wholeNumber("--ranks-per-thread"),
    )
    .option(
      "--freeze-at <time>",
      "stop a C program this long after its start and write images of its ranks",
      duration("--freeze-at"),
    )
    .option(
      "--job-dir <folder>",
      "keep there what outlives the command: journal, checkpoints, the frozen job (default: a temporary folder)",
    )
    .option("--heartbeat <ms>", "how often nodes give a sign of life (default: 100)", wholeNumber("--heartbeat"))
    .option("--patience <ms>", "how long a silent node is waited for (default: 750)", wholeNumber("--patience"))
    .option("-q, --quiet", "no summary line")
    // For nodes that are started in namespaces of their own, and for tests (docs/control-link.md).
    .addOption(new Option("--host <address>").hideHelp())
    .addOption(new Option("--node-command <words>").hideHelp())
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
Standard output carries what the program prints and nothing else; rank 0 reads standard input.
The exit code is that of the first rank that failed, of MPI_Abort, 128 + signal, 124 after a timeout, or 0.

Protocols:
${protocolsHelp()}

Examples:
  banyan run -n 4 solver.ts 1000
  banyan run -n 4 solver.c 1000
  banyan run -n 8 --nodes 4 --label solver.ts --size 1000
  banyan run -n 4 --freeze-at 5s --job-dir job solver.c
${protocolExamples()}`,
    )
    .passThroughOptions()
    .action(async (program: string, args: string[], options: RunOptions) =>
      finished(await follow(() => start(sayable(program), args[0] === "--" ? args.slice(1) : args, options), options)),
    );

function start(program: string, args: string[], options: RunOptions): RunningJob {
  const { ranks, nodes, protocol, trace, heap, memory, port, timeout, heartbeat, patience, label } = options;
  const folders = [...(options.sandbox === true ? [] : ["."]), ...(options.dir ?? [])];
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
    environment: environmentGiven(options.env, options.sandbox === true),
    port,
    timeoutMs: timeout,
    heartbeatMs: heartbeat,
    patienceMs: patience,
    ranksPerThread: options.ranksPerThread,
    freezeAtMs: options.freezeAt,
    ...protocolValues(options, ranks),
    cacheFolder: cacheFolder(process.env),
    faults: options.faults === undefined ? undefined : readFaultPlan(options.faults),
    keepSuspects: options.keepSuspects,
    jobFolder: options.jobDir,
    host: options.host,
    nodeCommand: options.nodeCommand?.split(" ").filter(Boolean),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  });
}
