/**
 * The output of a measuring program: one line `sample <metric> <x> <figure>…` per point, a figure for each batch. A metric ends
 * in its unit. Other lines are warnings of a runtime, or remarks, and are ignored.
 */
export interface Sample {
  readonly metric: string;
  /** The abscissa of the point: bytes, ranks, messages. */
  readonly x: number;
  readonly figures: readonly number[];
}

/** Lines that are cut off (the program was killed) or damaged (two ranks printed at once) are left out. */
export function parseSamples(text: string): Sample[] {
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  return complete.split("\n").flatMap((line) => parseSample(line) ?? []);
}

function parseSample(line: string): Sample | undefined {
  const [word, metric, ...numbers] = line.trim().split(/\s+/);
  if (word !== "sample" || metric === undefined || !/^[a-z][a-z0-9_]*$/.test(metric)) return undefined;
  const [x, ...figures] = numbers.map(Number);
  if (x === undefined || figures.length === 0) return undefined;
  return [x, ...figures].every(Number.isFinite) ? { metric, x, figures } : undefined;
}
