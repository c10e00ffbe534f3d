import type { Checker } from "./checker.ts";

/** Files that living ranks had open together hold every record once, in its place; reads have given the same bytes. */
export const sharedFilesRight: Checker = {
  name: "shared files are right",
  check: ({ sharedFiles, stuck, dead, script }) =>
    sharedFiles === undefined || stuck.length > 0 ? [] : sharedFiles.problems(script, dead),
};
