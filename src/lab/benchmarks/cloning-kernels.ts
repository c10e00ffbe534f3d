/**
 * Figure 4 of the paper: how long kernels are vulnerable after the loss of a world, by the number of ranks (`probes/window-probe.ts`). All replicas of one of two nodes
 * are lost, and come back on a spare one after the other.
 */
import type { Benchmark, Finding, Table } from "../benchmark.ts";
import { kernelPath } from "../installation.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import { type Contender, ofMetric, type Series } from "../measuring/series.ts";
import type { Panel } from "../plots/plot.ts";
import { probeCommand } from "../probes/probe.ts";
import { metricTable } from "../tables/metric-table.ts";

interface Kernel {
  readonly contender: Contender;
  readonly args: readonly string[];
}

/** Solved so often they run for longer than it takes to make sixteen clones; they end when those are there. */
const timesMany = 30;
const counts = [2, 4, 8, 16];
const quickCounts = [2];

const kernel = (name: string, args: readonly string[]): Kernel => ({
  contender: { id: name, label: name, isOurs: true },
  args,
});

export const cloningKernels: Benchmark = {
  name: "cloning-kernels",
  summary: "Figure 4: how long kernels lack replicas after the loss of a node, on 2 to 16 ranks",
  async measure(lab): Promise<Finding> {
    const { kernelClass } = lab.sizes;
    const all = [
      ...["bt", "sp"].map((name) => kernel(name, [])),
      kernel("cg", [kernelClass]),
      ...["ft", "mg"].map((name) => kernel(name, [kernelClass, `${timesMany}`])),
    ];
    const chosen = lab.quick ? all.slice(0, 1) : all;
    const measured = lab.quick ? quickCounts : counts;
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const { contender, args } of chosen) {
      const built = await lab.compile(kernelPath(contender.id), ["-O3"]);
      if (built.kind === "unusable") {
        troubles.push({ contender, message: built.why });
        continue;
      }
      for (const ranks of measured) {
        const command = probeCommand({ of: "window", module: built.program, args, ranks });
        starts.push({ contender, variant: `${ranks} ranks`, command, timeLimitMs: 180_000 });
      }
    }
    const { series, troubles: more } = await lab.measure(starts);
    const contenders = chosen.map(({ contender }) => contender);
    return {
      series,
      troubles: [...troubles, ...more],
      tables: tables(series, measured, contenders),
      panels: [panel(series, contenders)],
    };
  },
};

const metrics = [
  { metric: "window_ms", title: "From the loss of a node until all its replicas are back", unit: "ms" },
  { metric: "pause_ms", title: "The longest time for which a source stood still", unit: "ms" },
  { metric: "moved_mb", title: "Memory that was moved", unit: "MB" },
] as const;

function tables(series: readonly Series[], measured: readonly number[], contenders: readonly Contender[]): Table[] {
  return metrics.map(({ metric, title, unit }) => ({
    caption: `${title}: ${unit}, less is better`,
    text: metricTable(
      series,
      measured.map((ranks) => ({ text: `${ranks} ranks`, metric, x: ranks })),
      { heading: "", contenders, ratios: [] },
    ),
  }));
}

function panel(series: readonly Series[], contenders: readonly Contender[]): Panel {
  const [{ metric, title, unit }] = metrics;
  return {
    title,
    xLabel: "ranks",
    xText: (x: number) => `${x}`,
    yLabel: unit,
    lines: ofMetric(series, metric).map(({ contender, points }) => ({
      label: contender.label,
      style: contenders.findIndex(({ id }) => id === contender.id),
      points: points.map(({ x, median }) => ({ x, y: median })),
    })),
  };
}
