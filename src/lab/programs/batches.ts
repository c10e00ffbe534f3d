/** Shared by the measuring programs: the order of batches, and the output line of a figure. */

export interface Batches {
  readonly measured: number;
  /** Run first and thrown away: code is compiled, pages are touched, connections are open. */
  readonly warm: number;
}

/** Runs all batches; the figures of the measured ones. */
export function eachBatch({ measured, warm }: Batches, once: () => number): number[] {
  const figures: number[] = [];
  for (let batch = -warm; batch < measured; batch++) {
    const figure = once();
    if (batch >= 0) figures.push(figure);
  }
  return figures;
}

/** Read by lab/measuring/samples.ts; the C programs print the same. */
export function printSample(metric: string, x: number, figures: readonly number[]): void {
  console.log(`sample ${metric} ${x} ${figures.map((figure) => figure.toFixed(4)).join(" ")}`);
}

/** `<batches> <warm-up batches> …`, the arguments of all programs. */
export function readBatches([measured, warm]: readonly string[]): Batches {
  return { measured: Number(measured), warm: Number(warm) };
}
