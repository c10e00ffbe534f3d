/**
 * Fig. 6 and §4.3: LU decomposition (examples/kernels/hpl.c), its speed over the size of the problem, and the largest problem
 * that the same memory has room for. In the paper logged payloads take memory from the matrix; Banyan writes them to the disk
 * when memory is short, and asks for checkpoints that make them unnecessary.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { plotLines } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import { describeTrouble } from "../../measuring/child.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Sample } from "../../measuring/samples.ts";
import { mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import { contenders, derived, type LoggingMode, modes, ratios } from "./modes.ts";

const ranks = 4;
const nodes = 2;
const sizes = [250, 500, 1000, 1500, 2000];
const sizesQuick = [60, 120];
/** Memory of each rank, for the largest problem. */
const memoryMb = 16;
/** The largest problem is found to this many rows; a problem beyond `sizeMax` has no room in any mode. */
const precision = 20;
const sizeMax = 2_900;
const precisionQuick = 1_000;
const secondsMetric = "lu_s";
const speedMetric = "lu_mflops";
const largestMetric = "largest_rows";
const timeLimitMs = 120_000;
const speedPaper = "correlated sets, Fig. 6: sets close to none at every size, classical slower from small sizes on";
const largestPaper = "correlated sets, §4.3: 28 260 without logging, 19 980 with sets, 12 420 classical: 0.71 and 0.44";

export const lu: Benchmark = {
  name: "logging-lu",
  summary: "Fig. 6 and §4.3: speed of an LU decomposition, and the largest one in equal memory",
  async measure(lab) {
    const built = await lab.compile(kernelPath("hpl"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: contenders[0]!, message: built.why }] };
    const chosen = lab.quick ? sizesQuick : sizes;
    const starts = chosen.flatMap((size) => modes.map((mode) => start(lab, built.program, size, mode)));
    const { series: seconds, troubles } = await lab.measure(starts);
    const speeds = seconds.map((one) => mapSeries(one, speedMetric, (s, size) => operations(size) / s / 1e6));
    const largest: Series[] = [];
    for (const mode of modes) {
      const size = await largestOf(lab, built.program, mode);
      largest.push(...derived(mode.contender, largestMetric, memoryMb, size));
    }
    const series = [...seconds, ...speeds, ...largest];
    return { series, troubles, tables: tables(series, chosen), panels: [panel(speeds)] };
  },
};

const operations = (size: number): number => (2 / 3) * size ** 3 + 2 * size ** 2;

function start(lab: Lab, module: string, size: number, { contender, options }: LoggingMode): MeasuredStart {
  const args = [String(size)];
  const placed = ["--nodes", String(nodes), ...options];
  const read = (run: { readonly stdout: string }): Sample[] | undefined =>
    readKernel(secondsMetric, run)?.map((sample) => ({ ...sample, x: size }));
  return lab.ownModule(
    { contender, module, args, ranks, options: placed },
    { timeLimitMs, variant: `size ${size}`, read },
  );
}

/** By halving; a run that fails, for want of memory, was too large. */
async function largestOf(lab: Lab, module: string, { options }: LoggingMode): Promise<number> {
  let [fits, tooLarge] = [0, sizeMax];
  while (tooLarge - fits > (lab.quick ? precisionQuick : precision)) {
    const size = Math.round((fits + tooLarge) / 2 / 10) * 10;
    const words = ["-n", String(ranks), "--nodes", String(nodes), "--memory", String(memoryMb), ...options];
    const run = await lab.run(banyanCommand(["run", "--quiet", ...words, module, String(size)]), timeLimitMs);
    if (run.ending.kind === "interrupted") return fits;
    if (describeTrouble(run) === undefined && readKernel(secondsMetric, run) !== undefined) fits = size;
    else tooLarge = size;
  }
  return fits;
}

function tables(series: readonly Series[], chosen: readonly number[]): Table[] {
  const options = { heading: "size", contenders, ratios };
  return [
    {
      caption: `LU decomposition, ${ranks} ranks on ${nodes} nodes: Mflop/s, more is better (${speedPaper})`,
      text: metricTable(
        series,
        chosen.map((size) => ({ text: String(size), metric: speedMetric, x: size })),
        options,
      ),
    },
    {
      caption: `Largest LU decomposition in ${memoryMb} MB for each of ${ranks} ranks: rows, more is better (${largestPaper})`,
      text: metricTable(series, [{ text: "largest", metric: largestMetric, x: memoryMb }], options),
    },
  ];
}

function panel(speeds: readonly Series[]) {
  return {
    title: `LU decomposition, ${ranks} ranks on ${nodes} nodes`,
    xLabel: "rows",
    xText: String,
    yLabel: "Mflop/s",
    lines: plotLines(ofMetric(speeds, speedMetric)),
  };
}
