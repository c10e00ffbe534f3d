/** The two views of a ping-pong, as tables and as panels of a plot. */
import type { Table } from "../benchmark.ts";
import { plotLines } from "../contenders/contenders.ts";
import type { Series } from "../measuring/series.ts";
import type { Panel } from "../plots/plot.ts";
import { comparisonTable } from "../tables/comparison-table.ts";
import { bytesText } from "../tables/units.ts";

const bySize = { heading: "size", xText: bytesText };

export function latencyTable(series: readonly Series[], where: string): Table {
  return {
    caption: `Latency ${where}: half a round trip in µs, less is better`,
    text: comparisonTable(series, { ...bySize, better: "less" }),
  };
}

export function bandwidthTable(series: readonly Series[], where: string): Table {
  return {
    caption: `Bandwidth ${where}: MB/s in one direction at a time, more is better`,
    text: comparisonTable(series, { ...bySize, better: "more" }),
  };
}

export function latencyPanel(series: readonly Series[], where: string): Panel {
  return { ...panel(series), title: `Latency ${where}`, yLabel: "half a round trip, µs" };
}

export function bandwidthPanel(series: readonly Series[], where: string): Panel {
  return { ...panel(series), title: `Bandwidth ${where}`, yLabel: "MB/s" };
}

function panel(series: readonly Series[]): Pick<Panel, "xLabel" | "xText" | "lines"> {
  return { xLabel: "message size", xText: bytesText, lines: plotLines(series) };
}
