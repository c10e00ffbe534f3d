/**
 * Plots as SVG text: lines over logarithmic axes, and maps (map-plot.ts), up to three panels in a row. Written by hand because
 * these are all the plots; see docs/dependencies.md.
 */

import { figureText } from "../tables/units.ts";
import { decimalAxis, type LogAxis, valuesAxis } from "./log-axis.ts";
import { drawMap, type MapPanel, mapSize } from "./map-plot.ts";
import { escaped, rounded, svgText } from "./svg.ts";

export interface PlotLine {
  readonly label: string;
  /** Number of the style; the same contender has the same style in every plot. */
  readonly style: number;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Panel {
  readonly title: string;
  readonly xLabel: string;
  readonly xText: (x: number) => string;
  readonly yLabel: string;
  readonly lines: readonly PlotLine[];
}

export type AnyPanel = Panel | MapPanel;

interface Plot {
  readonly panels: readonly AnyPanel[];
  /** The footer: place and date, line by line. */
  readonly footnotes: readonly string[];
}

const panelWidth = 640;
const panelHeight = 440;
const margin = { left: 72, right: 28, top: 46, bottom: 62 };
const legendHeight = 30;
const footnoteHeight = 16;
const xLabelsMax = 9;
const panelsInRow = 3;
const inner = {
  width: panelWidth - margin.left - margin.right,
  height: panelHeight - margin.top - margin.bottom,
};

/** Colours of Okabe and Ito, distinct for colour-blind readers too; marks distinguish them in grey. */
const styles = [
  { colour: "#0072b2", mark: "circle" },
  { colour: "#56b4e9", mark: "square" },
  { colour: "#d55e00", mark: "triangle" },
  { colour: "#009e73", mark: "diamond" },
] as const;
type Style = (typeof styles)[number];

/** Lines without points, and points that a logarithm cannot show, are left out. */
export function plotSvg({ panels, footnotes }: Plot): string {
  const { places, width, bottom } = layOut(panels);
  const height = bottom + (footnotes.length + 1) * footnoteHeight;
  const shown = panels.map((panel) =>
    isMap(panel) ? panel : { ...panel, lines: panel.lines.map(drawable).filter(hasPoints) },
  );
  const title = panels.map((panel) => panel.title).join("; ");
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="#222">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    legend(
      shown.flatMap((panel) => (isMap(panel) ? [] : panel.lines)),
      width,
    ),
    ...shown.map((panel, i) => drawAny(panel, places[i]!)),
    ...footnotes.map((footnote, i) => {
      const y = bottom + (i + 1) * footnoteHeight;
      return svgText(footnote, { x: width / 2, y, anchor: "middle", size: 11, colour: "#666" });
    }),
    "</svg>",
  ].join("\n")}\n`;
}

/** Row by row below the legend. */
function layOut(panels: readonly AnyPanel[]): { places: Place[]; width: number; bottom: number } {
  const places: Place[] = [];
  let [width, bottom] = [0, legendHeight];
  for (let first = 0; first < panels.length; first += panelsInRow) {
    const sizes = panels.slice(first, first + panelsInRow).map(sizeOf);
    let left = 0;
    for (const size of sizes) {
      places.push({ left, top: bottom });
      left += size.width;
    }
    width = Math.max(width, left);
    bottom += Math.max(...sizes.map((size) => size.height));
  }
  return { places, width, bottom };
}

function sizeOf(panel: AnyPanel): { width: number; height: number } {
  return isMap(panel) ? mapSize(panel) : { width: panelWidth, height: panelHeight };
}

function drawAny(panel: AnyPanel, place: Place): string {
  return isMap(panel) ? drawMap(panel, place) : drawPanel(panel, place);
}

function isMap(panel: AnyPanel): panel is MapPanel {
  return "cells" in panel;
}

function drawable(line: PlotLine): PlotLine {
  return { ...line, points: line.points.filter(({ x, y }) => x > 0 && y > 0 && Number.isFinite(y)) };
}

function hasPoints({ points }: PlotLine): boolean {
  return points.length > 0;
}

interface Place {
  readonly left: number;
  readonly top: number;
}

function drawPanel({ title, xLabel, xText, yLabel, lines }: Panel, { left, top }: Place): string {
  const parts = [svgText(title, { x: margin.left, y: 28, size: 16, weight: "bold" })];
  if (lines.length === 0) parts.push(svgText("nothing was measured", { x: panelWidth / 2, y: 200, anchor: "middle" }));
  else {
    const points = lines.flatMap((line) => line.points);
    const x = valuesAxis(
      points.map((point) => point.x),
      xLabelsMax,
    );
    const y = decimalAxis(points.map((point) => point.y));
    parts.push(...xGrid(x, xText), ...yGrid(y), frame(), ...lines.map((line) => drawLine(line, x, y)));
  }
  const middle = margin.top + inner.height / 2;
  parts.push(
    svgText(xLabel, { x: margin.left + inner.width / 2, y: panelHeight - 18, anchor: "middle" }),
    `<g transform="translate(20 ${middle}) rotate(-90)">${svgText(yLabel, { x: 0, y: 0, anchor: "middle" })}</g>`,
  );
  return `<g transform="translate(${left} ${top})">\n${parts.join("\n")}\n</g>`;
}

function frame(): string {
  return `<rect x="${margin.left}" y="${margin.top}" width="${inner.width}" height="${inner.height}" fill="none" stroke="#888"/>`;
}

function xGrid(axis: LogAxis, label: (x: number) => string): string[] {
  const bottom = margin.top + inner.height;
  const line = (value: number, colour: string): string =>
    `<line x1="${xOf(axis, value)}" y1="${margin.top}" x2="${xOf(axis, value)}" y2="${bottom}" stroke="${colour}"/>`;
  return [
    ...axis.others.map((value) => line(value, "#f2f2f2")),
    ...axis.labelled.map((value) => line(value, "#ddd")),
    ...axis.labelled.map((value) => svgText(label(value), { x: xOf(axis, value), y: bottom + 19, anchor: "middle" })),
  ];
}

function yGrid(axis: LogAxis): string[] {
  const right = margin.left + inner.width;
  const line = (value: number, colour: string): string =>
    `<line x1="${margin.left}" y1="${yOf(axis, value)}" x2="${right}" y2="${yOf(axis, value)}" stroke="${colour}"/>`;
  return [
    ...axis.others.map((value) => line(value, "#f2f2f2")),
    ...axis.labelled.map((value) => line(value, "#ddd")),
    ...axis.labelled.map((value) =>
      svgText(axisText(value), { x: margin.left - 8, y: yOf(axis, value) + 4.5, anchor: "end" }),
    ),
  ];
}

function drawLine({ label, style, points }: PlotLine, x: LogAxis, y: LogAxis): string {
  const look = styleOf(style);
  const places = points.map((point) => ({ x: xOf(x, point.x), y: yOf(y, point.y) }));
  const path = places.map((place, i) => `${i === 0 ? "M" : "L"}${place.x} ${place.y}`).join("");
  const marks = places.map((place) => mark(look, place)).join("");
  return `<g><title>${escaped(label)}</title><path d="${path}" fill="none" stroke="${look.colour}" stroke-width="2"/>${marks}</g>`;
}

/** One row above the panels, each contender once. */
function legend(lines: readonly PlotLine[], width: number): string {
  const entries = lines.filter((line, i) => lines.findIndex(({ label }) => label === line.label) === i);
  const widths = entries.map(({ label }) => 44 + textWidth(label));
  let x = (width - widths.reduce((sum, one) => sum + one, 0)) / 2;
  const drawn = entries.map(({ label, style }, i) => {
    const look = styleOf(style);
    const at = x;
    x += widths[i]!;
    return [
      `<line x1="${at}" y1="20" x2="${at + 24}" y2="20" stroke="${look.colour}" stroke-width="2"/>`,
      mark(look, { x: at + 12, y: 20 }),
      svgText(label, { x: at + 30, y: 24.5 }),
    ].join("");
  });
  return `<g class="legend">${drawn.join("\n")}</g>`;
}

function styleOf(style: number): Style {
  return styles[style % styles.length]!;
}

function mark({ colour, mark: shape }: Style, { x, y }: { x: number; y: number }): string {
  switch (shape) {
    case "circle":
      return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`;
    case "square":
      return `<rect x="${x - 3}" y="${y - 3}" width="6" height="6" fill="${colour}"/>`;
    case "triangle":
      return `<path d="M${x} ${y - 4.5}L${x + 4} ${y + 3}L${x - 4} ${y + 3}Z" fill="${colour}"/>`;
    case "diamond":
      return `<path d="M${x} ${y - 4.5}L${x + 4.5} ${y}L${x} ${y + 4.5}L${x - 4.5} ${y}Z" fill="${colour}"/>`;
  }
}

function xOf(axis: LogAxis, value: number): number {
  return rounded(margin.left + axis.place(value) * inner.width);
}

function yOf(axis: LogAxis, value: number): number {
  return rounded(margin.top + (1 - axis.place(value)) * inner.height);
}

/** 0.1, 1, 10, 1 000: without superfluous digits. */
function axisText(value: number): string {
  return value < 1 ? String(Number(value.toPrecision(1))) : figureText(value).replace(/\.0+$/, "");
}

/** Approximate: text cannot be measured without a browser. */
function textWidth(content: string): number {
  return content.length * 7;
}
