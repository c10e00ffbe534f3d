/** Maps in plots, beside lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawMap, type MapPanel, mapSize } from "./map-plot.ts";
import { plotSvg } from "./plot.ts";

const map: MapPanel = {
  title: "Broadcast <8 ranks>",
  xLabel: "message size",
  yLabel: "rank",
  columns: ["4 B", "1 MiB"],
  rows: ["0", "1", "2"],
  cells: [
    [1, 0],
    [undefined, 0.25],
    [0.5, undefined],
  ],
  rowsTogether: 2,
};

test("L8: a map has a cell for each figure, the darker the more, and none where there is nothing", () => {
  const drawn = drawMap(map, { left: 10, top: 20 });
  const fills = [...drawn.matchAll(/fill="(rgb[^"]*)"/g)].map(([, fill]) => fill);
  assert.deepEqual(fills, ["rgb(0,114,178)", "rgb(255,255,255)", "rgb(191,220,236)", "rgb(128,185,217)"]);
  assert.match(drawn, /translate\(10 20\)/);
  assert.match(drawn, /Broadcast &lt;8 ranks&gt;/);
  // Two borders of nodes.
  assert.equal(drawn.match(/<line /g)?.length, 2);
});

test("L8: maps and lines stand side by side in one plot, which is as high as the highest", () => {
  const line = { title: "lines", xLabel: "x", xText: String, yLabel: "y", lines: [] };
  const svg = plotSvg({ panels: [map, line], footnotes: [] });
  const { width } = mapSize(map);
  assert.match(svg, new RegExp(`^<svg [^>]* width="${width + 640}"`));
  assert.match(svg, new RegExp(`translate\\(${width} 30\\)`));
});
