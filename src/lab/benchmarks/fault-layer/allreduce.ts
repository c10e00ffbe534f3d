/**
 * An allreduce in real jobs, under the fault-simulation layer and without it. It stands beside two baselines: the job as it is shipped, whose ranks of one node
 * meet in shared memory, and the same with collectives by messages.
 */
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { layerIbcast, layerTree, plainMessages, plainNone } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Contender, Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { bytesText } from "../../tables/units.ts";

interface Mode {
  readonly contender: Contender;
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const modes: readonly Mode[] = [
  { contender: plainNone, options: [], env: {} },
  { contender: plainMessages, options: [], env: { BANYAN_COLLECTIVES: "messages" } },
  { contender: layerTree, options: ["--fault-layer"], env: {} },
  { contender: layerIbcast, options: ["--fault-layer", "--background", "ibcast"], env: {} },
];

export const layerPlaces = [
  { ranks: 2, nodes: 1, metric: "allreduce_2_ranks_1_node_us" },
  { ranks: 4, nodes: 1, metric: "allreduce_4_ranks_1_node_us" },
  { ranks: 2, nodes: 2, metric: "allreduce_2_ranks_2_nodes_us" },
  { ranks: 4, nodes: 2, metric: "allreduce_4_ranks_2_nodes_us" },
] as const;
export const layerSizes = { small: 8, large: 1 << 20 } as const;
/** Rounds in a batch. */
const lengths: readonly (readonly [bytes: number, rounds: number])[] = [
  [layerSizes.small, 2_000],
  [8 << 10, 500],
  [layerSizes.large, 20],
];

export const layerAllreduce: Benchmark = {
  name: "fault-layer",
  summary: "an allreduce under the fault layer and without it, 8 bytes to 1 MiB, on one node and between two",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(programPath("allreduce-sizes", "c"), ["-O3"]);
    if (built.kind === "unusable") {
      return { series: [], tables: [], panels: [], troubles: [{ contender: layerTree, message: built.why }] };
    }
    const starts = layerPlaces.flatMap((place) => modes.map((mode) => start(lab, built.program, place, mode)));
    const { series, troubles } = await lab.measure(starts);
    return { series, troubles, tables: layerPlaces.map((place) => table(series, place)), panels: [] };
  },
};

function start(
  lab: Lab,
  module: string,
  { ranks, nodes, metric }: (typeof layerPlaces)[number],
  { contender, options, env }: Mode,
): MeasuredStart {
  const counts = lab.quick ? ["2", "1"] : ["5", "2"];
  const sizes = lengths.map(([bytes, rounds]) => `${bytes}:${lab.quick ? 2 : rounds}`);
  const where = ["-n", `${ranks}`, "--nodes", `${nodes}`];
  const words = ["run", "--quiet", ...where, ...options, module, metric, ...counts, ...sizes];
  return { contender, variant: metric, command: banyanCommand(words, env), timeLimitMs: 300_000 };
}

function table(series: readonly Series[], { ranks, nodes, metric }: (typeof layerPlaces)[number]): Table {
  return {
    caption: `Allreduce of ${ranks} ranks on ${nodes === 1 ? "one node" : `${nodes} nodes`}: µs, less is better`,
    text: metricTable(
      series.filter((one) => one.metric === metric),
      lengths.map(([bytes]) => ({ text: bytesText(bytes), metric, x: bytes })),
      {
        heading: "length",
        contenders: modes.map(({ contender }) => contender),
        ratios: [
          [layerTree, plainNone],
          [layerTree, plainMessages],
        ],
      },
    ),
  };
}
