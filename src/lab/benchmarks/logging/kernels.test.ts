/** Evaluating the figures of the kernels under message logging. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loggingClassical, loggingNone, loggingSets } from "../../contenders/contenders.ts";
import { seriesOf } from "../../testing/series.ts";
import { loggingMeans } from "./kernels.ts";

test("L7: kernels are compared over those that ran in every mode", () => {
  const series = [
    ...[loggingNone, loggingSets, loggingClassical].map((mode, i) => seriesOf(mode, "cg_nodes_s", { 4: 2 ** i })),
    ...[loggingNone, loggingSets, loggingClassical].map((mode) => seriesOf(mode, "is_nodes_s", { 4: 4 })),
    seriesOf(loggingNone, "mg_nodes_s", { 4: 1000 }),
  ];
  const found = loggingMeans(series, ["cg", "is", "mg"], { ranks: 4, nodes: 2, word: "nodes" });
  assert.deepEqual(
    found.map(({ contender, metric, points }) => [contender.id, metric, points[0]!.x, points[0]!.median.toFixed(6)]),
    [
      ["none", "kernels_nodes_s", 4, "2.000000"],
      ["sets", "kernels_nodes_s", 4, "2.828427"],
      ["classical", "kernels_nodes_s", 4, "4.000000"],
    ],
  );
});
