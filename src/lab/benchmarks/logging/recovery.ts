/**
 * A node is lost, by SIGKILL or because it stands still, with 64 MB in each of its ranks: the time until the other ranks
 * continue. The loss comes some time after a checkpoint of the node, so there are messages to replay. Beside it the parts of
 * that time: until the lost ranks run again, and until they have reached the point of the loss.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { loggingSets } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { probeStart } from "./probe.ts";

const mibFull = 64;
const mibQuick = 1;
const ranks = 4;
const nodes = 2;
const ways = [
  { word: "killed", signal: "SIGKILL", text: "killed" },
  { word: "stopped", signal: "SIGSTOP", text: "standing still (0.75 s of patience)" },
] as const;
const phases = [
  { metric: "running_s", text: "its ranks run again" },
  { metric: "caught_up_s", text: "they have caught up" },
  { metric: "resumed_s", text: "the others get on" },
];

export const recovery: Benchmark = {
  name: "logging-recovery",
  summary: "from the loss of a node to progress, with 64 MB in each rank",
  async measure(lab) {
    const built = await lab.compile(programPath("steps", "c"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: loggingSets, message: built.why }] };
    const { series, troubles } = await lab.measure(ways.map((way) => start(lab, built.program, way)));
    return { series, troubles, tables: [table(lab, series)], panels: [] };
  },
};

function start(lab: Lab, module: string, { word, signal }: (typeof ways)[number]): MeasuredStart {
  const amount = lab.quick
    ? { mib: mibQuick, passes: 1, everyMs: 200, afterCheckpointMs: 50 }
    : { mib: mibFull, passes: 50, everyMs: 2_000, afterCheckpointMs: 300 };
  const probe = { kind: "recovery", module, ranks, nodes, ...amount, signal, word } as const;
  return probeStart(probe, { contender: loggingSets, variant: word, timeLimitMs: 120_000 });
}

function table(lab: Lab, series: readonly Series[]): Table {
  const mib = lab.quick ? mibQuick : mibFull;
  const rows = ways.flatMap((way) =>
    phases.map(({ metric, text }) => ({
      text: `node ${way.text}: until ${text}`,
      metric: `${way.word}_${metric}`,
      x: mib,
    })),
  );
  return {
    caption: `A node of ${ranks / nodes} ranks is lost, ${mib} MiB each: seconds since the loss, less is better`,
    text: metricTable(series, rows, { heading: "what", contenders: [loggingSets], ratios: [] }),
  };
}
