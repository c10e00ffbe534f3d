/** The mean for ratios. NaN for an empty list. */
export function geometricMean(figures: readonly number[]): number {
  return Math.exp(figures.reduce((sum, figure) => sum + Math.log(figure), 0) / figures.length);
}
