/**
 * When to stop copying while the program runs: pre-copy as in live migration of virtual machines (Clark et al., NSDI 2005).
 * Every round writes the pages that changed during the round before. That pays as long as rounds get shorter; if a program
 * changes its pages as fast as they are written, nothing is gained and the file grows.
 */
export const roundsMax = 6;

/** Few enough to be written within a few milliseconds while the program stands still (16 MiB). */
const pagesFew = 4096;

/** `changed`: the pages that each round so far had to write, the first round included. */
export function isWorthAnotherRound(changed: readonly number[]): boolean {
  if (changed.length === 0) return true;
  const last = changed.at(-1)!;
  const before = changed.at(-2);
  if (changed.length >= roundsMax || last <= pagesFew) return false;
  return before === undefined || last <= before * 0.7;
}
