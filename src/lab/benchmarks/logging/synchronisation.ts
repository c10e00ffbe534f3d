/**
 * Fig. 3, rows L4 and L9: the cost of bringing a set to rest before its images are taken, over the ranks of the set; beside it
 * one message of 10 KB. Measured from the first stop until all ranks are quiet, which includes the wait for the last rank to
 * stop (a rank stops in its next MPI call); and from the last stop.
 */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { loggingSets, plotLines } from "../../contenders/contenders.ts";
import { programPath, sourcePath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { ofMetric, type Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { probeStart } from "./probe.ts";

const counts = [2, 4, 8, 16];
const countsQuick = [2, 4];
const messageBytes = 10_000;
const messageMetric = "message_us";
const rows = [
  { metric: "settled_us", text: "first stop until quiet" },
  { metric: "barrier_us", text: "last stop until quiet" },
];
const paper = "correlated sets, Fig. 3: quadratic, on the average about as much as a message of 10 KB";

export const synchronisation: Benchmark = {
  name: "logging-synchronisation",
  summary: "Fig. 3: what bringing a set to rest costs before a checkpoint, over its size",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(programPath("steps", "c"), ["-O3"]);
    const pingPong = await lab.compile(sourcePath("ping-pong"), ["-O3"]);
    if (built.kind === "unusable" || pingPong.kind === "unusable") {
      const message = built.kind === "unusable" ? built.why : "banyan cc cannot compile ping-pong.c";
      return { series: [], tables: [], panels: [], troubles: [{ contender: loggingSets, message }] };
    }
    const chosen = lab.quick ? countsQuick : counts;
    const { series, troubles } = await lab.measure([
      ...chosen.map((ranks) => checkpoints(lab, built.program, ranks)),
      message(lab, pingPong.program),
    ]);
    return { series, troubles, tables: [table(series, chosen)], panels: [panel(series)] };
  },
};

function checkpoints(lab: Lab, module: string, ranks: number): MeasuredStart {
  const amount = lab.quick ? { everyMs: 50, checkpoints: 2 } : { everyMs: 150, checkpoints: 15 };
  const probe = { kind: "synchronisation", module, ranks, nodes: 1, ...amount } as const;
  return probeStart(probe, { contender: loggingSets, variant: `${ranks} ranks`, timeLimitMs: 120_000 });
}

function message(lab: Lab, module: string): MeasuredStart {
  const args = [
    messageMetric,
    "named",
    ...(lab.quick ? ["3", "1"] : ["5", "4"]),
    `${messageBytes}:${lab.quick ? 4 : 1000}`,
  ];
  return lab.ownModule(
    { contender: loggingSets, module, ranks: 2, args, options: ["--protocol", "logging"] },
    { timeLimitMs: 60_000, variant: "a message of 10 KB" },
  );
}

function table(series: readonly Series[], chosen: readonly number[]): Table {
  const all = [
    ...rows.flatMap(({ metric, text }) =>
      chosen.map((ranks) => ({ text: `${text}, ${ranks} ranks`, metric, x: ranks })),
    ),
    { text: "one message of 10 KB", metric: messageMetric, x: messageBytes },
  ];
  return {
    caption: `Bringing a set to rest: µs, less is better, linear in the ranks is wanted (${paper})`,
    text: metricTable(series, all, { heading: "what", contenders: [loggingSets], ratios: [] }),
  };
}

function panel(series: readonly Series[]) {
  const lines = rows.flatMap(({ metric, text }, i) =>
    plotLines(ofMetric(series, metric)).map((line) => ({ ...line, label: text, style: i })),
  );
  return { title: "Bringing a set to rest", xLabel: "ranks of the set", xText: String, yLabel: "µs", lines };
}
