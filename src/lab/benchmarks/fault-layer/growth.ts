/**
 * Tests 1 to 5 of the thesis (§6.2.1) with the fault-simulation layer and without, at the numbers of processes that it had, in the simulator: over the length of messages (its
 * Figures 6.3, 6.4 and A.1 to A.29), and over the number of processes. Times are virtual, the same on every machine. And its Figure 5.23, which is a formula.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { failureProbability } from "../../../core/fault-layer/silent-faults.ts";
import { runTest, testNames } from "../../../sim/fault-layer/tests-1-to-5.ts";
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { layerTree, plainNone } from "../../contenders/contenders.ts";
import type { Lab } from "../../lab.ts";
import { medianAt, type Series } from "../../measuring/series.ts";
import type { MapPanel } from "../../plots/map-plot.ts";
import type { Panel, PlotLine } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { textTable } from "../../tables/text-table.ts";
import { figureText, ratioText } from "../../tables/units.ts";

/** The largest one takes the longest: `--processes` says up to which. */
const growthProcesses = [264, 1_032, 4_104, 12_288, 36_864] as const;
const quickProcesses = [8, 32, 128];
/** Integers in a message. */
const lengths = [1, 64, 4_096];
const quickLengths = [1, 64];
/** In worlds of more processes one length is enough: the time of a message's bytes does not depend on them. */
const lengthsProcessesMax = 4_104;
/** The length at which growth is measured. */
const growthLength = 64;
const repetitions = 2;

const sides = [
  { contender: plainNone, isLayered: false },
  { contender: layerTree, isLayered: true },
] as const;
const tests = testNames.map((name, index) => ({ test: index + 1, name, growth: `test_${index + 1}_us` }));
const lengthMetric = (test: number, ranks: number): string => `test_${test}_${ranks}_processes_us`;

export const layerGrowth: Benchmark = {
  name: "fault-layer-growth",
  summary: "Tests 1 to 5 of the fault layer among 264 to 36 864 simulated processes, with the layer and without",
  async measure(lab): Promise<Finding> {
    const processes = lab.quick ? quickProcesses : growthProcesses.filter((ranks) => ranks <= lab.sizes.processesMax);
    const measured = await measuredSeries(lab, processes);
    if (measured.length === 0) return { series: [], troubles: [], tables: [], panels: [] };
    const series = [...measured, ...slopes(measured, processes)];
    return {
      series,
      troubles: [],
      tables: [...tests.map((one) => growthTable(series, processes, one)), slopeTable(series)],
      panels: [
        ...growthPanels(series),
        ...lengthPanels(series, processes, lab.quick ? quickLengths : lengths),
        formula(),
      ],
    };
  },
};

/** One point after the other: each is a world of its own, which is gone afterwards. In between the command hears its user. */
async function measuredSeries(lab: Lab, processes: readonly number[]): Promise<Series[]> {
  const series: Series[] = [];
  for (const { contender, isLayered } of sides) {
    for (const { test, growth } of tests) {
      const grown: Series["points"][number][] = [];
      for (const ranks of processes) {
        const all = lab.quick ? quickLengths : lengths;
        const points: Series["points"][number][] = [];
        for (const words of ranks <= lengthsProcessesMax ? all : [growthLength]) {
          lab.progress(`test ${test} among ${ranks} processes, ${contender.label}, ${words} integers`);
          await nextTurn();
          if (lab.isInterrupted) return [];
          const us = runTest({ ranks, test, isLayered, words, repetitions }).ns / 1_000;
          points.push({ x: words, runs: [[us]], median: us });
        }
        if (points.length > 1) series.push({ contender, metric: lengthMetric(test, ranks), points });
        const { median } = points.find(({ x }) => x === growthLength)!;
        grown.push({ x: ranks, runs: [[median]], median });
      }
      series.push({ contender, metric: growth, points: grown });
    }
  }
  return series;
}

/** What the layer adds for twice as many processes: between the two smallest worlds, and between the two largest. */
function slopes(series: readonly Series[], processes: readonly number[]): Series[] {
  const added = (growth: string, ranks: number): number => {
    const [plain, layered] = sides.map(({ contender }) =>
      medianAt(
        series.find((one) => one.metric === growth && one.contender.id === contender.id),
        ranks,
      ),
    );
    return layered! - plain!;
  };
  return tests.map(({ test, growth }) => {
    const points = processes.slice(1).map((ranks, i) => {
      const before = processes[i]!;
      const slope = (added(growth, ranks) - added(growth, before)) / Math.log2(ranks / before);
      return { x: i + 1, runs: [[slope]], median: slope };
    });
    return { contender: layerTree, metric: slopeMetric(test), points };
  });
}

export const slopeMetric = (test: number): string => `test_${test}_slope_us`;

function growthTable(
  series: readonly Series[],
  processes: readonly number[],
  { name, growth }: (typeof tests)[number],
): Table {
  return {
    caption: `Test ${name}, ${growthLength} integers: virtual µs, less is better`,
    text: metricTable(
      series.filter(({ metric }) => metric === growth),
      processes.map((ranks) => ({ text: `${ranks} processes`, metric: growth, x: ranks })),
      { heading: "", contenders: [plainNone, layerTree], ratios: [[layerTree, plainNone]] },
    ),
  };
}

function slopeTable(series: readonly Series[]): Table {
  const rows = tests.map(({ test, name }) => {
    const points = series.find(({ metric }) => metric === slopeMetric(test))?.points ?? [];
    const [first, last] = [points[0]?.median ?? Number.NaN, points.at(-1)?.median ?? Number.NaN];
    return [name, figureText(first), figureText(last), first === 0 ? "" : ratioText(last / first)];
  });
  const right = (heading: string) => ({ heading, align: "right" }) as const;
  return {
    caption: "What the layer adds for twice as many processes, virtual µs: a logarithm has the same everywhere",
    text: textTable([{ heading: "test", align: "left" }, right("smallest"), right("largest"), right("ratio")], rows),
  };
}

const lineOf = ({ contender, points }: Series): PlotLine => ({
  label: contender.label,
  style: contender.id === layerTree.id ? 0 : 2,
  points: points.map(({ x, median }) => ({ x, y: median })),
});

function growthPanels(series: readonly Series[]): Panel[] {
  return tests.map(({ name, growth }) => ({
    title: `Test ${name}`,
    xLabel: "processes",
    xText: String,
    yLabel: "virtual µs",
    lines: series.filter(({ metric }) => metric === growth).map(lineOf),
  }));
}

/** Figures 6.3 and A.1 to A.29; Figure 6.4, the ratio, once for each test. */
function lengthPanels(series: readonly Series[], processes: readonly number[], all: readonly number[]): Panel[] {
  const axis = { xLabel: "integers", xText: String };
  return tests.flatMap(({ test, name }) => {
    const shown = processes.filter((ranks) => series.some(({ metric }) => metric === lengthMetric(test, ranks)));
    const lines = (ranks: number): Series[] => series.filter(({ metric }) => metric === lengthMetric(test, ranks));
    const ratios = shown.map((ranks, style) => {
      const [plain, layered] = lines(ranks);
      const points = all.map((x) => ({
        x,
        y: (medianAt(layered, x) ?? Number.NaN) / (medianAt(plain, x) ?? Number.NaN),
      }));
      return { label: `${ranks} processes`, style, points };
    });
    return [
      ...shown.map((ranks) => ({
        ...axis,
        title: `Test ${name}: ${ranks} processes`,
        yLabel: "virtual µs",
        lines: lines(ranks).map(lineOf),
      })),
      { ...axis, title: `Test ${name}: with the layer`, yLabel: "as a multiple of the time without", lines: ratios },
    ];
  });
}

/** Figure 5.23: the probability that a process fails, k = 3. */
function formula(): MapPanel {
  const steps = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
  const down = [...steps].reverse();
  return {
    title: "Probability that a process fails (§5.4), k = 3",
    xLabel: "probability of a bit to flip",
    yLabel: "of a failure for other reasons",
    columns: steps.map(String),
    rows: down.map(String),
    cells: down.map((pc) => steps.map((pf) => failureProbability({ pc, pf, k: 3 }))),
    rowsTogether: down.length,
  };
}
