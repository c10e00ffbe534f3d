import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText } from "../tables/units.ts";
import { decimalAxis, valuesAxis } from "./log-axis.ts";
import { type Panel, plotSvg } from "./plot.ts";

const sizes = Array.from({ length: 23 }, (_, power) => 2 ** power);
const panel: Panel = {
  title: "Latency <fast>",
  xLabel: "message size",
  xText: bytesText,
  yLabel: "µs",
  lines: ["Banyan, shared", "Open MPI"].map((label, style) => ({
    label,
    style,
    points: sizes.map((x) => ({ x, y: 0.2 + (style + 1) * x * 1e-4 })),
  })),
};

const count = (svg: string, what: RegExp): number => svg.match(new RegExp(what, "g"))?.length ?? 0;

test("M8: bench draws every contender at every size, over logarithmic axes, with a legend", () => {
  const svg = plotSvg({ panels: [panel], footnotes: ["2 × some machine"] });
  assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+" viewBox=/);
  assert.equal(count(svg, /<circle /), sizes.length + 1, "marks of the first line and one in the legend");
  const [first] = /d="M[^"]*L[^"]*"/.exec(svg)!;
  assert.equal(count(first, /L/), sizes.length - 1);
  for (const text of ["Banyan, shared", "Open MPI", "message size", "µs", "1 B", "2 × some machine", "1", "1 000"])
    assert.ok(svg.includes(`>${text}</text>`), text);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
});

test("M8: bench's plots are well-formed: elements are closed, texts are escaped", () => {
  const svg = plotSvg({ panels: [panel, panel], footnotes: [] });
  assert.ok(svg.includes("Latency &lt;fast&gt;"));
  const open: string[] = [];
  for (const [, slash, name, end] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (slash === "/") assert.equal(open.pop(), name);
    else if (end !== "/") open.push(name!);
  }
  assert.deepEqual(open, []);
});

test("M8: bench's plots show nothing, or single points, without falling over", () => {
  const one = { label: "Banyan", style: 0, points: [{ x: 8, y: 3 }] };
  const none = { label: "MPICH", style: 3, points: [{ x: 8, y: Number.NaN }] };
  const svg = plotSvg({ panels: [{ ...panel, lines: [one, none] }], footnotes: [] });
  assert.doesNotMatch(svg, /NaN|Infinity|MPICH/);
  assert.match(plotSvg({ panels: [{ ...panel, lines: [] }], footnotes: [] }), /nothing was measured/);
});

test("M8: bench's axes hold all values, with labels at powers of ten or, over a short range, between", () => {
  const wide = decimalAxis([0.18, 880]);
  assert.deepEqual([wide.low, wide.high], [0.1, 1000]);
  assert.deepEqual(wide.labelled.map(Number), [0.1, 1, 10, 100, 1000]);
  assert.deepEqual([wide.place(wide.low), wide.place(wide.high)], [0, 1]);
  const short = decimalAxis([2.5, 14]);
  assert.deepEqual(short.labelled, [2, 5, 10, 20]);
  const axis = valuesAxis(sizes, 9);
  assert.ok(axis.labelled.length <= 9);
  assert.equal(axis.labelled.length + axis.others.length, sizes.length);
});
