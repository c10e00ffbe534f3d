/**
 * When to stop copying while the program runs: pre-copy as in live migration of virtual machines (Clark et al., NSDI 2005).
 * Every round writes the pages that changed during the round before. That pays as long as rounds get shorter; if a program
 * changes its pages as fast as they are written, nothing is gained and the file grows.
 */
export const roundsMax = 6;

/** Few enough to be left for the time when the program stands still: sent to another process (1 MiB), or written within a few milliseconds (16 MiB). */
export const pagesFew = { sent: 256, written: 4096 } as const;

/** Less than that is worth a round, which looks at all pages. */
const shrinks = 0.7;

interface Round {
  /** Those that the round had to write, all of them in the first one. */
  readonly pages: number;
  readonly ms: number;
}

/** `rounds`: those so far; `few`: one of `pagesFew`. */
export function isWorthAnotherRound(rounds: readonly Round[], few: number): boolean {
  const last = rounds.at(-1);
  if (last === undefined) return true;
  if (rounds.length >= roundsMax || last.pages <= few) return false;
  const before = rounds.at(-2);
  if (before === undefined) return true;
  const left = pagesLeft(before, last);
  return left > few && left <= last.pages * shrinks;
}

/** What the program has probably changed during the last round: as much in a millisecond as during the one before, of which the last one wrote the pages. */
const pagesLeft = (before: Round, last: Round): number =>
  before.ms <= 0 ? last.pages : (last.pages * last.ms) / before.ms;
