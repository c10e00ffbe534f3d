/**
 * What it takes to make a lost replica anew, by the size of its memory and by how much of that changes meanwhile: a job with two replicas of a rank and
 * a spare, one replica killed (`probes/cloning-probe.ts`). The paper moved 78 MB/s: 0.36 GB in 5.60 s, 7 GB in 90.48 s.
 */
import type { Benchmark, Finding, Table } from "../benchmark.ts";
import { programPath } from "../installation.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { type Contender, ofMetric, type Series } from "../measuring/series.ts";
import type { Panel } from "../plots/plot.ts";
import { probeCommand } from "../probes/probe.ts";
import { metricTable } from "../tables/metric-table.ts";

const rates = [0, 5, 50];
const cases = rates.map((percent) => ({
  percent,
  contender: {
    id: `changing-${percent}`,
    label: percent === 0 ? "nothing changes" : `${percent} % change in a second`,
    isOurs: true,
  } satisfies Contender,
}));
/** What the others do while a clone is made. */
const besideMib = 256;
export const besideOne: Contender = { id: "beside-1", label: "one process computes", isOurs: true };
export const besideTwo: Contender = { id: "beside-2", label: "two processes compute", isOurs: true };
const besideCases = [
  { workers: 1, contender: besideOne },
  { workers: 2, contender: besideTwo },
] as const;
const sizes = [16, 64, 256, 1024];
const quickSizes = [16];

/** The one with the goals. */
export const fewChanging = cases[1]!.contender;

export const cloning: Benchmark = {
  name: "cloning",
  summary: "a lost replica is cloned onto a spare: bandwidth, pause and window, by size and by how much changes",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(programPath("cloned", "c"), ["-O3"]);
    const besideBuilt = await lab.compile(programPath("beside", "c"), ["-O3"]);
    const nothing = (message: string): Finding => ({
      series: [],
      tables: [],
      panels: [],
      troubles: [{ contender: fewChanging, message }],
    });
    if (built.kind === "unusable") return nothing(built.why);
    if (besideBuilt.kind === "unusable") return nothing(besideBuilt.why);
    const measured = lab.quick ? quickSizes : sizes;
    const starts = measured.flatMap((mib) =>
      cases.map(({ percent, contender }): MeasuredStart => {
        const command = probeCommand({ of: "cloning", module: built.program, mib, percent });
        return { contender, variant: `${mib} MiB`, command, timeLimitMs: 180_000 };
      }),
    );
    for (const { workers, contender } of besideCases) {
      const mib = lab.quick ? quickSizes[0]! : besideMib;
      const command = probeCommand({ of: "beside", module: besideBuilt.program, mib, percent: 5, workers });
      starts.push({ contender, variant: `${mib} MiB`, command, timeLimitMs: 180_000 });
    }
    const { series, troubles } = await lab.measure(starts);
    return { series, troubles, tables: tables(series, measured), panels: panels(series) };
  },
};

const metrics = [
  { metric: "copy_mbs", title: "Bandwidth of a clone, whole job", unit: "MB/s", better: "more" },
  { metric: "pause_ms", title: "The source stands still", unit: "ms", better: "less" },
  { metric: "window_ms", title: "From the loss until it is made good", unit: "ms", better: "less" },
  { metric: "rounds", title: "Rounds of copying", unit: "rounds", better: "less" },
] as const;

function tables(series: readonly Series[], measured: readonly number[]): Table[] {
  const rows = (metric: string) => measured.map((mib) => ({ text: `${mib} MiB`, metric, x: mib }));
  const contenders = cases.map(({ contender }) => contender);
  const ofClones = metrics.map(({ metric, title, unit, better }) => ({
    caption: `${title}: ${unit}, ${better} is better`,
    text: metricTable(series, rows(metric), { heading: "memory", contenders, ratios: [] }),
  }));
  const beside = {
    caption: "Speed of others while the clone is made, of that before: more is better",
    text: metricTable(series, rows("beside"), {
      heading: "memory",
      contenders: [besideOne, besideTwo],
      ratios: [],
    }),
  };
  return [...ofClones, beside];
}

function panels(series: readonly Series[]): Panel[] {
  return metrics.slice(0, 3).map(({ metric, title, unit }) => ({
    title,
    xLabel: "memory of the replica, MiB",
    xText: (x: number) => `${x}`,
    yLabel: unit,
    lines: ofMetric(series, metric).map(({ contender, points }) => ({
      label: contender.label,
      style: cases.findIndex((one) => one.contender.id === contender.id),
      points: points.map(({ x, median }) => ({ x, y: median })),
    })),
  }));
}
