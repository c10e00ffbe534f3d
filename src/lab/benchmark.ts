/**
 * A benchmark: one measurement, with the peers where they can do the same, and its tables, plots and troubles.
 *
 * The session calls `measure` once per invocation of the command, one benchmark at a time, and does everything that all
 * benchmarks share: it prints the tables, appends the series to `<name>.jsonl`, draws the panels into `<name>.svg` and looks up
 * the goals (goals.ts) in the series. A benchmark starts programs only through `lab`, which bounds and ends them, and prints
 * nothing itself. A contender that fails is a trouble, never an exception.
 */
import type { Lab } from "./lab.ts";
import type { RunTrouble } from "./measuring/measure.ts";
import type { Series } from "./measuring/series.ts";
import type { AnyPanel } from "./plots/plot.ts";

export interface Benchmark {
  readonly name: string;
  /** The line in the help: the subject of the measurement. */
  readonly summary: string;
  measure(lab: Lab): Promise<Finding>;
}

export interface Finding {
  readonly series: readonly Series[];
  readonly tables: readonly Table[];
  /** Empty: nothing is drawn. */
  readonly panels: readonly AnyPanel[];
  readonly troubles: readonly RunTrouble[];
}

export interface Table {
  /** What the figures are, their unit, and whether less or more is better. */
  readonly caption: string;
  readonly text: string;
}
