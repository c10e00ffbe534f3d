/** `banyan run`: one job, on this terminal. A shell around `launch`. */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { Command, Option, type ParseOptionsResult } from "commander";
import { cachePlace } from "../cc/cache.ts";
import { describeSystemError } from "../core/base/system-error.ts";
import { protocolNames } from "../core/ft/protocol-named.ts";
import { protocolDefault } from "../core/ft/registry.ts";
import { launch, type ProgramOfRanks, type RunningJob } from "../real/job/launch.ts";
import { sourceExtensions } from "../real/job/programs/program-compile.ts";
import { CommandError, complain, UsageError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { duration } from "./duration.ts";
import { environmentGiven } from "./environment-given.ts";
import { readFaultPlan } from "./fault-plan.ts";
import { follow } from "./follow-job.ts";
import { checkHostfile, checkHosts } from "./hosts.ts";
import type { JobStreams } from "./job-screen.ts";
import { joinGiven } from "./join-given.ts";
import { type Following, translateHabits } from "./mpirun-habits.ts";
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
  readonly debug?: number | true;
  readonly quiet?: true;
  readonly listen?: string;
  readonly joinOnly?: true;
  readonly secretFile?: string;
  readonly hosts?: string;
  readonly hostfile?: string;
  readonly ranksPerNode?: number;
  readonly wdir?: string;
  readonly outputFilename?: string;
  readonly nodeCommand?: string;
}

interface StartOptions extends RunOptions {
  readonly args: readonly string[];
  readonly others: readonly ProgramOfRanks[];
  readonly streams: JobStreams;
}

export const runCommand: CreateCommand = (finished) =>
  addProtocolOptions(new RunCommand("run"))
    .description("Run a program (TypeScript, JavaScript, C, C++, or a module that `banyan cc` made) on several ranks.")
    .usage("[options] <program> [arguments...] [: -n <number> <program> [arguments...]]...")
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
    .option(
      "--debug [port]",
      "stop before the program begins and wait for a debugger, node i at port + i (default: 9229; docs/debugging.md)",
      wholeNumber("--debug"),
    )
    .option(
      "--listen <address[:port]>",
      "let nodes join there while the job runs: banyan node (docs/volatile-nodes.md)",
    )
    .option("--join-only", "start no nodes: wait until as many as --nodes have joined, here unless --listen is given")
    .option("--secret-file <file>", "write the secret there by which nodes join (default: in a temporary folder)")
    .option("-q, --quiet", "no summary line")
    .option("--wdir <folder>", "run there")
    .option("--output-filename <folder>", "write what each rank prints to files in this folder too")
    .option(
      "--ranks-per-node <number>",
      "as many nodes as hold so many ranks each, instead of --nodes",
      wholeNumber("--ranks-per-node"),
    )
    // Words of other MPIs' mpirun (mpirun-habits.ts).
    .addOption(new Option("--hosts <names>").hideHelp())
    .addOption(new Option("--hostfile <file>").hideHelp())
    // For nodes that are started in namespaces of their own, and for tests (docs/control-link.md).
    .addOption(new Option("--node-command <words>").hideHelp())
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
Standard output carries what the program prints and nothing else; rank 0 reads standard input.
The exit code is that of the first rank that failed, of MPI_Abort, 128 + signal, 124 after a timeout, or 0.

Words of mpirun are understood: -np -x -H -host -hostfile -wdir -npernode --tag-output --output-filename --oversubscribe --bind-to
--map-by (docs/coming-from.md).

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
    .action(async (program: string, given: string[], options: RunOptions, command: RunCommand) => {
      const args = given[0] === "--" ? given.slice(1) : given;
      const others = command.otherPrograms;
      const begin = (streams: JobStreams) => start(sayable(program), { ...options, args, others, streams });
      finished(await follow(begin, options));
    });

/** Node's own. */
const debugPortDefault = 9229;

/** Between programs of one job. */
const separator = ":";

class RunCommand extends Command {
  /** Of the programs behind the first, the words of each. */
  readonly others: (readonly string[])[] = [];

  override parseOptions(argv: string[]): ParseOptionsResult {
    const end = argv.indexOf(separator);
    const isOwn = argv.indexOf("--") >= 0 && argv.indexOf("--") < end;
    if (end < 0 || isOwn) return super.parseOptions(this.#translated(argv));
    let rest = argv.slice(end + 1);
    for (let next = rest.indexOf(separator); next >= 0; next = rest.indexOf(separator)) {
      this.others.push(rest.slice(0, next));
      rest = rest.slice(next + 1);
    }
    this.others.push(rest);
    return super.parseOptions(this.#translated(argv.slice(0, end)));
  }

  /** `-n 2 b.c x` behind a separator. Options for the whole job stand before the first. */
  get otherPrograms(): ProgramOfRanks[] {
    return this.others.map((words) => {
      const [first = "", second = "", ...rest] = this.#translated(words);
      const isCounted = first === "-n" || first === "--ranks";
      const [program, ...args] = isCounted ? rest : [first, second, ...rest].filter((word) => word !== "");
      if (program === undefined || program.startsWith("-")) {
        const what = `"${words.join(" ")}" behind a ":"`;
        throw new UsageError(
          `Cannot understand ${what}: say -n <number> <program> [arguments]; other options stand first`,
        );
      }
      return { program: sayable(program), args, ranks: isCounted ? wholeNumber("--ranks")(second) : 1 };
    });
  }

  #translated(argv: readonly string[]): string[] {
    const optionOf = (word: string) => this.options.find(({ short, long }) => short === word || long === word);
    const followingOf = (word: string): Following => {
      const option = optionOf(word);
      if (option?.required === true) return "a value";
      return option?.optional === true ? "perhaps a number" : "nothing";
    };
    const { words, notes } = translateHabits(argv, followingOf);
    const isQuiet = words.includes("-q") || words.includes("--quiet");
    if (!isQuiet) for (const note of notes) complain(note);
    return words;
  }
}

/** Where the program is found, if not where the command was called. */
function enter(program: string, { hosts, hostfile, wdir }: RunOptions): string {
  if (hosts !== undefined) checkHosts(hosts);
  if (hostfile !== undefined) checkHostfile(hostfile);
  if (wdir === undefined) return program;
  const here = resolve(program);
  try {
    process.chdir(wdir);
  } catch (error) {
    throw new CommandError(`Cannot run in ${wdir}: ${describeSystemError(error)}; name another folder with --wdir`, 2);
  }
  return existsSync(here) ? here : program;
}

function start(given: string, options: StartOptions): RunningJob {
  const program = enter(given, options);
  const cache = cachePlace(process.env);
  if (cache.note !== "" && sourceExtensions.includes(extname(program))) complain(cache.note);
  const { args, others, ranksPerNode, protocol, trace, heap, memory, port, timeout, heartbeat, patience, label } =
    options;
  const { ranks } = options;
  const all = others.reduce((sum, other) => sum + (other.ranks ?? 1), ranks);
  const nodes = ranksPerNode === undefined ? options.nodes : Math.ceil(all / Math.max(1, ranksPerNode));
  const folders = [...(options.sandbox === true ? [] : ["."]), ...(options.dir ?? [])];
  return launch(program, {
    args,
    others,
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
    debugPort: options.debug === true ? debugPortDefault : options.debug,
    timeoutMs: timeout,
    heartbeatMs: heartbeat,
    patienceMs: patience,
    ranksPerThread: options.ranksPerThread,
    freezeAtMs: options.freezeAt,
    ...protocolValues(options, all),
    cacheFolder: cache.folder,
    faults: options.faults === undefined ? undefined : readFaultPlan(options.faults),
    keepSuspects: options.keepSuspects,
    jobFolder: options.jobDir,
    ...joinGiven(options),
    outputFolder: options.outputFilename,
    nodeCommand: options.nodeCommand?.split(" ").filter(Boolean),
    ...options.streams,
  });
}
