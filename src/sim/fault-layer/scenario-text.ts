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
 * them unless it is dead. A `#` begins a comment. What is recorded is compared line by line.
 */
import { type BackgroundWay, backgroundWays } from "../../core/fault-layer/background-way.ts";

export interface ScenarioCall {
  readonly ranks: readonly number[];
  readonly name: string;
  readonly words: readonly string[];
  /** For messages. */
  readonly text: string;
}

export interface TextScenario {
  readonly ranks: number;
  readonly fanOut: number;
  readonly background: BackgroundWay;
  readonly calls: readonly ScenarioCall[];
  /** All up to the dashes, and the line of dashes: what stays when the scenario is recorded anew. */
  readonly head: string;
  readonly recorded: readonly string[];
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

const dashes = /^-{4,}$/;

/** A text instead: the line that is none, and why. */
export function parseScenario(text: string): TextScenario | string {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => dashes.test(line));
  const program = end < 0 ? lines : lines.slice(0, end);
  const [first = "", ...rest] = program.map(withoutComment).filter((line) => line !== "");
  const world = parseWorld(first);
  if (typeof world === "string") return wrong(first, world);
  const calls: ScenarioCall[] = [];
  for (const line of rest) {
    const call = parseCall(line, world.ranks);
    if (typeof call === "string") return wrong(line, call);
    calls.push(call);
  }
  const head = end < 0 ? `${text.trimEnd()}\n----\n` : `${lines.slice(0, end + 1).join("\n")}\n`;
  const recorded = end < 0 ? [] : lines.slice(end + 1).filter((line) => line !== "");
  return { ...world, calls, head, recorded };
}

const withoutComment = (line: string): string => line.replace(/#.*/, "").trim();

const wrong = (line: string, why: string): string => `Cannot read the scenario: "${line}": ${why}`;

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
  const named = parseRanks(who, ranks);
  if (named === null) return `"${who}" are no ranks of 0 to ${ranks - 1}`;
  const count = wordCounts[name];
  if (count === undefined) return `there are ${Object.keys(wordCounts).join(", ")}`;
  const isRight = name === "split" ? words.length > count : words.length === count;
  if (!isRight) return `${name} has ${count} words${name === "split" ? ", and a colour for each member" : ""}`;
  return { ranks: named, name, words, text: [name, ...words].join(" ") };
}

function parseRanks(text: string, ranks: number): number[] | null {
  if (text === "all") return Array.from({ length: ranks }, (_, rank) => rank);
  const named: number[] = [];
  for (const part of text.split(",")) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) >= ranks || Number(first) > Number(last)) return null;
    for (let rank = Number(first); rank <= Number(last); rank++) named.push(rank);
  }
  return named;
}
