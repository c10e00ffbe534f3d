/** A logarithmic axis: the places of values, and which of them get a label. */
export interface LogAxis {
  readonly low: number;
  readonly high: number;
  /** 0 at `low`, 1 at `high`. */
  place(value: number): number;
  /** Grid lines with a label. */
  readonly labelled: readonly number[];
  /** Grid lines without one. */
  readonly others: readonly number[];
}

/** Powers of ten around all values; over less than two decades 2 and 5 times them are labelled too. */
export function decimalAxis(values: readonly number[]): LogAxis {
  const low = roundedDown(Math.min(...values));
  const high = roundedUp(Math.max(...values), low);
  const steps = [1, 2, 5].flatMap((step) => decades(low, high).map((decade) => step * decade));
  const inside = steps.filter((value) => value >= low * 0.999 && value <= high * 1.001).sort((a, b) => a - b);
  const isNarrow = Math.log10(high / low) < 2;
  const labelled = inside.filter((value) => isNarrow || isPowerOfTen(value));
  return axis(low, high, labelled, inside);
}

/** The values themselves are the grid; labels are thinned out until there are at most this many. */
export function valuesAxis(values: readonly number[], labelsMax: number): LogAxis {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  let every = 1;
  while (Math.ceil(sorted.length / every) > labelsMax) every++;
  return axis(
    sorted[0]!,
    sorted.at(-1)!,
    sorted.filter((_, i) => i % every === 0),
    sorted,
  );
}

function axis(low: number, high: number, labelled: readonly number[], all: readonly number[]): LogAxis {
  const span = Math.log(high / low) || 1;
  return {
    low,
    high,
    place: (value) => Math.log(value / low) / span,
    labelled,
    others: all.filter((value) => !labelled.includes(value)),
  };
}

function decades(low: number, high: number): number[] {
  const from = Math.floor(Math.log10(low) + 1e-9);
  const to = Math.ceil(Math.log10(high) - 1e-9);
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
}

/** Rounds to the next of 1, 2, 5 times a power of ten. */
function roundedDown(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].map((step) => step * decade).find((candidate) => candidate <= value * 1.0001) ?? decade;
}

/** As above, and never less than a factor of two from `low`: an axis must have a length. */
function roundedUp(value: number, low: number): number {
  const wanted = Math.max(value, low * 2);
  const decade = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((step) => step * decade).find((candidate) => candidate >= wanted * 0.9999) ?? 10 * decade;
}

function isPowerOfTen(value: number): boolean {
  return Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
}
