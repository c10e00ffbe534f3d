/** Runs of a program in C for a determinism check, each in a simulated world and in a thread of its own. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { Worker } from "node:worker_threads";
import { canStop } from "../abi/c-program.ts";
import { describeEnding } from "../core/service/ending.ts";
import { foldersGiven } from "../real/job/programs/folders-given.ts";
import { moduleOfProgram } from "../real/job/programs/program-compile.ts";
import type { CWorldOutcome } from "../sim/c/c-world.ts";
import type { RecordedRun } from "../sim/c/recorded-run.ts";
import type { CheckThreadSetup } from "./check-thread.ts";
import { type CheckOptions, keptOf, type MakeRun } from "./checked-run.ts";
import { CommandError, UsageError } from "./complain.ts";

/** As of a rank's own thread. */
const stackMb = 16;
/** Each rank has a memory of its own, and the machine can reserve only so many. */
const ranksMax = 4096;
const memoryMbDefault = 64;

export async function simulatedRuns(path: string, args: readonly string[], options: CheckOptions): Promise<MakeRun> {
  const { ranks, nodes, first, memory = memoryMbDefault, dir } = options;
  const name = relative("", path);
  if (ranks > ranksMax) throw new UsageError(`Cannot simulate ${ranks} ranks of a program: give at most ${ranksMax}`);
  if (memory < 16 || memory > 2047)
    throw new UsageError(`Cannot give each rank ${memory} MB: give a whole number from 16 to 2047`);
  const folders = foldersGiven([".", ...dir]);
  if (typeof folders === "string") throw new UsageError(folders);
  const { module: file, said } = await moduleOfProgram(path);
  process.stderr.write(said);
  if (file === undefined) throw new CommandError(`Cannot check ${name}: it does not compile`, 1);
  const module = new WebAssembly.Module(readFileSync(file));
  if (!canStop(module))
    throw new UsageError(`Cannot check ${name}: it was compiled with --no-capture; compile it without`);
  const setup = { module, args: [path, ...args], ranks, nodes, firstSeed: first, memoryMb: memory, folders };
  return async (run) => {
    const { outcome, ...recorded } = await simulate({ ...setup, run });
    return { run, seed: first + run, failure: failureOf(outcome), ...recorded, ...keptOf(recorded.sends) };
  };
}

function simulate(setup: CheckThreadSetup): Promise<RecordedRun> {
  return new Promise((done, failed) => {
    const worker = new Worker(`${__dirname}/check-thread.cjs`, {
      workerData: setup,
      resourceLimits: { stackSizeMb: stackMb },
    });
    worker.on("message", done);
    worker.on("error", failed);
  });
}

/** In one line; null: it has come to its end. */
function failureOf(outcome: CWorldOutcome): string | null {
  switch (outcome.kind) {
    case "failed": {
      const { rank, how } = outcome;
      return how.kind === "aborted"
        ? `rank ${rank} aborted the job: ${how.message}`
        : `rank ${rank}: ${describeEnding(how)}`;
    }
    case "stuck": {
      const [{ rank, what } = { rank: 0, what: "" }] = outcome.waiting;
      return `nothing can happen any more, and ${outcome.waiting.length} of the ranks wait, rank ${rank} ${what}`;
    }
    case "finished":
    case "at rest":
      return null;
  }
}
