/**
 * Fig. 4: the ping-pong under the three modes, between two ranks of a node (inside a set, or classical) and of two nodes
 * (between sets, which is classical too), with named receives and with receives from any source; and the round trip to the
 * event logger, for which a message to another set waits after a choice.
 *
 * Nothing is trimmed during the run, so the memory for payloads limits the round trips of each size; all modes do as many.
 * Reading the clock is a choice as well: a batch between sets includes one round trip to the event logger.
 */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { loggingNone, loggingSets, plotLines } from "../../contenders/contenders.ts";
import { programPath, sourcePath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { bytesText } from "../../tables/units.ts";
import { contenders, derived, figureOf, type LoggingMode, modes, ratios } from "./modes.ts";

/** Where the two ranks are, and from which sources they receive. */
interface Way {
  readonly metric: string;
  readonly nodes: 1 | 2;
  readonly receives: "named" | "any";
  readonly where: string;
}

const ways: readonly Way[] = [
  { metric: "named_us", nodes: 1, receives: "named", where: "on one node, named receives" },
  { metric: "wildcard_us", nodes: 1, receives: "any", where: "on one node, receives from any source" },
  { metric: "named_between_us", nodes: 2, receives: "named", where: "on two nodes, named receives" },
  { metric: "wildcard_between_us", nodes: 2, receives: "any", where: "on two nodes, receives from any source" },
];
const named = ways[0]!;
const sizes = [1, 8, 64, 256, ...[1, 4, 8, 64, 256, 1024, 4096].map((kib) => kib << 10)];
const sizesQuick = [8, 1 << 10, 1 << 20];
const batches = 5;
const warmBatches = 4;
/** Bytes of each size in the logs, at most; and the least number of round trips. */
const loggedBytesMax = 64e6;
const roundsMin = 10;
const goalBytes = 8;
const loggerMetric = "logger_us";
/** The time without logging, and one round trip to the event logger. */
const allowedMetric = "wildcard_between_allowed_us";
const paper = "correlated sets, Fig. 4, one node: 53 GB/s without, as much with sets, 11 GB/s classical";

export const loggingPingPong: Benchmark = {
  name: "logging-ping-pong",
  summary: "Fig. 4: ping-pong under message logging, inside and between sets, named receives and wildcards",
  async measure(lab): Promise<Finding> {
    const pingPongs = await lab.compile(sourcePath("ping-pong"), ["-O3"]);
    const trips = await lab.compile(programPath("logger-trip", "c"), ["-O3"]);
    const unusable = [pingPongs, trips].flatMap((built) => (built.kind === "unusable" ? built.why : []));
    if (pingPongs.kind === "unusable" || trips.kind === "unusable")
      return {
        series: [],
        tables: [],
        panels: [],
        troubles: unusable.map((message) => ({ contender: loggingNone, message })),
      };
    const { series: measured, troubles } = await lab.measure([
      ...ways.flatMap((way) => modesOf(way).map((mode) => start(lab, pingPongs.program, way, mode))),
      ...modes.slice(0, 2).map((mode) => trip(lab, trips.program, mode)),
    ]);
    const bandwidths = ofMetric(measured, named.metric).map((one) =>
      mapSeries(one, "bandwidth_mbs", (us, bytes) => bytes / us),
    );
    const series = [...measured, ...bandwidths, ...allowed(measured)];
    return { series, troubles, tables: [...tables(lab, series), loggerTable(series)], panels: panels(series) };
  },
};

/** With one rank on each node every set has one rank: classical is the same. */
function modesOf({ nodes }: Way): readonly LoggingMode[] {
  return nodes === 1 ? modes : modes.slice(0, 2);
}

function start(
  lab: Lab,
  module: string,
  { metric, nodes, receives }: Way,
  { contender, options, roomy }: LoggingMode,
): MeasuredStart {
  // Each message waits for the event logger, for some fraction of a millisecond.
  const waits = receives === "any" && (nodes === 2 || options.includes("rank"));
  const roundsMax = waits ? 300 : nodes === 2 ? 2_000 : 20_000;
  const numbers = (lab.quick ? sizesQuick : sizes).map((bytes) => `${bytes}:${rounds(lab, bytes, roundsMax)}`);
  const counts = lab.quick ? [3, 1] : [batches, warmBatches];
  return lab.ownModule(
    {
      contender,
      module,
      ranks: 2,
      options: ["--nodes", String(nodes), ...roomy],
      args: [metric, receives, ...counts.map(String), ...numbers],
    },
    { timeLimitMs: 180_000, variant: metric },
  );
}

function rounds({ quick }: Lab, bytes: number, roundsMax: number): number {
  if (quick) return 4;
  const fitting = Math.floor(loggedBytesMax / (batches + warmBatches) / Math.max(bytes, 256));
  return Math.max(roundsMin, Math.min(roundsMax, fitting));
}

function trip(lab: Lab, module: string, { contender, options }: LoggingMode): MeasuredStart {
  const args = lab.quick ? ["3", "1", "10"] : ["5", "2", "300"];
  const timeLimitMs = 60_000;
  return lab.ownModule({ contender, module, ranks: 1, options, args }, { timeLimitMs, variant: loggerMetric });
}

/** The time of printing itself, measured without logging, is subtracted. */
function allowed(series: readonly Series[]): Series[] {
  const trip = tripUs(series);
  const none = figureOf(series, loggingNone, "wildcard_between_us", goalBytes);
  if (trip === undefined || none === undefined) return [];
  return derived(loggingNone, allowedMetric, goalBytes, none + trip);
}

function tripUs(series: readonly Series[]): number | undefined {
  const [bare, logged] = [loggingNone, loggingSets].map((mode) => figureOf(series, mode, loggerMetric, 1));
  return bare === undefined || logged === undefined ? undefined : logged - bare;
}

function tables(lab: Lab, series: readonly Series[]): Table[] {
  const chosen = lab.quick ? sizesQuick : sizes;
  const table = (metric: string, caption: string): Table => ({
    caption,
    text: metricTable(
      series.filter((one) => one.metric === metric),
      chosen.map((bytes) => ({ text: bytesText(bytes), metric, x: bytes })),
      { heading: "size", contenders, ratios },
    ),
  });
  return [
    ...ways.map(({ metric, where }) => table(metric, `Ping-pong ${where}: half a round trip in µs, less is better`)),
    table("bandwidth_mbs", `Bandwidth ${named.where}: MB/s, more is better (${paper})`),
  ];
}

function loggerTable(series: readonly Series[]): Table {
  const rows = [
    { text: "a line printed after a choice", metric: loggerMetric, x: 1 },
    { text: "none and a round trip to the logger", metric: allowedMetric, x: goalBytes },
  ];
  return {
    caption: "Round trip to the event logger: µs, less is better; without logging it is what printing costs",
    text: metricTable(series, rows, { heading: "what", contenders: [loggingNone, loggingSets], ratios: [] }),
  };
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
    panel("bandwidth_mbs", `Bandwidth ${named.where}`, "MB/s"),
    ...ways.map(({ metric, where }) => panel(metric, `Ping-pong ${where}`, "half a round trip, µs")),
  ];
}
