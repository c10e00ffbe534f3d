/** Figures 7a and 7b: latency and bandwidth of a ping-pong between two ranks with two replicas each, against none. */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { plainNone, plotLines } from "../../contenders/contenders.ts";
import { sourcePath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { bytesText } from "../../tables/units.ts";
import { contendersOf, crowdedText, modesOf, type Placement, placements, ratios, startOf } from "./modes.ts";

const ranks = 2;
const sizes = [1, 8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
const sizesQuick = [1, 1 << 20];
const bytesMax = 256e6;
const roundsMax = 1_000;
const roundsMin = 20;
const paper = "SDR-MPI, Fig. 7: 1.42 × for 1 byte, the same bandwidth for large messages";

const latencyOf = ({ word }: Placement): string => `latency_${word}_us`;
const bandwidthOf = ({ word }: Placement): string => `bandwidth_${word}_mbs`;

export const replicationPingPong: Benchmark = {
  name: "replication-ping-pong",
  summary: "Figures 7a and 7b: latency and bandwidth with replicas, against none",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(sourcePath("ping-pong"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
    const chosen = lab.quick ? placements.slice(0, 1) : placements;
    const starts = chosen.flatMap((placement) => startsOf(lab, built.program, placement));
    const { series: latencies, troubles } = await lab.measure(starts);
    const bandwidths = chosen.flatMap((placement) =>
      ofMetric(latencies, latencyOf(placement)).map((one) =>
        mapSeries(one, bandwidthOf(placement), (us, bytes) => bytes / us),
      ),
    );
    const series = [...latencies, ...bandwidths];
    return {
      series,
      troubles,
      tables: chosen.flatMap((placement) => tables(lab, series, placement)),
      panels: chosen.flatMap((placement) => panels(series, placement)),
    };
  },
};

const sizesOf = ({ quick }: Lab): readonly number[] => (quick ? sizesQuick : sizes);

function startsOf(lab: Lab, module: string, placement: Placement): MeasuredStart[] {
  const rounds = (bytes: number): number =>
    lab.quick ? 10 : Math.max(roundsMin, Math.min(roundsMax, Math.floor(bytesMax / 10 / bytes)));
  const numbers = sizesOf(lab).map((bytes) => `${bytes}:${rounds(bytes)}`);
  const counts = lab.quick ? ["3", "1"] : ["7", "2"];
  const args = [latencyOf(placement), "named", ...counts, ...numbers];
  // Without collectives there is nothing that boards could change.
  const chosen = modesOf(placement).filter(({ contender }) => contender.id !== "none-messages");
  return chosen.map((mode) => startOf({ module, args, ranks, variant: placement.word }, placement, mode));
}

function tables(lab: Lab, series: readonly Series[], placement: Placement): Table[] {
  const table = (metric: string, caption: string): Table => ({
    caption,
    text: metricTable(
      series.filter((one) => one.metric === metric),
      sizesOf(lab).map((bytes) => ({ text: bytesText(bytes), metric, x: bytes })),
      { heading: "size", contenders: contendersOf(placement), ratios },
    ),
  });
  const where = `${placement.text}${crowdedText(lab, ranks)}`;
  return [
    table(latencyOf(placement), `Ping-pong, ${where}: half a round trip in µs, less is better (${paper})`),
    table(bandwidthOf(placement), `Bandwidth, ${where}: MB/s, more is better`),
  ];
}

function panels(series: readonly Series[], placement: Placement): Panel[] {
  const panel = (metric: string, title: string, yLabel: string): Panel => ({
    title: `${title}, ${placement.text}`,
    xLabel: "message size",
    xText: bytesText,
    yLabel,
    lines: plotLines(ofMetric(series, metric)),
  });
  return [
    panel(latencyOf(placement), "Figure 7a: latency", "half a round trip, µs"),
    panel(bandwidthOf(placement), "Figure 7b: bandwidth", "MB/s"),
  ];
}
