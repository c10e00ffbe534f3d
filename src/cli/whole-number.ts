/** Reads the number behind an option; anything else is a mistake in how the command was called. */
import { UsageError } from "./complain.ts";

export function wholeNumber(option: string): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text)) throw new UsageError(`Cannot use "${text}" for ${option}: it must be a whole number`);
    return Number(text);
  };
}
