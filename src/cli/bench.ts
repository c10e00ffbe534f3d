/** `banyan bench`: measures this installation beside the MPI libraries that are installed. A shell around lab/session.ts. */
import { constants } from "node:os";
import { Command, Option } from "commander";
import type { Benchmark } from "../lab/benchmark.ts";
import { benchmarks, groups } from "../lab/benchmarks.ts";
import { type KernelClass, kernelClasses } from "../lab/lab.ts";
import { probeImages } from "../lab/probes/image-probe.ts";
import { type JobProbe, runProbe } from "../lab/probes/probe.ts";
import { runSession } from "../lab/session.ts";
import { complain, UsageError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { endWithParent } from "./parent-watch.ts";
import { wholeNumber } from "./whole-number.ts";

interface BenchOptions {
  readonly runs: number;
  readonly quick?: true;
  readonly out: string;
  readonly class: string;
  readonly imageMib: number;
  readonly processes: number;
  /** The path of a folder. */
  readonly imageProbe?: string;
  /** A `JobProbe` as JSON. */
  readonly probe?: string;
}

/** The memory of a rank has at most 2047 MB, and the program needs some of it. */
const imageMibMax = 1900;
const processesDefault = 4104;

export const benchCommand: CreateCommand = (finished) =>
  new Command("bench")
    .description("Measure speed and size beside Open MPI and MPICH.")
    .usage("[options] [name...]")
    .argument("[name...]", "which benchmarks; all of the first list unless given")
    .option("-r, --runs <number>", "how often each program runs, in turn with the others", wholeNumber("--runs"), 5)
    .option("--quick", "a fraction of the work: shows that everything works")
    .option("--out <folder>", "where results are kept", "bench-results")
    .option("--class <class>", "of the kernels: S, W or A", "A")
    .option("--image-mib <number>", "size of the images, in MiB", wholeNumber("--image-mib"), 1024)
    .option(
      "--processes <number>",
      "of the largest world of fault-layer-growth, up to 36864",
      wholeNumber("--processes"),
      processesDefault,
    )
    // A process that `bench images` starts.
    .addOption(new Option("--image-probe <folder>").hideHelp())
    // A process that other benchmarks start.
    .addOption(new Option("--probe <json>").hideHelp())
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", () => `\nBenchmarks:\n${benchmarkList()}\n\n${explanation}`)
    .action(async (names: string[], options: BenchOptions) => finished(await bench(names, options)));

const explanation = `Standard output carries the tables. Each benchmark appends its figures to <name>.jsonl in the folder of results and
draws <name>.svg. Peers that are not installed are left out; nothing is installed.

Examples:
  banyan bench
  banyan bench latency bandwidth --runs 9
  banyan bench c-latency kernels images compile     # programs in C
  banyan bench kernels --class A
  banyan bench logging                              # all parts of it
  banyan bench logging-volume
  banyan bench replication                          # ping-pong, kernels, counts and pauses with replicas
  banyan bench cloning                              # a lost replica is cloned onto a spare`;

async function bench(names: readonly string[], options: BenchOptions): Promise<number> {
  const { runs, quick, out, imageMib, imageProbe } = options;
  const chosen = choose(names);
  if (runs < 1) throw new UsageError("Cannot measure with --runs 0: at least one run is needed");
  if (imageMib < 1 || imageMib > imageMibMax)
    throw new UsageError(`Cannot measure with --image-mib ${imageMib}: it must be from 1 to ${imageMibMax}`);
  if (imageProbe !== undefined) {
    await probeImages({ folder: imageProbe, mib: imageMib, batches: runs });
    return 0;
  }
  if (options.probe !== undefined) {
    await runProbe(JSON.parse(options.probe) as JobProbe);
    return 0;
  }
  const sizes = { kernelClass: kernelClass(options.class), imageMiB: imageMib, processesMax: options.processes };
  const interrupt = new AbortController();
  let code = 0;
  const stopListening = listenToSignals((signal) => {
    code = 128 + constants.signals[signal];
    interrupt.abort();
  });
  // The reader of the output is gone, so the measurements can end.
  process.stdout.on("error", () => interrupt.abort());
  const outcome = await runSession({
    benchmarks: chosen,
    runs,
    quick: quick === true,
    sizes,
    out,
    interrupt: interrupt.signal,
    print: (text) => void process.stdout.write(`${text}\n\n`),
    complain: (text) => {
      showProgress("");
      complain(text);
    },
    progress: showProgress,
  });
  stopListening();
  if (interrupt.signal.aborted) complain("interrupted; benchmarks that were complete have been kept");
  return code || outcome;
}

function choose(names: readonly string[]): readonly Benchmark[] {
  if (names.length === 0) return benchmarks;
  const all = [...benchmarks, ...Object.values(groups).flat()];
  const known = all.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name) && !Object.hasOwn(groups, name));
  if (unknown !== undefined) {
    const there = [...benchmarks.map(({ name }) => name), ...Object.keys(groups)].join(", ");
    throw new UsageError(`Cannot run benchmark "${unknown}": there are ${there}; see banyan bench --help`);
  }
  const wanted = names.flatMap((name) => groups[name]?.map((one) => one.name) ?? name);
  return all.filter(({ name }) => wanted.includes(name));
}

function kernelClass(text: string): KernelClass {
  const found = kernelClasses.find((name) => name === text);
  if (found === undefined)
    throw new UsageError(`Cannot use "${text}" for --class: the classes are ${kernelClasses.join(", ")}`);
  return found;
}

function benchmarkList(): string {
  const parts = Object.values(groups).flat();
  const width = Math.max(...[...benchmarks, ...parts].map(({ name }) => name.length));
  const lines = (list: readonly Benchmark[]): string[] =>
    list.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const named = Object.entries(groups).flatMap(([name, list]) => [`\nParts of ${name}:`, ...lines(list)]);
  return [...lines(benchmarks), ...named].join("\n");
}

/** One line that replaces itself, for terminals only. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function listenToSignals(heard: (signal: NodeJS.Signals) => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, heard);
  const stopWatching = endWithParent(() => heard("SIGHUP"));
  return () => {
    stopWatching();
    for (const signal of signals) process.off(signal, heard);
  };
}
