import type { Action } from "../script/script.ts";
import type { Checker } from "./checker.ts";

/** Every printed piece arrives once, in the order of its rank, and tells the rank's final history. */
export const printedOnce: Checker = {
  name: "printed once",
  check: ({ script, output, stuck, dead }) =>
    output === undefined || stuck.length > 0
      ? []
      : script.actions.flatMap((actions, rank) => {
          const pieces = output.piecesOf(rank);
          const planned = actions.filter(isPrint).length;
          const [text, wanted] = [output.textOf(rank), pieces.join("")];
          if (text !== wanted) return [`rank ${rank}: the output ${difference(text, wanted)}`];
          if (pieces.length === planned || dead.has(rank)) return [];
          return [`rank ${rank} has printed ${pieces.length} pieces of ${planned}`];
        }),
};

const isPrint = ({ kind }: Action): boolean => kind === "print";

function difference(text: string, wanted: string): string {
  let at = 0;
  while (at < text.length && text[at] === wanted[at]) at++;
  const from = Math.max(0, wanted.lastIndexOf("[", at));
  const shown = (all: string): string => JSON.stringify(all.slice(from, from + 60));
  return `has ${shown(text)} at byte ${from}, and the rank has printed ${shown(wanted)} there`;
}
