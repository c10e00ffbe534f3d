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
import {
  contendersOf,
  crowdedText,
  modesOf,
  placements,
  replicationRatios,
  startReplicas,
  type WorldPlacement,
} from "./modes.ts";

const ranks = 2;
const sizes = [1, 8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
const sizesQuick = [1, 1 << 20];
const bytesMax = 256e6;
const roundsMax = 1_000;
/** Of the first size: V8 optimises the way of a message after some thousand (ADR 61). */
const roundsFirst = 3_000;
const roundsMin = 20;
const paper = "SDR-MPI, Fig. 7: 1.42 × for 1 byte, the same bandwidth for large messages";

const latencyOf = ({ word }: WorldPlacement): string => `latency_${word}_us`;
const bandwidthOf = ({ word }: WorldPlacement): string => `bandwidth_${word}_mbs`;

const [apart, world] = placements;

export const replicationPingPong: Benchmark = {
  name: "replication-ping-pong",
  summary: "Figures 7a and 7b: latency and bandwidth with replicas, against none",
  measure: (lab) => measure(lab, apart),
};

/** A part of its own: two jobs side by side take minutes, because their processes wait for each other's turns. */
export const replicationPingPongWorlds: Benchmark = {
  name: "replication-ping-pong-worlds",
  summary: "the same with a world on each node",
  measure: (lab) => measure(lab, world),
};

async function measure(lab: Lab, placement: WorldPlacement): Promise<Finding> {
  const built = await lab.compile(sourcePath("ping-pong"), ["-O3"]);
  if (built.kind === "unusable")
    return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
  const { series: latencies, troubles } = await lab.measure(startsOf(lab, built.program, placement));
  const bandwidths = ofMetric(latencies, latencyOf(placement)).map((one) =>
    mapSeries(one, bandwidthOf(placement), (us, bytes) => bytes / us),
  );
  const series = [...latencies, ...bandwidths];
  return { series, troubles, tables: tables(lab, series, placement), panels: panels(series, placement) };
}

const sizesOf = ({ quick }: Lab): readonly number[] => (quick ? sizesQuick : sizes);

function startsOf(lab: Lab, module: string, placement: WorldPlacement): MeasuredStart[] {
  const rounds = (bytes: number): number =>
    lab.quick ? 10 : Math.max(roundsMin, Math.min(roundsMax, Math.floor(bytesMax / 10 / bytes)));
  const numbers = sizesOf(lab).map(
    (bytes, index) => `${bytes}:${index === 0 && !lab.quick ? roundsFirst : rounds(bytes)}`,
  );
  const counts = lab.quick ? ["3", "1"] : ["5", "4"];
  const args = [latencyOf(placement), "named", ...counts, ...numbers];
  // Without collectives there is nothing that boards could change.
  const chosen = modesOf(placement).filter(({ contender }) => contender.id !== "none-messages");
  return chosen.map((mode) => startReplicas({ module, args, ranks, variant: placement.word }, placement, mode));
}

function tables(lab: Lab, series: readonly Series[], placement: WorldPlacement): Table[] {
  const table = (metric: string, caption: string): Table => ({
    caption,
    text: metricTable(
      series.filter((one) => one.metric === metric),
      sizesOf(lab).map((bytes) => ({ text: bytesText(bytes), metric, x: bytes })),
      { heading: "size", contenders: contendersOf(placement), ratios: replicationRatios },
    ),
  });
  const where = `${placement.text}${crowdedText(lab, ranks)}`;
  return [
    table(latencyOf(placement), `Ping-pong, ${where}: half a round trip in µs, less is better (${paper})`),
    table(bandwidthOf(placement), `Bandwidth, ${where}: MB/s, more is better`),
  ];
}

function panels(series: readonly Series[], placement: WorldPlacement): Panel[] {
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
