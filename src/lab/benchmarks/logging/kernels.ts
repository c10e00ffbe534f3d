/**
 * Fig. 5: whole programs in C (examples/kernels) under the three modes, on one node (as in the paper: with sets only choices
 * are logged) and on two. The figure is the time that a program prints for its own timed section, if its result is right. No
 * checkpoints are taken.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { kernelPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import { geometricMean } from "../../measuring/geometric-mean.ts";
import type { MeasuredStart, RunTrouble } from "../../measuring/measure.ts";
import type { Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import { contenders, derived, figureOf, modes, ratios } from "./modes.ts";

interface Kernel {
  readonly name: string;
  readonly args: readonly string[];
}

/** How many ranks, on how many nodes. `word` names the layout in a metric. */
interface Placement {
  readonly ranks: number;
  readonly nodes: number;
  readonly word: string;
}

const placements: readonly Placement[] = [
  { ranks: 2, nodes: 1, word: "node" },
  { ranks: 4, nodes: 2, word: "nodes" },
];
const classed = ["cg", "ft", "is", "mg"];
const others = ["bt", "sp", "hpccg"];
const quick: readonly Kernel[] = [
  { name: "is", args: ["S"] },
  { name: "hpccg", args: ["8", "8", "8", "5"] },
];
const paper = "correlated sets, Fig. 5, one node of 32 or 36 ranks: at most 1.07 × with sets, 1.17 × classical";

export const loggingKernels: Benchmark = {
  name: "logging-kernels",
  summary: "Fig. 5: programs in C under message logging, with sets and classical",
  async measure(lab) {
    const chosen = lab.quick ? quick : kernelsOf(lab);
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const kernel of chosen) {
      const built = await lab.compile(kernelPath(kernel.name), ["-O3"]);
      if (built.kind === "ready") starts.push(...startsOf(lab, built.program, kernel));
      else troubles.push({ contender: contenders[0]!, message: built.why });
    }
    const { series, troubles: more } = await lab.measure(starts);
    const names = chosen.map(({ name }) => name);
    const whole = [...series, ...placements.flatMap((placement) => loggingMeans(series, names, placement))];
    const tables = placements.map((placement) => table(lab, whole, names, placement));
    return { series: whole, troubles: [...troubles, ...more], tables, panels: [] };
  },
};

function kernelsOf({ sizes }: Lab): Kernel[] {
  return [
    ...classed.map((name) => ({ name, args: [sizes.kernelClass] })),
    ...others.map((name) => ({ name, args: [] as string[] })),
  ];
}

const metricOf = (name: string, { word }: Placement): string => `${name}_${word}_s`;

function startsOf(lab: Lab, module: string, { name, args }: Kernel): MeasuredStart[] {
  return placements.flatMap((placement) =>
    modes.map(({ contender, roomy }) => {
      const { ranks, nodes, word } = placement;
      const metric = metricOf(name, placement);
      return lab.ownModule(
        { contender, module, args, ranks, options: ["--nodes", String(nodes), ...roomy] },
        {
          timeLimitMs: 180_000,
          variant: `${name}, ${word}`,
          read: (run) => readKernel(metric, run)?.map((sample) => ({ ...sample, x: ranks })),
        },
      );
    }),
  );
}

/** Geometric means over the kernels that ran in every mode; a ratio of two means is the mean of the ratios. */
export function loggingMeans(series: readonly Series[], names: readonly string[], placement: Placement): Series[] {
  const { ranks } = placement;
  const metrics = names.map((name) => metricOf(name, placement));
  const common = metrics.filter((metric) =>
    contenders.every((contender) => figureOf(series, contender, metric, ranks) !== undefined),
  );
  if (common.length === 0) return [];
  return contenders.flatMap((contender) => {
    const mean = geometricMean(common.map((metric) => figureOf(series, contender, metric, ranks)!));
    return derived(contender, metricOf("kernels", placement), ranks, mean);
  });
}

function table(lab: Lab, series: readonly Series[], names: readonly string[], placement: Placement): Table {
  const { ranks, nodes } = placement;
  const size = lab.quick ? "tiny problems" : `class ${lab.sizes.kernelClass} of NPB; bt, sp and hpccg as they are`;
  const beside = nodes === 1 ? ` (${paper})` : "";
  const rows = [...names, "kernels"].map((name) => ({
    text: name === "kernels" ? "geometric mean" : name,
    metric: metricOf(name, placement),
    x: ranks,
  }));
  return {
    caption: `Kernels under message logging, ${ranks} ranks on ${nodes === 1 ? "one node" : `${nodes} nodes`}, ${size}: seconds, less is better${beside}`,
    text: metricTable(series, rows, { heading: "kernel", contenders, ratios }),
  };
}
