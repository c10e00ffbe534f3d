/**
 * `banyan check-determinism`: is a program send-deterministic? Runs it several times, with messages that overtake each other in other ways
 * and clocks that say something else, and compares what each rank sends. C and C++ in simulated worlds, TypeScript and JavaScript
 * in real jobs whose messages are held back.
 */
import { resolve } from "node:path";
import { Command } from "commander";
import { countText } from "../core/base/amounts.ts";
import { compareSends } from "../core/ft/send-record/compare-sends.ts";
import { checkProgram } from "../real/job/check-options.ts";
import { languageOf } from "../real/job/programs/program-compile.ts";
import { realRuns } from "./checked-real-runs.ts";
import { type CheckedRun, type CheckOptions, differenceLines, firstPrintedDifference } from "./checked-run.ts";
import { simulatedRuns } from "./checked-simulated-runs.ts";
import { complain, UsageError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { wholeNumber } from "./whole-number.ts";

const runsMax = 1000;

export const checkDeterminismCommand: CreateCommand = (finished) =>
  new Command("check-determinism")
    .description(
      "Say whether a program is send-deterministic: whether every rank sends the same messages in the same order in every run.",
    )
    .usage("[options] <program> [arguments of the program...]")
    .argument("<program>", "in C, C++, TypeScript or JavaScript")
    .argument("[args...]", "all that follows is the program's own")
    .option("-n, --ranks <number>", "how many ranks", wholeNumber("--ranks"), 4)
    .option("--nodes <number>", "how many nodes hold the ranks", wholeNumber("--nodes"), 1)
    .option("--runs <number>", "how often the program is run", wholeNumber("--runs"), 8)
    .option("--first <seed>", "the seed of the first run; others follow", wholeNumber("--first"), 1)
    .option("--memory <MB>", "of a program in C: the memory of each rank (default: 64)", wholeNumber("--memory"))
    .option(
      "--dir <folder>",
      "let a program in C use this folder as well as the current one (again for more)",
      (folder, all: string[]) => [...all, folder],
      [],
    )
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
Each run has other circumstances: which messages overtake which, which ranks are slow, what the clocks say. The program must
not let them decide what it sends; what it receives first, what its tests say and what it prints may differ.
Programs in C and C++ run in the simulator: same seeds, same runs. Those in TypeScript and JavaScript run in real jobs, in
which delays are drawn from the seed, and the rest is chance. Standard input is empty, spawning is refused, and the program's
own output is not shown. Files are read and written each time.

Exit code 0: the same in all these runs, which is no proof for all others. 1: not, and the first send that differs is shown;
or the program failed. 2: a mistake in the call.

Examples:
  banyan check-determinism -n 4 solver.c 1000
  banyan check-determinism -n 8 --runs 50 farm.ts`,
    )
    .passThroughOptions()
    .action(async (program: string, given: string[], options: CheckOptions) => {
      const args = given[0] === "--" ? given.slice(1) : given;
      finished(await check(program, args, options));
    });

/** The exit code. */
async function check(program: string, args: readonly string[], options: CheckOptions): Promise<number> {
  const path = resolve(program);
  const mistake = checkProgram(path) ?? mistakeIn(options);
  if (mistake !== undefined) throw new UsageError(mistake);
  const { ranks, runs } = options;
  const isSimulated = languageOf(path) === "c";
  const run = isSimulated ? await simulatedRuns(path, args, options) : realRuns(path, args, options);
  let first: CheckedRun | null = null;
  let printed: string | undefined;
  let hasReadInput = false;
  for (let number = 0; number < runs; number++) {
    const next = await run(number);
    if (next.failure !== null) {
      for (const line of next.lastLines) complain(`  ${line}`);
      complain(`Cannot compare all runs: run ${number + 1}, seed ${next.seed}, failed: ${next.failure}`);
      return 1;
    }
    hasReadInput ||= next.hasReadInput;
    if (first === null) {
      first = next;
      continue;
    }
    const difference = compareSends(first.sends, next.sends);
    if (difference !== null) {
      process.stdout.write(differenceLines(program, difference, first, next).join("\n"));
      process.stdout.write("\n");
      return 1;
    }
    printed ??= firstPrintedDifference(first, next);
  }
  const messages = first!.sends.reduce((sum, { count }) => sum + count, 0);
  const how = isSimulated ? "simulated runs" : "runs";
  process.stdout.write(
    `${program} is send-deterministic in ${runs} ${how} of ${countText(ranks, "rank")}: ${countText(messages, "message")} in each, all the same\n`,
  );
  if (printed !== undefined) complain(`Beware: ${printed}`);
  if (first!.isCut)
    complain(
      `Beware: only the first ${countText(first!.kept, "message")} of each run have been compared; there are more`,
    );
  if (hasReadInput) complain("Beware: the program has read standard input, which is empty here");
  return 0;
}

function mistakeIn({ ranks, nodes, runs }: CheckOptions): string | undefined {
  if (ranks < 1) return `Cannot check a program on ${ranks} ranks: give at least 1`;
  if (nodes < 1 || nodes > ranks)
    return `Cannot use ${nodes} nodes for ${ranks} ranks: give 1 to ${ranks}, each node holds a rank`;
  if (runs < 2 || runs > runsMax)
    return `Cannot compare ${countText(runs, "run")}: give 2 to ${runsMax}, one run has nothing to be compared with`;
  return undefined;
}
