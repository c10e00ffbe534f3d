import type { Checker } from "./checker.ts";

/** What is in the files, and what ranks were told of them, is what doing everything once leads to. */
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
