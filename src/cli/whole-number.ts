/** Reads the number of an option; any other text is a mistake in the call. */
import { UsageError } from "./complain.ts";

export function wholeNumber(option: string): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text)) throw new UsageError(`Cannot use "${text}" for ${option}: it must be a whole number`);
    return Number(text);
  };
}
