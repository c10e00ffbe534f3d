/** Medians: a run disturbed by another program moves a mean, not a median. */

/** NaN for an empty list. */
export function median(figures: readonly number[]): number {
  if (figures.length === 0) return Number.NaN;
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Runs count equally, however many batches each has. */
export function medianOfMedians(runs: readonly (readonly number[])[]): number {
  return median(runs.map(median));
}
