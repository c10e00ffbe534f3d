/**
 * Figure 5 of MPICH-V, and more: the ping-pong between two nodes, over TCP without a protocol and through channel memories: one for both ranks,
 * one for each, and one that forces what it has to the disk before anything follows from it.
 *
 * Nothing is freed during the run, so the disk limits the round trips of each size; all contenders make as many.
 */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { memoryOfDisk, memoryOne, memoryTwo, plainNone, plotLines } from "../../contenders/contenders.ts";
import { sourcePath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { type Contender, mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { bytesText } from "../../tables/units.ts";

const memories = ["--protocol", "channel-memory"];
const modes: readonly { readonly contender: Contender; readonly options: readonly string[] }[] = [
  { contender: plainNone, options: [] },
  { contender: memoryOne, options: memories },
  { contender: memoryTwo, options: [...memories, "--memories", "2"] },
  { contender: memoryOfDisk, options: [...memories, "--durable", "disk"] },
];
const contenders = modes.map(({ contender }) => contender);
const ratios = contenders.slice(1).map((contender) => [contender, plainNone] as const);

const sizes = [1, 8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
const sizesQuick = [8, 1 << 20];
/** Of each size, in the files of the memories. */
const bytesMax = 64e6;
const roundsMax = 300;
const roundsMin = 5;
const latency = "latency_us";
const bandwidth = "bandwidth_mbs";
const paper = "MPICH-V, Fig. 5: twice the time of P4";

export const memoryPingPong: Benchmark = {
  name: "channel-memory-ping-pong",
  summary: "Figure 5: ping-pong between two nodes through channel memories, against TCP",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(sourcePath("ping-pong"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
    const { series: times, troubles } = await lab.measure(modes.map((mode) => start(lab, built.program, mode)));
    const bandwidths = ofMetric(times, latency).map((one) => mapSeries(one, bandwidth, (us, bytes) => bytes / us));
    const series = [...times, ...bandwidths];
    return { series, troubles, tables: tables(lab, series), panels: panels(series) };
  },
};

const sizesOf = ({ quick }: Lab): readonly number[] => (quick ? sizesQuick : sizes);

function start(lab: Lab, module: string, { contender, options }: (typeof modes)[number]): MeasuredStart {
  const rounds = (bytes: number): number =>
    lab.quick ? 4 : Math.max(roundsMin, Math.min(roundsMax, Math.floor(bytesMax / 10 / bytes)));
  const counts = lab.quick ? ["2", "1"] : ["5", "2"];
  const args = [latency, "named", ...counts, ...sizesOf(lab).map((bytes) => `${bytes}:${rounds(bytes)}`)];
  return lab.ownModule(
    { contender, module, ranks: 2, options: ["--nodes", "2", ...options], args },
    { timeLimitMs: 300_000, variant: contender.id },
  );
}

function tables(lab: Lab, series: readonly Series[]): Table[] {
  const table = (metric: string, caption: string): Table => ({
    caption,
    text: metricTable(
      series.filter((one) => one.metric === metric),
      sizesOf(lab).map((bytes) => ({ text: bytesText(bytes), metric, x: bytes })),
      { heading: "size", contenders, ratios },
    ),
  });
  return [
    table(latency, `Ping-pong between two nodes: half a round trip in µs, less is better (${paper})`),
    table(bandwidth, "Bandwidth between two nodes: MB/s, more is better"),
  ];
}

function panels(series: readonly Series[]): Panel[] {
  const panel = (metric: string, title: string, yLabel: string): Panel => ({
    title,
    xLabel: "message size",
    xText: bytesText,
    yLabel,
    lines: plotLines(ofMetric(series, metric)),
  });
  return [
    panel(latency, "Figure 5: latency between two nodes", "half a round trip, µs"),
    panel(bandwidth, "Figure 5: bandwidth between two nodes", "MB/s"),
  ];
}
