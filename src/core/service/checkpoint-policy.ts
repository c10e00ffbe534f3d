/**
 * How often a set takes a checkpoint: at a fixed interval, or as often as costs least. What a checkpoint costs is measured; how
 * often nodes fail is given, or observed while the job runs.
 *
 * The best interval follows J. W. Young (1974) as refined by J. T. Daly (2006): with cost δ and mean time between failures M,
 *
 *     √(2δM) · (1 + ⅓ √(δ/2M) + ⅑ (δ/2M)) − δ        for δ < 2M, and M otherwise.
 */
import type { Interval } from "../ft/definition.ts";

/** Before anything has failed a failure an hour is expected: a job that runs for a minute takes a checkpoint or two. */
const expectedMs = 3_600_000;
/** Before the first checkpoint its cost is not known. */
const firstMs = 1_000;
/** As long as a checkpoint takes, and never more often than this. */
const shortestMs = 100;

export function bestIntervalMs(costMs: number, meanTimeBetweenFailuresMs: number): number {
  const [cost, mean] = [costMs, meanTimeBetweenFailuresMs];
  if (cost >= 2 * mean) return mean;
  const ratio = cost / (2 * mean);
  return Math.sqrt(2 * cost * mean) * (1 + Math.sqrt(ratio) / 3 + ratio / 9) - cost;
}

export class CheckpointPolicy {
  readonly #interval: Interval;
  #failures = 0;
  /** Of each set, smoothed: the newest counts half. */
  readonly #costMs: (number | undefined)[] = [];

  constructor(interval: Interval) {
    this.#interval = interval;
  }

  /** A checkpoint of that set has kept its ranks from work for this time. */
  cost(set: number, ms: number): void {
    const known = this.#costMs[set];
    this.#costMs[set] = known === undefined ? ms : (known + ms) / 2;
  }

  /** A set has fallen. */
  failed(): void {
    this.#failures++;
  }

  /** Time from one checkpoint of that set to the next; Infinity: there is none. `elapsedMs`: since the job began. */
  nextMs(set: number, elapsedMs: number): number {
    const interval = this.#interval;
    switch (interval.kind) {
      case "never":
        return Number.POSITIVE_INFINITY;
      case "fixed":
        // A rank works for at least as long as its last captures took: otherwise one whose image is large would do nothing else.
        return Math.max(interval.everyMs, this.#costMs[set] ?? 0);
      case "best": {
        const costMs = this.#costMs[set];
        if (costMs === undefined) return firstMs;
        const meanMs = interval.meanTimeBetweenFailuresMs ?? this.#observedMs(elapsedMs);
        return Math.max(shortestMs, bestIntervalMs(costMs, meanMs));
      }
    }
  }

  /** As if one failure of the expected kind had been seen before the job began. */
  #observedMs(elapsedMs: number): number {
    return (expectedMs + elapsedMs) / (1 + this.#failures);
  }
}
