/**
 * A benchmark: measures one thing, with the peers where they can do the same, and says what came out.
 *
 * The session calls `measure` once per invocation of the command, one benchmark at a time, and does everything that
 * concerns all of them: it prints the tables, appends the series to `<name>.jsonl`, draws the panels into `<name>.svg` and
 * looks up the goals (goals.ts) in the series. A benchmark starts programs only through `lab`, which bounds and ends them,
 * and prints nothing itself. A contender that fails is a trouble, never an exception.
 */
import type { Lab } from "./lab.ts";
import type { Trouble } from "./measure.ts";
import type { AnyPanel } from "./plot.ts";
import type { Series } from "./series.ts";

export interface Benchmark {
  readonly name: string;
  /** For the help: what is measured, in one line. */
  readonly summary: string;
  measure(lab: Lab): Promise<Finding>;
}

export interface Finding {
  readonly series: readonly Series[];
  readonly tables: readonly Table[];
  /** None: there is nothing to draw. */
  readonly panels: readonly AnyPanel[];
  readonly troubles: readonly Trouble[];
}

export interface Table {
  /** What the figures are, their unit, and whether less or more is better. */
  readonly caption: string;
  readonly text: string;
}
