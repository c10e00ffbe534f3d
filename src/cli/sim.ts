/**
 * `banyan sim`: random programs in simulated worlds, one for each seed, judged by the checkers. A failing seed is printed with
 * its violations and the one command that runs it again. Given a program in C, the command runs that program in one world
 * (sim-program.ts).
 */
import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { checkPlan } from "../core/fault/check.ts";
import { parsePlan } from "../core/fault/parse.ts";
import type { FaultPlan } from "../core/fault/plan.ts";
import { printEntry } from "../core/fault/print.ts";
import { protocolNamed, protocolNames } from "../core/ft/protocol-named.ts";
import { protocolDefault } from "../core/ft/registry.ts";
import { failureText } from "../sim/failure-text.ts";
import { familyNames } from "../sim/generator/generator.ts";
import { recoveringSeeds, withoutSets } from "../sim/protocol-worlds/recovering-seeds.ts";
import { repairingSeeds } from "../sim/protocol-worlds/repairing-seeds.ts";
import { replicatedSeeds } from "../sim/protocol-worlds/replicated-seeds.ts";
import { scenarios, textScenarios } from "../sim/protocol-worlds/scenarios.ts";
import type { RecoveringSeedOptions, SeededWorld } from "../sim/protocol-worlds/seeded-world.ts";
import { type SetsBy, setsBy } from "../sim/recovery/sets.ts";
import { runSeed } from "../sim/run-seed.ts";
import { complain, UsageError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { readFaultPlan, readScenario } from "./fault-plan.ts";
import { protocolFlags } from "./protocol-options.ts";
import { type SimProgramOptions, simulateProgram } from "./sim-program.ts";
import { wholeNumber } from "./whole-number.ts";

interface SimOptions extends SimProgramOptions {
  readonly seeds: number;
  readonly first: number;
  readonly events?: number;
  readonly protocol: string;
  readonly sets?: SetsBy;
  readonly faults?: string;
  readonly keepSuspects?: true;
  readonly moves?: true;
  readonly often: readonly string[];
  readonly trace?: true;
  readonly scenario?: string;
  readonly rewrite?: true;
}

/** After this many failing seeds the others are not worth the time. */
const failuresMax = 10;
const ranksMax = 1 << 16;

/** Protocols that restart lost ranks, also one that has worlds here and no real jobs yet. */
const withReturn = Object.keys(recoveringSeeds);
const simulated = [...new Set([...protocolNames, ...withReturn])];

const examplesOf = (
  name: string,
): string => `  banyan sim --protocol ${name}${withoutSets.includes(name) ? "" : " --sets node"} --seeds 1000
  banyan sim --protocol ${name} -n 4 --nodes 2 --faults "kill node 1 at call 5 of rank 0" --seed 3
`;

const scenarioTexts = Object.entries(scenarios).flatMap(([protocol, named]) =>
  Object.keys(named).map((name) => `${name} (--protocol ${protocol})`),
);

function simulateWorlds(options: SimOptions): number {
  const { scenario, protocol, ranks } = options;
  checkRanks(ranks);
  if (scenario?.startsWith("@")) return playFile(scenario.slice(1), options);
  if (options.rewrite) throw new UsageError("Cannot use --rewrite: name a file with --scenario @<file>");
  if (scenario === undefined) return sim(options);
  const describe = scenarios[protocol]?.[scenario];
  if (describe === undefined) {
    const state = `--protocol ${protocol} has none of that name`;
    throw new UsageError(`Cannot run the scenario "${scenario}": ${state}; there are ${scenarioTexts.join(", ")}`);
  }
  if (ranks === undefined || ranks < 2) {
    throw new UsageError(`Cannot run the scenario "${scenario}": say for how many ranks with -n, 2 or more`);
  }
  for (const line of describe(ranks, complain)) process.stdout.write(`${line}\n`);
  return 0;
}

/** A scenario that is written down, with what happened when it was recorded. */
function playFile(path: string, { protocol, rewrite }: SimOptions): number {
  const play = textScenarios[protocol];
  if (play === undefined) {
    const state = `--protocol ${protocol} has no scenarios in files`;
    throw new UsageError(`Cannot play ${path}: ${state}; ${Object.keys(textScenarios).join(" and ")} have`);
  }
  const played = play(readScenario(path));
  if (typeof played === "string") throw new UsageError(played);
  const { lines, difference, text } = played;
  for (const line of lines) process.stdout.write(`${line}\n`);
  if (rewrite) writeFileSync(path, text);
  else if (difference !== null) {
    const { recorded = "nothing more", now = "nothing more" } = difference;
    complain(`${path}: recorded is "${recorded}", now it is "${now}"; --rewrite records it anew`);
    return 1;
  }
  return 0;
}

async function simulateOne(program: string, args: string[], options: SimOptions): Promise<number> {
  const { scenario, protocol } = options;
  const state = scenario !== undefined ? "a scenario has programs of its own" : "it would run there without a protocol";
  if (scenario === undefined && protocol === protocolDefault.name) return await simulateProgram(program, args, options);
  const given = scenario !== undefined ? "--scenario" : `--protocol ${protocol}`;
  throw new UsageError(`Cannot simulate ${program} with ${given}: ${state}; leave one of them out`);
}

function checkRanks(ranks: number | undefined): void {
  if (ranks === undefined || (ranks >= 1 && ranks <= ranksMax)) return;
  throw new UsageError(`Cannot simulate ${ranks} ranks: it must be 1 to ${ranksMax}`);
}

export const simCommand: CreateCommand = (finished) =>
  protocolFlags(new Command("sim"))
    .description(
      "Run random programs in simulated worlds and check every outcome; or a program in C on simulated ranks.",
    )
    .usage("[options] [program] [arguments of the program...]")
    .argument("[program]", "a program in C or C++")
    .argument("[args...]", "all that follows is the program's own")
    .option("--seeds <number>", "how many worlds", wholeNumber("--seeds"), 100)
    .option("--first <seed>", "the first of them", wholeNumber("--first"), 1)
    .option("--seed <seed>", "only this one", wholeNumber("--seed"))
    .option(
      "-n, --ranks <number>",
      "how many ranks (default: the seed decides; of a program: 1)",
      wholeNumber("--ranks"),
    )
    .option("--events <number>", "how long the programs are (default: the seed decides)", wholeNumber("--events"))
    .addOption(
      new Option("--protocol <name>", "under which ranks die").choices(simulated).default(protocolDefault.name),
    )
    .addOption(
      new Option(
        "--sets <how>",
        "where the dead come back: which ranks fall together (default: the seed decides)",
      ).choices(setsBy),
    )
    .option(
      "--faults <plan>",
      "where the dead come back: what goes wrong, and when, as for `banyan run`; @file reads it from a file (default: the seed decides)",
    )
    .option(
      "--keep-suspects",
      "where the dead come back: nodes are taken for dead, and live on beside those that have their places (default: the seed decides)",
    )
    .option(
      "--moves",
      "where ranks fall in sets: ranks are moved to other nodes, and sets divided by that, when the seed wants it",
    )
    .option(
      "--often <family>",
      "draw these actions of random programs more often (again for more): files, lines, partitioned messages, …",
      (family, all: string[]) => [...all, family],
      [],
    )
    .option("--trace", "with --seed: print everything that happens")
    .option(
      "--scenario <name>",
      `instead of random programs, with -n: ${scenarioTexts.join(", ")}; @file plays one that is written down`,
    )
    .option("--rewrite", "with --scenario @file: record in the file what happens")
    .option(
      "--nodes <number>",
      "how many simulated nodes hold the ranks (default: the seed decides; of a program: 1)",
      wholeNumber("--nodes"),
    )
    .option("--memory <MB>", "of a program: the memory of each rank", wholeNumber("--memory"), 64)
    .option(
      "--dir <folder>",
      "of a program: let it use this folder (again for more)",
      (folder, all: string[]) => [...all, folder],
      [],
    )
    .option("-q, --quiet", "of a program: no summary line")
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
The same seed gives the same run, byte for byte, on every machine. Exit code 1 when a seed failed.
A program runs in virtual time, which only MPI calls and messages take; another seed is another order of messages. Its exit
code is that of \`banyan run\`, or 1 when its ranks wait for each other for ever.

Examples:
  banyan sim --seeds 1000
  banyan sim --seed 4711 --trace
${withReturn.map(examplesOf).join("")}  banyan sim -n 256 --seed 7 solver.c 1000`,
    )
    .passThroughOptions()
    .action(async (program: string | undefined, args: string[], options: SimOptions) =>
      finished(program === undefined ? simulateWorlds(options) : await simulateOne(program, args, options)),
    );

function planOf(text: string): FaultPlan {
  const plan = parsePlan(readFaultPlan(text));
  if (typeof plan === "string") throw new UsageError(plan);
  const flip = plan.entries.find((entry) => entry.kind === "fault" && entry.fault.kind === "flip");
  if (flip === undefined) return plan;
  throw new UsageError(
    `Cannot use the fault plan: "${printEntry(flip)}": memory of simulated ranks does not change by itself`,
  );
}

/** The world of a seed; refuses a plan that names something the world lacks. */
function recoveringWorld(protocol: string, options: RecoveringSeedOptions): SeededWorld {
  const made = recoveringSeeds[protocol]!(options);
  const wrong = options.faults === undefined ? undefined : checkPlan(options.faults, made.size);
  if (wrong !== undefined) {
    throw new UsageError(
      `${wrong}; that is the world of seed ${options.seed}, other worlds are made by -n and --nodes`,
    );
  }
  return made;
}

function sim(options: SimOptions): number {
  const { ranks, nodes, events, trace, protocol, sets, keepSuspects, moves } = options;
  const unknown = options.often.find((name) => !familyNames().includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`Cannot draw "${unknown}" more often: there are ${familyNames().join(", ")}`);
  }
  if (options.seeds < 1) throw new UsageError("Cannot run --seeds 0: at least one is needed");
  const comeBack = withReturn.includes(protocol);
  if (!comeBack) {
    const given = {
      "--sets": sets,
      "--faults": options.faults,
      "--nodes": nodes,
      "--keep-suspects": keepSuspects,
      "--moves": moves,
    };
    const [option] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
    if (option !== undefined)
      throw new UsageError(
        `Cannot use ${option} in random worlds where the dead stay dead: give --protocol ${withReturn.join(" or ")}`,
      );
  }
  if ((sets !== undefined || moves === true) && withoutSets.includes(protocol)) {
    throw new UsageError(
      `Cannot use --${moves === true ? "moves" : "sets"} under --protocol ${protocol}: every rank falls for itself`,
    );
  }
  if (nodes !== undefined && (nodes < 1 || nodes > (ranks ?? nodes))) {
    throw new UsageError(`Cannot use ${nodes} nodes for ${ranks} ranks: give 1 to ${ranks}, each node holds a rank`);
  }
  const faults = options.faults === undefined ? undefined : planOf(options.faults);
  if (trace && options.seed === undefined) throw new UsageError("Cannot trace many seeds: give one with --seed");
  const first = options.seed ?? options.first;
  const count = options.seed === undefined ? options.seeds : 1;
  const listener = trace ? (line: string) => process.stdout.write(`${line}\n`) : undefined;
  const totals = { seeds: 0, events: 0, messages: 0, collectives: 0, deaths: 0, failures: 0 };
  const started = process.hrtime.bigint();
  for (let seed = first; seed < first + count && totals.failures < failuresMax; seed++) {
    const { often } = options;
    const run = { seed, ranks, nodes, events, protocol, sets, often, keepSuspects, moves, faults: options.faults };
    const heard = listener === undefined ? {} : { listener };
    const own = repairingSeeds[protocol] ?? replicatedSeeds[protocol];
    const outcome = comeBack
      ? recoveringWorld(protocol, { ...run, faults, ...heard }).run()
      : own === undefined
        ? runSeed({ ...run, protocol: protocolNamed(protocol), ...heard })
        : own({ ...run, ...heard });
    totals.seeds++;
    totals.events += outcome.events;
    totals.messages += outcome.messages;
    totals.collectives += outcome.collectives;
    totals.deaths += outcome.deaths;
    if (outcome.violations.length > 0) {
      totals.failures++;
      process.stdout.write(`${failureText(run, outcome)}\n`);
    }
    if (count >= 500 && totals.seeds % Math.ceil(count / 10) === 0 && totals.seeds < count) {
      complain(`${totals.seeds} of ${count} seeds, ${totals.failures} failed`);
    }
    if (count === 1) process.stdout.write(`seed ${seed}: ${outcome.ranks} ranks, hash ${outcome.hash}\n`);
  }
  const seconds = (Number(process.hrtime.bigint() - started) / 1e9).toFixed(1);
  const { seeds, failures, messages, collectives, deaths } = totals;
  const verdict = failures === 0 ? "all held" : `${failures} failed`;
  process.stdout.write(
    `${seeds} ${seeds === 1 ? "seed" : "seeds"}, ${verdict}: ${messages} messages, ${collectives} collectives, ${deaths} deaths, ${totals.events} events in ${seconds} s\n`,
  );
  return failures === 0 ? 0 : 1;
}
