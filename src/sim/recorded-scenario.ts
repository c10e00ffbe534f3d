/**
 * Scenarios as text files: a small world and what its ranks call, then a line of dashes, and below it what happened when the scenario was recorded. A `#` begins
 * a comment. What the lines mean is the business of whoever plays them (`scenario-text.ts` in their folders).
 */

export interface ScenarioFile {
  /** Lines above the dashes that say something, without their comments. */
  readonly lines: readonly string[];
  /** All up to the dashes, and the line of dashes: what stays when the scenario is recorded anew. */
  readonly head: string;
  readonly recorded: readonly string[];
}

/** A scenario that was read from a file, and played. */
export interface Played {
  readonly lines: readonly string[];
  /** The first line that is not as it was recorded; null: all are. Undefined: the file ends there. */
  readonly difference: { readonly recorded: string | undefined; readonly now: string | undefined } | null;
  /** The file with what has happened now. */
  readonly text: string;
}

const dashes = /^-{4,}$/;

export function scenarioFileOf(text: string): ScenarioFile {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => dashes.test(line));
  const above = end < 0 ? lines : lines.slice(0, end);
  return {
    lines: above.map(withoutComment).filter((line) => line !== ""),
    head: end < 0 ? `${text.trimEnd()}\n----\n` : `${lines.slice(0, end + 1).join("\n")}\n`,
    recorded: end < 0 ? [] : lines.slice(end + 1).filter((line) => line !== ""),
  };
}

const withoutComment = (line: string): string => line.replace(/#.*/, "").trim();

export const wrongLine = (line: string, why: string): string => `Cannot read the scenario: "${line}": ${why}`;

/** "all", "2", "0-1", "0,3"; null: no ranks of a world of so many. */
export function ranksNamed(text: string, ranks: number): number[] | null {
  if (text === "all") return Array.from({ length: ranks }, (_, rank) => rank);
  const named: number[] = [];
  for (const part of text.split(",")) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) >= ranks || Number(first) > Number(last)) return null;
    for (let rank = Number(first); rank <= Number(last); rank++) named.push(rank);
  }
  return named;
}

export function compareWithRecorded(
  { recorded, head }: Pick<ScenarioFile, "recorded" | "head">,
  lines: readonly string[],
): Played {
  const length = Math.max(lines.length, recorded.length);
  const at = Array.from({ length }, (_, i) => i).find((i) => lines[i] !== recorded[i]);
  const difference = at === undefined ? null : { recorded: recorded[at], now: lines[at] };
  return { lines, difference, text: `${head}${lines.join("\n")}\n` };
}
