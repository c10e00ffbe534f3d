/** Measurements: for each contender and metric the figures at every point, run by run. */
import { medianOfMedians } from "./median.ts";
import type { Sample } from "./samples.ts";

/** A program that takes part: one of Banyan's, or a peer's. */
export interface Contender {
  readonly id: string;
  /** The name in tables and plots. */
  readonly label: string;
  readonly isOurs: boolean;
}

export interface Point {
  readonly x: number;
  /** One list of batches for each run. */
  readonly runs: readonly (readonly number[])[];
  /** The median of the runs' medians. */
  readonly median: number;
}

export interface Series {
  readonly contender: Contender;
  readonly metric: string;
  /** In ascending order. */
  readonly points: readonly Point[];
}

/** Collects the samples of many runs. */
export class SeriesCollector {
  readonly #series = new Map<string, { contender: Contender; metric: string; points: Map<number, number[][]> }>();

  add(contender: Contender, { metric, x, figures }: Sample): void {
    const key = `${contender.id} ${metric}`;
    const series = this.#series.get(key) ?? { contender, metric, points: new Map() };
    this.#series.set(key, series);
    const runs = series.points.get(x) ?? [];
    series.points.set(x, runs);
    runs.push([...figures]);
  }

  series(): Series[] {
    return [...this.#series.values()].map(({ contender, metric, points }) => ({
      contender,
      metric,
      points: [...points].sort(([a], [b]) => a - b).map(([x, runs]) => ({ x, runs, median: medianOfMedians(runs) })),
    }));
  }
}

/** The same measurement in another unit, figure by figure. */
export function mapSeries(series: Series, metric: string, convert: (figure: number, x: number) => number): Series {
  const points = series.points.map(({ x, runs }) => {
    const converted = runs.map((figures) => figures.map((figure) => convert(figure, x)));
    return { x, runs: converted, median: medianOfMedians(converted) };
  });
  return { ...series, metric, points };
}

export function medianAt(series: Series | undefined, x: number): number | undefined {
  return series?.points.find((point) => point.x === x)?.median;
}

/** The series of one metric. */
export function ofMetric(series: readonly Series[], metric: string): Series[] {
  return series.filter((one) => one.metric === metric);
}
