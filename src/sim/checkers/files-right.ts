import type { Checker } from "./checker.ts";

/** The contents of the files, and the answers that ranks got, are those of doing every action exactly once. */
export const filesRight: Checker = {
  name: "files are right",
  check: ({ files, stuck, dead, script }) => {
    if (files === undefined || stuck.length > 0) return [];
    const planned = (rank: number): number => script.actions[rank]!.filter(({ kind }) => kind === "file").length;
    const missing = script.actions.flatMap((_, rank) => {
      const done = files.doneBy(rank).length;
      return done === planned(rank) || dead.has(rank)
        ? []
        : [`rank ${rank} has used files ${done} times of ${planned(rank)}`];
    });
    return [...missing, ...files.problems(dead)];
  },
};
