/**
 * Figure 6 of MPICH-V: the token ring of 8 and of 12 nodes, whose channel memory has more and more threads. A memory has one thread here, and what
 * several would share is shared by several memories: so it is these that become more.
 */
import type { Benchmark, Finding } from "../../benchmark.ts";
import { memoryOne, plotLines, ringOfEight, ringOfTwelve } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { parseSamples } from "../../measuring/samples.ts";
import type { Contender } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { optionsOfMemories } from "./options.ts";

interface Amount {
  readonly rings: readonly { readonly contender: Contender; readonly ranks: number }[];
  readonly memories: readonly number[];
  readonly bytes: number;
  readonly rounds: number;
}
const full: Amount = {
  rings: [
    { contender: ringOfEight, ranks: 8 },
    { contender: ringOfTwelve, ranks: 12 },
  ],
  memories: [1, 2, 4, 8],
  bytes: 1024,
  rounds: 2_000,
};
const quick: Amount = { rings: full.rings.slice(0, 1), memories: [1, 2], bytes: 64, rounds: 20 };
const metric = "shared_ring_us";

export const memorySharing: Benchmark = {
  name: "channel-memory-sharing",
  summary: "Figure 6: a token ring of 8 and 12 nodes that share 1 to 8 channel memories",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(programPath("ring", "c"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: memoryOne, message: built.why }] };
    const amount = lab.quick ? quick : full;
    const { rings, memories: counts, bytes } = amount;
    const starts = rings.flatMap((ring) =>
      counts.map((memories) => start(lab, built.program, { ...ring, memories, amount })),
    );
    const { series, troubles } = await lab.measure(starts);
    const contenders = rings.map(({ contender }) => contender);
    const table = {
      caption: `A token ring of ${bytes} bytes, each rank on a node of its own: µs for a round, less is better (MPICH-V, Fig. 6: less with every thread of a memory, up to 8)`,
      text: metricTable(
        series,
        counts.map((count) => ({ text: `${count}`, metric, x: count })),
        { heading: "memories", contenders, ratios: [] },
      ),
    };
    const panel = {
      title: "Figure 6: a token ring that shares channel memories",
      xLabel: "memories",
      xText: String,
      yLabel: "µs for a round",
      lines: plotLines(series),
    };
    return { series, troubles, tables: [table], panels: [panel] };
  },
};

interface SharedRing {
  readonly contender: Contender;
  readonly ranks: number;
  readonly memories: number;
  readonly amount: Amount;
}

function start(lab: Lab, module: string, { contender, ranks, memories, amount }: SharedRing): MeasuredStart {
  const options = ["--nodes", `${ranks}`, ...optionsOfMemories(memories)];
  return lab.ownModule(
    { contender, module, args: [`${amount.bytes}`, `${amount.rounds}`], ranks, options },
    {
      timeLimitMs: 180_000,
      variant: `${memories} memories`,
      read: ({ stdout }) => parseSamples(stdout).map((sample) => ({ ...sample, metric, x: memories })),
    },
  );
}
