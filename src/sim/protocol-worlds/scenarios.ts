/** Worlds that are made for one question, by protocol and name: each answers in lines, and tells what it is about where that takes a while. */
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { playScenario } from "../fault-layer/play-scenario.ts";
import { parseScenario } from "../fault-layer/scenario-text.ts";
import { describeTests } from "../fault-layer/tests-1-to-5.ts";

type Scenario = (ranks: number, progress: (text: string) => void) => Iterable<string>;

export const scenarios: Readonly<Record<string, Readonly<Record<string, Scenario>>>> = {
  [faultLayer.name]: { "tests-1-to-5": describeTests },
};

/** A scenario that was read from a file, and played. */
interface Played {
  readonly lines: readonly string[];
  /** The first line that is not as it was recorded; null: all are. Undefined: the file ends there. */
  readonly difference: { readonly recorded: string | undefined; readonly now: string | undefined } | null;
  /** The file with what has happened now. */
  readonly text: string;
}

/** By protocol: plays the text of a scenario; a message instead says why it is none. */
export const textScenarios: Readonly<Record<string, (text: string) => Played | string>> = {
  [faultLayer.name]: playLayered,
};

function playLayered(text: string): Played | string {
  const scenario = parseScenario(text);
  if (typeof scenario === "string") return scenario;
  const { recorded, head } = scenario;
  const lines = playScenario(scenario);
  if (typeof lines === "string") return lines;
  const length = Math.max(lines.length, recorded.length);
  const at = Array.from({ length }, (_, i) => i).find((i) => lines[i] !== recorded[i]);
  const difference = at === undefined ? null : { recorded: recorded[at], now: lines[at] };
  return { lines, difference, text: `${head}${lines.join("\n")}\n` };
}
