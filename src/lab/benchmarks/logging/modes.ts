/** The three modes that the paper on correlated sets compares: no fault tolerance, message logging with correlated sets, and the classical one. */
import { loggingClassical, loggingNone, loggingSets } from "../../contenders/contenders.ts";
import { type Contender, medianAt, type Series } from "../../measuring/series.ts";

export interface LoggingMode {
  readonly contender: Contender;
  /** Options of `banyan run`. */
  readonly options: readonly string[];
  /** The same with so much memory that no payload has to go to the disk. */
  readonly roomy: readonly string[];
}

const sets = ["--protocol", "logging", "--sets", "node"];
const classical = ["--protocol", "logging", "--sets", "rank"];
const memory = ["--memory", "2047"];
const logMemory = [...memory, "--log-memory", "1500"];

export const modes: readonly LoggingMode[] = [
  { contender: loggingNone, options: [], roomy: memory },
  { contender: loggingSets, options: sets, roomy: [...sets, ...logMemory] },
  { contender: loggingClassical, options: classical, roomy: [...classical, ...logMemory] },
];

export const contenders: readonly Contender[] = modes.map(({ contender }) => contender);

/** The cost of logging: each mode against none. */
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

/** A figure computed from others. */
export function derived(contender: Contender, metric: string, x: number, figure: number | undefined): Series[] {
  if (figure === undefined || !Number.isFinite(figure)) return [];
  return [{ contender, metric, points: [{ x, runs: [[figure]], median: figure }] }];
}
