/**
 * The cost of a receive when 1 000, 10 000 and 100 000 messages or receives are waiting, wildcards among them, and the memory
 * of waiting messages. Peers keep lists and walk them, so they do not run with 100 000: it would take minutes.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { banyan, plotLines } from "../contenders/contenders.ts";
import { medianAt, ofMetric, type Series } from "../measuring/series.ts";
import type { Panel } from "../plots/plot.ts";
import { comparisonTable } from "../tables/comparison-table.ts";
import { textTable } from "../tables/text-table.ts";
import { figureText, thousandsText } from "../tables/units.ts";

const batches = 5;
const batchesQuick = 3;
const waiting = [1_000, 10_000, 100_000];
const waitingQuick = [100, 1_000];
/** Warm-up before a point is measured: few messages must not look expensive because their code is still cold. */
const warmMessages = 50_000;
const waitingOfPeersMax = 10_000;
const scenarios = [
  { metric: "unexpected_us", title: "Receives among unexpected messages" },
  { metric: "posted_us", title: "Messages among posted receives" },
];

export const matching: Benchmark = {
  name: "matching",
  summary: "cost of a receive among 100 000 waiting messages or receives",
  async measure(lab) {
    const counts = lab.quick ? waitingQuick : waiting;
    const options = { timeLimitMs: 60_000 };
    const job = { program: "matching", ranks: 2 };
    if (!lab.quick && lab.peers.length > 0)
      lab.remark("Peers are left out with 100 000 waiting: they walk lists, which would take minutes");
    const args = (chosen: readonly number[]): string[] => [
      String(lab.quick ? batchesQuick : batches),
      ...chosen.map((count) => `${count}:${lab.quick ? 1 : Math.ceil(warmMessages / count)}`),
    ];
    const ofPeers = counts.filter((count) => count <= waitingOfPeersMax);
    const { series, troubles } = await lab.measure([
      lab.own({ ...job, contender: banyan, args: args(counts) }, options),
      ...lab.ofPeers({ ...job, args: () => args(ofPeers) }, options),
    ]);
    return {
      series,
      troubles,
      tables: [
        ...scenarios.map(({ metric, title }) => costTable(title, ofMetric(series, metric))),
        memoryTable(series),
      ],
      panels: scenarios.map(({ metric, title }) => costPanel(title, ofMetric(series, metric))),
    };
  },
};

function costTable(title: string, series: readonly Series[]): Table {
  return {
    caption: `${title}: µs for each, less is better; near constant is wanted`,
    text: comparisonTable(series, { heading: "waiting", xText: thousandsText, better: "less" }),
  };
}

function memoryTable(series: readonly Series[]): Table {
  const [grown] = ofMetric(series, "queued_mb");
  const [payload] = ofMetric(series, "queued_payload_mb");
  const rows = (grown?.points ?? []).map(({ x, median }) => [
    thousandsText(x),
    figureText(medianAt(payload, x) ?? Number.NaN),
    figureText(median),
  ]);
  const columns = ["waiting", "payloads", "the node grew by"].map((heading) => ({ heading, align: "right" }) as const);
  return {
    caption: "Memory of waiting messages of 4 KiB: MB; bounded is wanted",
    text: textTable(columns, rows),
  };
}

function costPanel(title: string, series: readonly Series[]): Panel {
  return { title, xLabel: "how many wait", xText: thousandsText, yLabel: "each, µs", lines: plotLines(series) };
}
