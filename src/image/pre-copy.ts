/**
 * When to stop copying while the program runs: pre-copy as in live migration of virtual machines (Clark et al., NSDI 2005).
 * Every round writes what changed during the one before. That pays as long as rounds get shorter; a program that changes its
 * pages as fast as they are written gains nothing, and the file grows.
 */
export const roundsMax = 6;

/** So few that writing them while the program stands still takes a few milliseconds (16 MiB). */
const pagesFew = 4096;

/** `changed`: pages that each round so far had to write, the first one included. */
export function isWorthAnotherRound(changed: readonly number[]): boolean {
  if (changed.length === 0) return true;
  const last = changed.at(-1)!;
  const before = changed.at(-2);
  if (changed.length >= roundsMax || last <= pagesFew) return false;
  return before === undefined || last <= before * 0.7;
}
