/**
 * Memory of one more idle rank: the memory of 16 ranks, less that of one, divided by 15. Banyan's ranks are threads of one
 * process; those of the peers are processes, whose proportional set sizes are added so that libraries count once.
 */
import type { Benchmark } from "../benchmark.ts";
import { banyan } from "../contenders/contenders.ts";
import { mapSeries, ofMetric, type Series } from "../measuring/series.ts";
import { comparisonTable } from "../tables/comparison-table.ts";

const ranks = 16;
const timeLimitMs = 60_000;

export const memory: Benchmark = {
  name: "memory",
  summary: "memory of an idle rank",
  async measure(lab) {
    const starts = [1, ranks].flatMap((count) => {
      const options = { timeLimitMs, variant: count === 1 ? "1 rank" : `${count} ranks` };
      const job = { program: "memory", ranks: count };
      return [
        lab.own({ ...job, contender: banyan, args: [] }, options),
        ...lab.ofPeers({ ...job, args: () => [] }, options),
      ];
    });
    const { series: totals, troubles } = await lab.measure(starts);
    const perRank = totals.flatMap((total) => eachRank(total) ?? []);
    const proportional = ofMetric(perRank, "pss_per_rank_mb");
    const options = { heading: "ranks", xText: String, better: "less" } as const;
    return {
      series: [...totals, ...perRank],
      troubles,
      tables: [
        {
          caption: "Memory of an idle rank: MB (proportional set size), less is better",
          text: comparisonTable(proportional, options),
        },
        {
          caption: "Memory of all ranks together: MB (proportional set size), less is better",
          text: comparisonTable(ofMetric(totals, "pss_mb"), options),
        },
      ],
      panels: [],
    };
  },
};

/** Run by run: each run of the many against the run of the one beside it. Undefined when one of the two is missing. */
export function eachRank(total: Series): Series | undefined {
  const one = total.points.find(({ x }) => x === 1);
  const many = total.points.find(({ x }) => x === ranks);
  if (one === undefined || many === undefined) return undefined;
  const runs = many.runs.slice(0, one.runs.length).map((figures, run) => {
    const alone = one.runs[run]![0]!;
    return figures.map((together) => (together - alone) / (ranks - 1));
  });
  const metric = total.metric.replace("_mb", "_per_rank_mb");
  return mapSeries({ ...total, points: [{ x: ranks, runs, median: Number.NaN }] }, metric, (figure) => figure);
}
