/**
 * Figure 11 of MPICH-V: a picture by tracing rays, whose rows a master hands out to whoever asks, with more and more ranks; each on a node of its
 * own. Computing counts far more than messages here.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { memoryOne, memoryTwo, plainNone, plotLines } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Contender, Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import { memoryModes, optionsOfMemories } from "./options.ts";

const metric = "raytrace_s";

interface Amount {
  readonly ranks: readonly number[];
  readonly args: readonly string[];
}
const full: Amount = { ranks: [2, 4, 8], args: ["-", "960", "600", "3"] };
const quick: Amount = { ranks: [2], args: ["-", "96", "60", "2"] };

export const memoryRenderer: Benchmark = {
  name: "channel-memory-renderer",
  summary: "Figure 11: a master and its workers paint a picture, through channel memories",
  async measure(lab) {
    const built = await lab.compile(kernelPath("raytrace"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
    const { ranks, args } = lab.quick ? quick : full;
    const starts = ranks.flatMap((count) =>
      memoryModes.map(({ contender, memories }) =>
        start(lab, built.program, { contender, memories, ranks: count, args }),
      ),
    );
    const { series, troubles } = await lab.measure(starts);
    const panel = {
      title: "Figure 11: a picture by tracing rays",
      xLabel: "ranks, each on a node of its own",
      xText: String,
      yLabel: "seconds",
      lines: plotLines(series),
    };
    return { series, troubles, tables: [table(series, ranks)], panels: [panel] };
  },
};

interface Painting {
  readonly contender: Contender;
  readonly memories: number;
  readonly ranks: number;
  readonly args: readonly string[];
}

function start(lab: Lab, module: string, { contender, memories, ranks, args }: Painting): MeasuredStart {
  return lab.ownModule(
    { contender, module, args, ranks, options: ["--nodes", `${ranks}`, ...optionsOfMemories(memories)] },
    {
      timeLimitMs: 300_000,
      variant: `${ranks} ranks`,
      read: (run) => readKernel(metric, run)?.map((sample) => ({ ...sample, x: ranks })),
    },
  );
}

function table(series: readonly Series[], ranks: readonly number[]): Table {
  return {
    caption: "A picture by tracing rays, rows on demand: seconds, less is better (MPICH-V, Fig. 11: within 3 % of P4)",
    text: metricTable(
      series,
      ranks.map((count) => ({ text: `${count} ranks`, metric, x: count })),
      {
        heading: "ranks",
        contenders: memoryModes.map(({ contender }) => contender),
        ratios: [
          [memoryOne, plainNone],
          [memoryTwo, plainNone],
        ],
      },
    ),
  };
}
