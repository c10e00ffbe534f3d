/**
 * Row U10: the error of a combination of coarse grids after the loss of 0, 1, 2 and 4 of them, of the median and of the worst choice of the lost grids; against the exact solution
 * and against that of the full grid. No clock takes part: the figures are the same on every machine.
 */
import type { Benchmark, Finding, Table } from "../benchmark.ts";
import { examplePath } from "../installation.ts";
import { banyanCommand } from "../lab.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { type Contender, ofMetric, type Series } from "../measuring/series.ts";
import type { Panel, PlotLine } from "../plots/plot.ts";
import { metricTable } from "../tables/metric-table.ts";

/** A problem in so many dimensions. */
export const combinationCases = ["advection", "heat"].flatMap((problem) =>
  [2, 3].map((dims) => ({
    problem,
    dims,
    contender: { id: `${problem}-${dims}d`, label: `${problem}, d = ${dims}`, isOurs: true } satisfies Contender,
  })),
);
const losses = [0, 1, 2, 4];
const choicesMax = { whole: 200, quick: 3 };
const references = [
  { from: "exact", title: "Error of the combined solution" },
  { from: "full", title: "Distance from the full grid's solution" },
] as const;
const choices = ["median", "worst"] as const;

export const lostGrids: Benchmark = {
  name: "combination",
  summary: "the combination technique: its error after the loss of 0, 1, 2 and 4 grids",
  async measure(lab): Promise<Finding> {
    const starts = combinationCases.map(({ problem, dims, contender }): MeasuredStart => {
      const most = lab.quick ? choicesMax.quick : choicesMax.whole;
      const program = [examplePath("combination/errors", "ts"), problem, `${dims}`, `${most}`];
      return { contender, variant: "", command: banyanCommand(["run", "--quiet", ...program]), timeLimitMs: 300_000 };
    });
    const { series, troubles } = await lab.measure(starts, 1);
    return { series, troubles, tables: references.map((one) => table(series, one)), panels: panels(series) };
  },
};

function table(series: readonly Series[], { from, title }: (typeof references)[number]): Table {
  const rows = losses.flatMap((lost) =>
    choices
      .filter((choice) => lost > 0 || choice === "median")
      .map((choice) => ({
        text: lost === 0 ? "none lost" : `${lost} lost, ${choice}`,
        metric: `${from}_${choice}`,
        x: lost,
      })),
  );
  const contenders = combinationCases.map(({ contender }) => contender);
  return {
    caption: `${title}: root of the mean square, times 10⁶, less is better`,
    text: metricTable(series.map(inMillionths), rows, { heading: "grids", contenders, ratios: [] }),
  };
}

function inMillionths(series: Series): Series {
  return { ...series, points: series.points.map((point) => ({ ...point, median: point.median * 1e6 })) };
}

/** The axis is logarithmic and has no 0: the points stand one further to the right than the labels say. */
function panels(series: readonly Series[]): Panel[] {
  const lines = (metric: string, convert: (figure: number, first: number) => number): PlotLine[] =>
    ofMetric(series, metric).map(({ contender, points }) => ({
      label: contender.label,
      style: combinationCases.findIndex((one) => one.contender.id === contender.id),
      points: points.map(({ x, median }) => ({ x: x + 1, y: convert(median, points[0]!.median) })),
    }));
  const axis = { xLabel: "lost grids", xText: (x: number) => `${x - 1}` };
  return [
    {
      ...axis,
      title: "Error after a loss, the worst choice of grids",
      yLabel: "as a multiple of the error without a loss",
      lines: lines("exact_worst", (error, first) => error / first),
    },
    {
      ...axis,
      title: "Distance from the full grid, the worst choice",
      yLabel: "root of the mean square, × 10⁻⁶",
      lines: lines("full_worst", (error) => error * 1e6),
    },
  ];
}
