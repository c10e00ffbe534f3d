/** What the examples of this folder have in common: the words of the command line, the team, and the lines that the manager prints. */
import { mpi } from "banyan";
import { lead, work } from "./group.ts";
import { Manager, type Repair } from "./manager.ts";
import { describeOutcome } from "./result.ts";
import { createScheme, isClassic } from "./scheme.ts";
import type { Problem } from "./slab.ts";
import { assemble, type Learning } from "./team.ts";

interface Options {
  readonly dims: number;
  readonly least: number;
  readonly depth: number;
  /** Processes of a group, the master included. */
  readonly group: number;
  readonly learning: Learning;
  readonly repair: Repair;
}

const usage = "dims=2 least=4 depth=4 group=2 learn=told|watch repair=smaller|weights";
const leastOf = [0, 0, 4, 3, 2];
const depthOf = [0, 0, 4, 3, 3];

/** Words `name=value`; null: there is one that means nothing. */
export function parseOptions(words: readonly string[]): Options | null {
  const given = new Map<string, string>();
  for (const word of words) {
    const [name = "", value = ""] = word.split("=");
    given.set(name, value);
  }
  const number = (name: string, low: number, high: number, otherwise: number): number => {
    const value = given.has(name) ? Number(given.get(name)) : otherwise;
    given.delete(name);
    return Number.isInteger(value) && value >= low && value <= high ? value : -1;
  };
  const choice = (name: string, first: string, second: string): string | null => {
    const value = given.get(name) ?? first;
    given.delete(name);
    return value === first || value === second ? value : null;
  };
  const dims = number("dims", 2, 4, 2);
  const least = number("least", 1, 6, leastOf[dims] ?? 1);
  const depth = number("depth", 1, 6, depthOf[dims] ?? 1);
  const group = number("group", 1, 1024, 2);
  const learning = choice("learn", "told", "watch");
  const repair = choice("repair", "smaller", "weights");
  const isGood = [dims, least, depth, group].every((value) => value > 0) && least + depth >= 2 && given.size === 0;
  if (!isGood || learning === null || repair === null) return null;
  return { dims, least, depth, group, learning: learning as Learning, repair: repair as Repair };
}

export function runCombination(problem: Problem): void {
  const options = parseOptions(process.argv.slice(2));
  if (options === null) {
    if (mpi.world.rank === 0) console.error(`${problem.name}: give words of ${usage}`);
    process.exitCode = 2;
    return;
  }
  const scheme = createScheme(options);
  const team = assemble(options.group);
  if (team === null) {
    console.error(`${problem.name}: there is nobody but the manager; start it with 2 ranks or more`);
    process.exitCode = 2;
    return;
  }
  const task = { problem, scheme, learning: options.learning, repair: options.repair };
  if (team.group === null) {
    const classic = scheme.levels.filter((level) => isClassic(scheme, level)).length;
    console.log(
      `${problem.name} in ${scheme.dims} dimensions, levels ${scheme.least} to ${scheme.finest}: ${classic} grids`,
    );
    for (const line of describeOutcome(problem, scheme, new Manager(team, task).run())) console.log(line);
  } else if (team.leaders === null) work(team.group, task);
  else if (!lead(team.leaders, team.group, task)) {
    console.error(`${problem.name}: the manager is dead, and with it the solution`);
    process.exitCode = 1;
  }
}
