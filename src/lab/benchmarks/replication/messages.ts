/**
 * How many messages replicas send for q of the program, counted; and how long a death holds a program up (`probes/replication-probe.ts` says how).
 */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { plainNone, replicasLeader, replicasMirror, replicasParallel } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Contender, Series } from "../../measuring/series.ts";
import { probeCommand } from "../../probes/probe.ts";
import type { ReplicationProbe } from "../../probes/replication-probe.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { replicas } from "./modes.ts";

const variants = [
  ["parallel", replicasParallel],
  ["mirror", replicasMirror],
  ["leader", replicasLeader],
] as const;
const contenders: readonly Contender[] = variants.map(([, contender]) => contender);

export const replicationMessages: Benchmark = {
  name: "replication-messages",
  summary: "messages for q of the program, counted; how long a death holds a program up",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(programPath("pauses", "c"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
    const { program } = built;
    const { series, troubles } = await lab.measure(
      variants.flatMap(([variant, contender]) => [
        count(program, variant, contender),
        pause(lab, program, variant, contender),
      ]),
    );
    return { series, troubles, tables: [table(series)], panels: [] };
  },
};

function count(module: string, variant: string, contender: Contender): MeasuredStart {
  return probeStart({ kind: "counts", module, variant, replicas, args: ["500", "0"] }, contender);
}

function pause({ quick }: Lab, module: string, variant: string, contender: Contender): MeasuredStart {
  return probeStart({ kind: "pause", module, variant, args: [quick ? "4000" : "8000", "200"] }, contender);
}

function probeStart(probe: ReplicationProbe, contender: Contender): MeasuredStart {
  const command = probeCommand({ of: "replication", ...probe });
  return { contender, variant: probe.kind, command, timeLimitMs: 90_000 };
}

function table(series: readonly Series[]): Table {
  const rows = [
    { text: "messages for one of the program", metric: "messages_ratio", x: replicas },
    { text: "acknowledgements for one of the program", metric: "acknowledgements_ratio", x: replicas },
    { text: "the pause of a death, ms", metric: "pause_ms", x: replicas },
    { text: "from the death known to its end, ms", metric: "resumed_ms", x: replicas },
  ];
  return {
    caption: `${replicas} replicas: messages counted, and how long a death holds the program up; less is better (goal: ${replicas}, and 50 ms)`,
    text: metricTable(series, rows, { heading: "what", contenders, ratios: [] }),
  };
}
