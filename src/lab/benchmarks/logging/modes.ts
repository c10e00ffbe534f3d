/** The three modes that seed 001 compares: no fault tolerance, message logging with correlated sets, and the classical one. */
import { loggingClassical, loggingNone, loggingSets } from "../../contenders.ts";
import { type Contender, medianAt, type Series } from "../../series.ts";

export interface Mode {
  readonly contender: Contender;
  /** For `banyan run`. */
  readonly options: readonly string[];
}

export const modes: readonly Mode[] = [
  { contender: loggingNone, options: [] },
  { contender: loggingSets, options: ["--protocol", "logging", "--sets", "node"] },
  { contender: loggingClassical, options: ["--protocol", "logging", "--sets", "rank"] },
];

export const contenders: readonly Contender[] = modes.map(({ contender }) => contender);

/** What logging costs: each way against none. */
export const ratios: readonly (readonly [Contender, Contender])[] = [
  [loggingSets, loggingNone],
  [loggingClassical, loggingNone],
];

export function figureOf(series: readonly Series[], { id }: Contender, metric: string, x: number): number | undefined {
  return medianAt(
    series.find((one) => one.contender.id === id && one.metric === metric),
    x,
  );
}

/** A figure that was computed from others. */
export function derived(contender: Contender, metric: string, x: number, figure: number | undefined): Series[] {
  if (figure === undefined || !Number.isFinite(figure)) return [];
  return [{ contender, metric, points: [{ x, runs: [[figure]], median: figure }] }];
}
