import type { Checker } from "./checker.ts";

/** The bytes that rank 0 has read are the input from its beginning, none left out and none twice. */
export const inputRight: Checker = {
  name: "input is right",
  check: ({ input, stuck, dead, script }) => {
    if (input === undefined || stuck.length > 0) return [];
    const planned = script.actions[0]!.filter(({ kind }) => kind === "input").length;
    const missing =
      dead.has(0) || input.reads === planned ? [] : [`rank 0 has read ${input.reads} times of ${planned}`];
    return [...missing, ...input.problems()];
  },
};
