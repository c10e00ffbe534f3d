/**
 * Figures 7 and 8 of MPICH-V: an asynchronous token ring, each rank on a node of its own. How a memory copes with more and more nodes, beside
 * several memories; and how fast those who are started again repeat what they have done: the memories have all of their messages by then.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { memoryOne, memoryTwo, plainNone, plotLines } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { type Contender, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { probeCommand } from "../../probes/probe.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { memoryModes, optionsOfMemories } from "./options.ts";

const contenders = memoryModes.map(({ contender }) => contender);

interface Amount {
  readonly ranks: readonly number[];
  readonly bytes: number;
  readonly rounds: number;
  /** How many of how many nodes are started again. */
  readonly replaying: number;
  readonly restarted: readonly number[];
}
const full: Amount = { ranks: [2, 4, 8, 12], bytes: 1024, rounds: 2_000, replaying: 8, restarted: [0, 1, 2, 4, 8] };
const quick: Amount = { ranks: [2], bytes: 64, rounds: 50, replaying: 2, restarted: [0, 1] };
const ring = "ring_us";
const replay = "replay_us";

export const memoryRing: Benchmark = {
  name: "channel-memory-ring",
  summary: "Figures 7 and 8: a token ring through channel memories, and its repetition after losses",
  async measure(lab) {
    const built = await lab.compile(programPath("ring", "c"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: memoryOne, message: built.why }] };
    const amount = lab.quick ? quick : full;
    const { series, troubles } = await lab.measure([
      ...amount.ranks.flatMap((ranks) =>
        memoryModes.map((mode) => startRing(lab, built.program, { ...mode, ranks, amount })),
      ),
      ...amount.restarted.map((restarted) => startReplay(built.program, restarted, amount)),
    ]);
    return { series, troubles, tables: tables(series, amount), panels: panels(series, amount) };
  },
};

interface RingMode {
  readonly contender: Contender;
  readonly memories: number;
  readonly ranks: number;
  readonly amount: Amount;
}

function startRing(lab: Lab, module: string, { contender, memories, ranks, amount }: RingMode): MeasuredStart {
  const options = ["--nodes", `${ranks}`, ...optionsOfMemories(memories)];
  const args = [`${amount.bytes}`, `${amount.rounds}`];
  return lab.ownModule(
    { contender, module, args, ranks, options },
    { timeLimitMs: 180_000, variant: `${ranks} nodes` },
  );
}

function startReplay(module: string, restarted: number, { replaying, bytes, rounds }: Amount): MeasuredStart {
  const command = probeCommand({ of: "replay", module, ranks: replaying, bytes, rounds, restarted });
  return { contender: memoryOne, variant: `${restarted} restarted`, command, timeLimitMs: 180_000 };
}

function tables(series: readonly Series[], { ranks, bytes, replaying, restarted }: Amount): Table[] {
  return [
    {
      caption: `A token ring of ${bytes} bytes, each rank on a node of its own: µs for a round, less is better (MPICH-V, Fig. 7: grows with the nodes of a memory)`,
      text: metricTable(
        series,
        ranks.map((count) => ({ text: `${count} nodes`, metric: ring, x: count })),
        {
          heading: "ring of",
          contenders,
          ratios: [
            [memoryOne, plainNone],
            [memoryTwo, memoryOne],
          ],
        },
      ),
    },
    {
      caption: `The ring of ${replaying} nodes repeated after losses: µs for a round, less is better (MPICH-V, Fig. 8: faster than the first time)`,
      text: metricTable(
        series,
        restarted.map((count) => ({
          text: count === 0 ? "the first time" : `${count} started again`,
          metric: replay,
          x: count,
        })),
        { heading: "who", contenders: [memoryOne], ratios: [] },
      ),
    },
  ];
}

function panels(series: readonly Series[], { replaying }: Amount): Panel[] {
  return [
    {
      title: "Figure 7: a token ring through channel memories",
      xLabel: "nodes",
      xText: String,
      yLabel: "µs for a round",
      lines: plotLines(ofMetric(series, ring)),
    },
    {
      title: `Figure 8: the ring of ${replaying} nodes repeated`,
      xLabel: "nodes started again",
      xText: String,
      yLabel: "µs for a round",
      lines: plotLines(ofMetric(series, replay)),
    },
  ];
}
