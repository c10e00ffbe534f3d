/** Reads the time of an option, in ms: "90", "90s", "1.5m", "2h", "250ms". A plain number is seconds. */
import { UsageError } from "./complain.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, "": 1000, s: 1000, m: 60_000, h: 3_600_000 };

export function duration(option: string): (text: string) => number {
  return (text) => {
    const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m|h|)$/.exec(text.trim());
    if (match === null)
      throw new UsageError(
        `Cannot use "${text}" for ${option}: give a number of seconds, or a time such as 250ms, 90s or 1.5m`,
      );
    return Number(match[1]) * unitMs[match[2]!]!;
  };
}
