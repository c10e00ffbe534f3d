/**
 * What programs that repair themselves pay and get: the ping-pong under ulfm against none, an agreement against an allreduce
 * by messages among the same ranks, and the time from the death of a node to the error at a rank that waits for it.
 */
import type { Benchmark, Finding, Table } from "../benchmark.ts";
import { banyanNone, banyanUlfm } from "../contenders/contenders.ts";
import { programPath, sourcePath } from "../installation.ts";
import type { Lab } from "../lab.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import type { Contender, Series } from "../measuring/series.ts";
import { metricTable } from "../tables/metric-table.ts";

const ulfmOptions = ["--protocol", "ulfm"];
const protocols: readonly (readonly [Contender, readonly string[]])[] = [
  [banyanNone, []],
  [banyanUlfm, ulfmOptions],
];
const ways = [
  { metric: "ping_pong_us", nodes: 1, rounds: 20_000, text: "8 bytes, one node" },
  { metric: "ping_pong_between_us", nodes: 2, rounds: 2_000, text: "8 bytes, two nodes" },
] as const;
const bytes = 8;
const agreeing = { ranks: 8, nodes: 2 };

export const selfRepair: Benchmark = {
  name: "ulfm",
  summary: "protocol ulfm: ping-pong against none, agree against allreduce, from a node's death to the error",
  async measure(lab): Promise<Finding> {
    const sources = [sourcePath("ping-pong"), programPath("agree", "c"), programPath("detection", "c")];
    const modules: string[] = [];
    for (const source of sources) {
      const built = await lab.compile(source, ["-O3"]);
      if (built.kind === "unusable") {
        return { series: [], tables: [], panels: [], troubles: [{ contender: banyanUlfm, message: built.why }] };
      }
      modules.push(built.program);
    }
    const [pingPong, agree, detection] = modules as [string, string, string];
    const { series, troubles } = await lab.measure([
      ...ways.flatMap((way) => protocols.map((protocol) => pingPongs(lab, pingPong, way, protocol))),
      agreements(lab, agree),
      lastWords(lab, detection),
    ]);
    return { series, troubles, tables: [pingPongTable(series), table(series)], panels: [] };
  },
};

function pingPongs(
  lab: Lab,
  module: string,
  { metric, nodes, rounds }: (typeof ways)[number],
  [contender, options]: (typeof protocols)[number],
): MeasuredStart {
  const counts = lab.quick ? ["3", "1", `${bytes}:4`] : ["5", "4", `${bytes}:${rounds}`];
  return lab.ownModule(
    { contender, module, ranks: 2, options: ["--nodes", `${nodes}`, ...options], args: [metric, "named", ...counts] },
    { timeLimitMs: 120_000, variant: metric },
  );
}

function agreements(lab: Lab, module: string): MeasuredStart {
  const { ranks, nodes } = agreeing;
  const args = lab.quick ? ["3", "1", "10"] : ["5", "2", "300"];
  const options = ["--nodes", `${nodes}`, ...ulfmOptions];
  return lab.ownModule(
    { contender: banyanUlfm, module, ranks, options, args },
    { timeLimitMs: 120_000, variant: "agree" },
  );
}

function lastWords(lab: Lab, module: string): MeasuredStart {
  const options = ["--nodes", "2", ...ulfmOptions, "--faults", "kill node 1 at 400ms"];
  return lab.ownModule(
    { contender: banyanUlfm, module, ranks: 2, options, args: [] },
    { timeLimitMs: 60_000, variant: "detection" },
  );
}

function pingPongTable(series: readonly Series[]): Table {
  return {
    caption: "Ping-pong: half a round trip in µs, less is better",
    text: metricTable(
      series,
      ways.map(({ metric, text }) => ({ text, metric, x: bytes })),
      { heading: "what", contenders: [banyanNone, banyanUlfm], ratios: [[banyanUlfm, banyanNone]] },
    ),
  };
}

function table(series: readonly Series[]): Table {
  const { ranks, nodes } = agreeing;
  const rows = [
    { text: `agree, ${ranks} ranks on ${nodes} nodes, µs`, metric: "agree_us", x: ranks },
    { text: "allreduce by messages, the same ranks, µs", metric: "iallreduce_us", x: ranks },
    { text: "a node's last message to the error, ms", metric: "detection_ms", x: 1 },
  ];
  return {
    caption: "Repair: less is better",
    text: metricTable(series, rows, { heading: "what", contenders: [banyanUlfm], ratios: [] }),
  };
}
