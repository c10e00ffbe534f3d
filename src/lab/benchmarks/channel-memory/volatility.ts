/**
 * Figures 10 and 12 of MPICH-V, row V10: bt, whose ranks talk all the time. What checkpoints cost, for 0 to 4 of each process; and how long it takes
 * on nine nodes of which one is killed every five to eight seconds. The number of steps is chosen so that a run takes as long as it should here.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { memoryOne, plotLines } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { ChildRun } from "../../measuring/child.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Sample } from "../../measuring/samples.ts";
import { mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import { optionsOfMemories } from "./options.ts";

/** One of the two experiments. */
interface Experiment {
  readonly metric: string;
  readonly ranks: number;
  readonly memories: number;
  /** Of the grid, and how many steps are tried to see how long one takes. */
  readonly size: number;
  readonly stepsTried: number;
  readonly seconds: number;
  /** How many checkpoints, or faults. */
  readonly counts: readonly number[];
  /** Options for a count. */
  readonly options: (count: number, seconds: number) => string[];
}

const checkpointed: Experiment = {
  metric: "checkpointed_s",
  ranks: 4,
  memories: 1,
  size: 36,
  stepsTried: 40,
  seconds: 40,
  counts: [0, 1, 2, 3, 4],
  // The last one has time to end before the program does.
  options: (count, seconds) =>
    count === 0 ? [] : ["--checkpoint-every", `${Math.round((seconds * 1000) / (count + 0.5))}ms`],
};
const faulty: Experiment = {
  metric: "faulty_s",
  ranks: 9,
  memories: 3,
  size: 36,
  stepsTried: 40,
  seconds: 90,
  counts: [0, 1, 2, 4, 6, 8, 10],
  options: (count) => [
    ...["--checkpoint-every", "5s"],
    ...(count === 0 ? [] : ["--faults", `seed 12; kill random node every 6500ms ±1500ms times ${count}`]),
  ],
};
const quickly = (experiment: Experiment, counts: readonly number[]): Experiment => ({
  ...experiment,
  ranks: 4,
  memories: 2,
  size: 12,
  stepsTried: 10,
  seconds: 1,
  counts,
});
const speed = "speed";

export const memoryVolatility: Benchmark = {
  name: "channel-memory-volatility",
  summary: "Figures 10 and 12: bt with checkpoints, and with a node killed every 5 to 8 s",
  async measure(lab) {
    const built = await lab.compile(kernelPath("bt"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: memoryOne, message: built.why }] };
    const experiments = lab.quick ? [quickly(checkpointed, [0, 1]), quickly(faulty, [0])] : [checkpointed, faulty];
    const starts: MeasuredStart[] = [];
    for (const experiment of experiments) starts.push(...(await startsOf(lab, built.program, experiment)));
    const { series: times, troubles } = await lab.measure(starts);
    const series = [...times, ...speeds(times)];
    return { series, troubles, tables: tables(series, experiments), panels: panels(series) };
  },
};

async function startsOf(lab: Lab, module: string, experiment: Experiment): Promise<MeasuredStart[]> {
  const { ranks, memories, size, stepsTried, seconds, counts, metric, options } = experiment;
  const words = (more: readonly string[], steps: number): string[] => [
    ...["run", "-n", `${ranks}`, "--nodes", `${ranks}`, ...optionsOfMemories(memories), ...more],
    ...[module, `${size}`, `${steps}`],
  ];
  const tried = readKernel(metric, await lab.run(banyanCommand(words([], stepsTried)), 300_000));
  const triedSeconds = tried?.[0]?.figures[0];
  if (triedSeconds === undefined) return [];
  const steps = Math.max(stepsTried, Math.round((seconds / triedSeconds) * stepsTried));
  return counts.map((count) => ({
    contender: memoryOne,
    variant: `${metric} ${count}`,
    command: banyanCommand(words(options(count, seconds), steps)),
    timeLimitMs: 600_000,
    read: (run) => wholeRun(metric, count, run),
  }));
}

/** All of the command's time, because those who are started again repeat what their clocks have said; only if the result is right. */
function wholeRun(metric: string, x: number, run: ChildRun): Sample[] | undefined {
  return readKernel(metric, run) === undefined ? undefined : [{ metric, x, figures: [run.ms / 1000] }];
}

/** Part of the full speed that is left with so many checkpoints. */
function speeds(series: readonly Series[]): Series[] {
  return ofMetric(series, checkpointed.metric).map((one) => {
    const full = one.points.find(({ x }) => x === 0)?.median ?? Number.NaN;
    return mapSeries(one, speed, (seconds) => full / seconds);
  });
}

function tables(series: readonly Series[], [first, second]: readonly Experiment[]): Table[] {
  const rows = (experiment: Experiment | undefined, metric: string, what: string) =>
    (experiment?.counts ?? []).map((count) => ({ text: `${count} ${what}`, metric, x: count }));
  const look = { contenders: [memoryOne], ratios: [] };
  return [
    {
      caption: `bt on ${first?.ranks} nodes with checkpoints of each process: part of the full speed, more is better (MPICH-V, Fig. 10: 0.94 with four)`,
      text: metricTable(series, rows(first, speed, "each"), { heading: "checkpoints", ...look }),
    },
    {
      caption: `bt on ${second?.ranks} nodes, checkpoints every 5 s, a node killed every 5 to 8 s: seconds, less is better (MPICH-V, Fig. 12: 1.8 × with ten)`,
      text: metricTable(series, rows(second, faulty.metric, "killed"), { heading: "nodes", ...look }),
    },
  ];
}

function panels(series: readonly Series[]): Panel[] {
  return [
    {
      title: "Figure 10: speed of bt with checkpoints",
      xLabel: "checkpoints of each process",
      xText: String,
      yLabel: "part of the full speed",
      lines: plotLines(ofMetric(series, speed)),
    },
    {
      title: "Figure 12: bt on nine nodes, of which some are killed",
      xLabel: "nodes killed",
      xText: String,
      yLabel: "seconds",
      lines: plotLines(ofMetric(series, faulty.metric)),
    },
  ];
}
