import assert from "node:assert/strict";
import { test } from "node:test";
import { mpich, openMpi, ours, seriesOf } from "../testing/series.ts";
import { comparisonTable } from "./comparison-table.ts";
import { bytesText, figureText, ratioText, thousandsText } from "./units.ts";

const series = [
  seriesOf(ours, "latency_us", { 8: 0.2, 1048576: 60 }),
  seriesOf(openMpi, "latency_us", { 8: 0.25, 1048576: 240 }),
  seriesOf(mpich, "latency_us", { 8: 0.1 }),
];

test("M8: bench shows a table with units, ratios and who is best", () => {
  const table = comparisonTable(series, { heading: "size", xText: bytesText, better: "less" });
  assert.deepEqual(table.split("\n"), [
    "       Banyan                   shared :  shared :",
    " size  shared  Open MPI  MPICH  Open MPI     MPICH  best",
    "─────  ──────  ────────  ─────  ────────  ────────  ──────────────",
    "  8 B   0.200     0.250  0.100   0.800 ×    2.00 ×  MPICH",
    "1 MiB    60.0       240      –   0.250 ×         –  Banyan, shared",
  ]);
});

test("M8: bench calls the largest figure best where more is better", () => {
  const table = comparisonTable(series.slice(0, 2), { heading: "size", xText: bytesText, better: "more" });
  assert.match(table.split("\n").at(-1)!, /Open MPI$/);
});

test("M8: bench writes figures with three digits that count", () => {
  assert.deepEqual([0.1823, 15.32, 999.4, 12_345, 1_234_567, 0].map(figureText), [
    "0.182",
    "15.3",
    "999",
    "12 345",
    "1 234 567",
    "0",
  ]);
  assert.equal(figureText(Number.NaN), "–");
  assert.equal(ratioText(1 / 3), "0.333 ×");
  assert.deepEqual([1, 1024, 65536, 4 << 20].map(bytesText), ["1 B", "1 KiB", "64 KiB", "4 MiB"]);
  assert.equal(thousandsText(100_000), "100 000");
});
