/** `banyan sim program.c`: compiles the program, simulates it in a thread, and reports how it ended. */

import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { canStop } from "../abi/c-program.ts";
import { describeEnding } from "../core/service/ending.ts";
import { checkProgram } from "../real/job/check-options.ts";
import { foldersGiven } from "../real/job/programs/folders-given.ts";
import { languageOf, moduleOfProgram } from "../real/job/programs/program-compile.ts";
import { type CWorldOutcome, codeOfOutcome } from "../sim/c/c-world.ts";
import { CommandError, complain, UsageError } from "./complain.ts";
import type { FromSimThread, SimThreadSetup } from "./sim-thread.ts";

export interface SimProgramOptions {
  readonly ranks?: number;
  readonly seed?: number;
  readonly nodes?: number;
  readonly memory: number;
  readonly dir: string[];
  readonly quiet?: true;
  readonly trace?: true;
}

/** Each rank has a memory of its own, and the machine can reserve only so many. */
const ranksMax = 4096;
const memoryMbMax = 2047;
/** Deep recursion in C is deep recursion here: the stack of a rank's thread, too, has this size. */
const stackMb = 16;
/** The exit code of a program that was ended by SIGPIPE. */
const codeOfClosedOutput = 141;
/** How many ranks of a stuck world are named. */
const waitingMax = 8;

/** The exit code. */
export async function simulateProgram(program: string, args: string[], options: SimProgramOptions): Promise<number> {
  const path = resolve(program);
  check(path, options);
  const folders = foldersGiven(options.dir);
  if (typeof folders === "string") throw new UsageError(folders);
  const { module: file, said } = await moduleOfProgram(path);
  process.stderr.write(said);
  if (file === undefined) throw new CommandError(`Cannot simulate ${program}: it does not compile`, 1);
  const module = new WebAssembly.Module(readFileSync(file));
  if (!canStop(module))
    throw new UsageError(`Cannot simulate ${program}: it was compiled with --no-capture; compile it without`);
  const { ranks = 1, nodes = 1, seed = 1, memory, trace = false } = options;
  const ended = await simulate({
    module,
    args: [path, ...(args[0] === "--" ? args.slice(1) : args)],
    ranks,
    nodes,
    seed,
    trace,
    memoryMb: memory,
    folders,
  });
  if (ended === undefined) return codeOfClosedOutput;
  const { outcome, timeNs } = ended;
  for (const line of reportOf(outcome, timeNs)) complain(line);
  const code = codeOfOutcome(outcome);
  if (options.quiet !== true) {
    const took = `${timeText(timeNs)} of virtual time, ${ended.messages} messages, ${ended.events} events`;
    complain(`${ranks} simulated rank${ranks === 1 ? "" : "s"}, seed ${seed}, ${took}, exit ${code}`);
  }
  return code;
}

function check(path: string, { ranks = 1, nodes = 1, memory }: SimProgramOptions): void {
  const mistake = checkProgram(path);
  if (mistake !== undefined) throw new UsageError(mistake);
  if (languageOf(path) !== "c")
    throw new UsageError(`Cannot simulate ${relative("", path)}: only programs in C and C++ can be`);
  if (ranks < 1 || ranks > ranksMax)
    throw new UsageError(`Cannot simulate ${ranks} ranks of a program: it must be 1 to ${ranksMax}`);
  if (nodes < 1 || nodes > ranks)
    throw new UsageError(`Cannot use ${nodes} nodes for ${ranks} ranks: give 1 to ${ranks}, each node holds a rank`);
  if (memory < 16 || memory > memoryMbMax)
    throw new UsageError(`Cannot give each rank ${memory} MB: give a whole number from 16 to ${memoryMbMax}`);
}

/** Undefined: the reader of the output is gone. */
function simulate(setup: SimThreadSetup): Promise<FromSimThread | undefined> {
  return new Promise((done, failed) => {
    const worker = new Worker(`${__dirname}/sim-thread.cjs`, {
      workerData: setup,
      resourceLimits: { stackSizeMb: stackMb },
    });
    worker.on("message", done);
    worker.on("error", failed);
    worker.on("exit", () => done(undefined));
  });
}

function reportOf(outcome: CWorldOutcome, timeNs: number): string[] {
  if (outcome.kind === "failed") {
    const { rank, how } = outcome;
    if (how.kind === "aborted") return [`rank ${rank} aborted the job after ${timeText(timeNs)}: ${how.message}`];
    const [place] = how.kind === "signalled" ? how.frames : [];
    const where = place === undefined ? "" : ` in ${place}`;
    return [`rank ${rank} failed after ${timeText(timeNs)}: ${describeEnding(how)}${where}`];
  }
  if (outcome.kind !== "stuck") return [];
  const { waiting } = outcome;
  const more = waiting.length - waitingMax;
  return [
    `Cannot go on after ${timeText(timeNs)}: nothing can happen any more, and ${waiting.length} of the ranks wait`,
    ...waiting.slice(0, waitingMax).map(({ rank, what }) => `rank ${rank} waits ${what}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function timeText(ns: number): string {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}
