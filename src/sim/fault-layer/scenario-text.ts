/**
 * Scenarios of the fault-simulation layer as text: a small world, what each of its ranks calls, and below a line of dashes what happens then.
 *
 *     world ranks=4 fan-out=2
 *     all split half world 0 0 1 1
 *     2   die
 *     0-1 barrier half
 *     ----
 *     …
 *
 * A line is for the ranks that it names (`all`, `2`, `0-1`, `0,3`); each rank makes its calls in the order of the lines, and MPI_Finalize behind
 * them unless it is dead. What is recorded is compared line by line.
 */
import { type BackgroundWay, backgroundWays } from "../../core/fault-layer/background-way.ts";
import { ranksNamed, type ScenarioFile, scenarioFileOf, wrongLine } from "../recorded-scenario.ts";

export interface ScenarioCall {
  readonly ranks: readonly number[];
  readonly name: string;
  readonly words: readonly string[];
  /** For messages. */
  readonly text: string;
}

export interface TextScenario extends Pick<ScenarioFile, "head" | "recorded"> {
  readonly ranks: number;
  readonly fanOut: number;
  readonly background: BackgroundWay;
  readonly calls: readonly ScenarioCall[];
}

/** How many words each call has, behind its name. `split` has a colour for each member besides. */
const wordCounts: Readonly<Record<string, number>> = {
  agree: 2,
  barrier: 1,
  bcast: 2,
  compute: 1,
  die: 0,
  free: 1,
  ibarrier: 2,
  ibcast: 3,
  receive: 2,
  revoke: 1,
  send: 2,
  shrink: 2,
  split: 2,
  sum: 1,
  wait: 1,
};

/** A text instead: the line that is none, and why. */
export function parseScenario(text: string): TextScenario | string {
  const { lines, head, recorded } = scenarioFileOf(text);
  const [first = "", ...rest] = lines;
  const world = parseWorld(first);
  if (typeof world === "string") return wrongLine(first, world);
  const calls: ScenarioCall[] = [];
  for (const line of rest) {
    const call = parseCall(line, world.ranks);
    if (typeof call === "string") return wrongLine(line, call);
    calls.push(call);
  }
  return { ...world, calls, head, recorded };
}

function parseWorld(line: string): Pick<TextScenario, "ranks" | "fanOut" | "background"> | string {
  const [name, ...settings] = line.split(/\s+/);
  if (name !== "world") return 'the first line is "world ranks=<number>"';
  const given = new Map(settings.map((setting) => setting.split("=") as [string, string]));
  const unknown = [...given.keys()].find((key) => !["ranks", "fan-out", "background"].includes(key));
  if (unknown !== undefined) return `a world has ranks, fan-out and background, no "${unknown}"`;
  const ranks = Number(given.get("ranks"));
  const fanOut = Number(given.get("fan-out") ?? 2);
  const background = backgroundWays.find((way) => way === (given.get("background") ?? "tree"));
  if (!Number.isInteger(ranks) || ranks < 2 || ranks > 64) return "a world has 2 to 64 ranks";
  if (!Number.isInteger(fanOut) || fanOut < 1) return "the fan-out is 1 or more";
  if (background === undefined) return `the background is ${backgroundWays.join(" or ")}`;
  return { ranks, fanOut, background };
}

function parseCall(line: string, ranks: number): ScenarioCall | string {
  const [who = "", name = "", ...words] = line.split(/\s+/);
  const named = ranksNamed(who, ranks);
  if (named === null) return `"${who}" are no ranks of 0 to ${ranks - 1}`;
  const count = wordCounts[name];
  if (count === undefined) return `there are ${Object.keys(wordCounts).join(", ")}`;
  const isRight = name === "split" ? words.length > count : words.length === count;
  if (!isRight) return `${name} has ${count} words${name === "split" ? ", and a colour for each member" : ""}`;
  return { ranks: named, name, words, text: [name, ...words].join(" ") };
}
