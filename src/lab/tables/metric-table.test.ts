import assert from "node:assert/strict";
import { test } from "node:test";
import { mpich, openMpi, ours, seriesOf } from "../testing/series.ts";
import { metricTable } from "./metric-table.ts";

test("M8: bench shows metrics below each other, contenders beside each other, and leaves out who is missing", () => {
  const series = [
    seriesOf(ours, "cg_s", { 2: 3 }),
    seriesOf(openMpi, "cg_s", { 2: 2 }),
    seriesOf(ours, "is_s", { 2: 1 }),
  ];
  const rows = ["cg", "is"].map((text) => ({ text, metric: `${text}_s`, x: 2 }));
  const text = metricTable(series, rows, {
    heading: "kernel",
    contenders: [ours, openMpi, mpich],
    ratios: [
      [ours, openMpi],
      [ours, mpich],
    ],
  });
  assert.equal(
    text,
    [
      "        Banyan            shared :",
      "kernel  shared  Open MPI  Open MPI",
      "──────  ──────  ────────  ────────",
      "cg        3.00      2.00    1.50 ×",
      "is        1.00         –         –",
    ].join("\n"),
  );
});
