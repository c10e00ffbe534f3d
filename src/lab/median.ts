/** Medians: a run disturbed by something else on the machine moves a mean, not a median. */

/** NaN when there is nothing. */
export function median(figures: readonly number[]): number {
  if (figures.length === 0) return Number.NaN;
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Runs count equally, however many batches each of them gave. */
export function medianOfMedians(runs: readonly (readonly number[])[]): number {
  return median(runs.map(median));
}
