/**
 * Fig. 7: how much each rank logs in a broadcast, a reduction and an allreduce, with sets against classical, over message
 * sizes. The collectives are hierarchical where the node map says so; large ones should log one share of k, with k ranks on a
 * node. Volumes do not depend on time: each is counted once.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { loggingClassical, loggingSets } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Series } from "../../measuring/series.ts";
import type { MapPanel } from "../../plots/map-plot.ts";
import { type Column, textTable } from "../../tables/text-table.ts";
import { bytesText, figureText, ratioText } from "../../tables/units.ts";
import { derived, figureOf } from "./modes.ts";
import { probeStart } from "./probe.ts";

/** `word`: the number of ranks on a node, in names of metrics. */
interface Layout {
  readonly ranks: number;
  readonly nodes: number;
  readonly word: string;
}

const layouts: readonly Layout[] = [
  { ranks: 8, nodes: 4, word: "pairs" },
  { ranks: 16, nodes: 4, word: "fours" },
];
const collectives = ["bcast", "reduce", "allreduce"];
const sizes = [4, 64, ...[1, 8, 64, 256, 1024].map((kib) => kib << 10)];
const sizesQuick = [1 << 10, 1 << 20];
const rounds = 4;
const paper =
  "correlated sets, Fig. 7: 1/k for large messages and for reduce at every size, 5/8 for a small allreduce, all of a small broadcast";
const ways = [
  { contender: loggingSets, sets: "node" },
  { contender: loggingClassical, sets: "rank" },
] as const;

export const volume: Benchmark = {
  name: "logging-volume",
  summary: "Fig. 7: log volume of collectives by rank and message size, sets against classical",
  async measure(lab) {
    const built = await lab.compile(programPath("collective", "c"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: loggingSets, message: built.why }] };
    const chosen = lab.quick ? sizesQuick : sizes;
    const shown = lab.quick ? layouts.slice(0, 1) : layouts;
    const starts = shown.flatMap(({ word, ranks, nodes }) =>
      ways.map(({ contender, sets }): MeasuredStart => {
        const common = { kind: "volume", module: built.program, ranks, nodes, sets } as const;
        const probe = { ...common, word, collectives, sizes: chosen, rounds: lab.quick ? 1 : rounds };
        return probeStart(probe, { contender, variant: word, timeLimitMs: 600_000 });
      }),
    );
    const { series: measured, troubles } = await lab.measure(starts, 1);
    const series = [...measured, ...shown.flatMap((layout) => totals(measured, layout, chosen))];
    const tables = shown.map((layout) => table(series, layout, chosen));
    return { series, troubles, tables, panels: shown.flatMap((layout) => maps(measured, layout, chosen)) };
  },
};

const perRankMetric = (collective: string, { word }: Layout): string => `${collective}_${word}_bytes`;
const totalMetric = (collective: string, { word }: Layout): string => `${collective}_${word}_total_bytes`;

/** The volume of each rank; undefined where it was not measured. */
function perRank(series: readonly Series[], id: string, metric: string, bytes: number): readonly number[] {
  const one = series.find(({ contender, metric: of }) => contender.id === id && of === metric);
  return one?.points.find(({ x }) => x === bytes)?.runs[0] ?? [];
}

function totals(series: readonly Series[], layout: Layout, chosen: readonly number[]): Series[] {
  return ways.flatMap(({ contender }) =>
    collectives.map((collective): Series => {
      const metric = totalMetric(collective, layout);
      const points = chosen.flatMap((bytes) => {
        const figures = perRank(series, contender.id, perRankMetric(collective, layout), bytes);
        const total = figures.reduce((sum, one) => sum + one, 0);
        return figures.length === 0 ? [] : derived(contender, metric, bytes, total).flatMap(({ points }) => points);
      });
      return { contender, metric, points };
    }),
  );
}

function table(series: readonly Series[], layout: Layout, chosen: readonly number[]): Table {
  const right = (heading: string): Column => ({ heading, align: "right" });
  const columns = [
    right("size"),
    ...collectives.flatMap((collective) => [
      right(`${collective}\nsets`),
      right("classical"),
      right("sets :\nclassical"),
    ]),
  ];
  const rows = chosen.map((bytes) => [
    bytesText(bytes),
    ...collectives.flatMap((collective) => {
      const [sets, classical] = ways.map(
        ({ contender }) => figureOf(series, contender, totalMetric(collective, layout), bytes) ?? Number.NaN,
      );
      return [figureText(sets!), figureText(classical!), ratioText(sets! / classical!)];
    }),
  ]);
  const { ranks, nodes } = layout;
  return {
    caption: `Payload logged by one collective, ${ranks} ranks on ${nodes} nodes, k = ${ranks / nodes}: bytes, less is better (${paper})`,
    text: textTable(columns, rows),
  };
}

/** A rank that logs nothing even in classical mode sends nothing: its cell is empty. */
function maps(series: readonly Series[], layout: Layout, chosen: readonly number[]): MapPanel[] {
  const { ranks, nodes } = layout;
  return collectives.map((collective) => {
    const metric = perRankMetric(collective, layout);
    const [sets, classical] = ways.map(({ contender }) =>
      chosen.map((bytes) => perRank(series, contender.id, metric, bytes)),
    );
    const ratio = (rank: number, column: number): number | undefined => {
      const all = classical![column]![rank];
      return all === undefined || all === 0 ? undefined : (sets![column]![rank] ?? 0) / all;
    };
    const names = Array.from({ length: ranks }, (_, rank) => rank);
    return {
      title: `${collective}, ${ranks} ranks on ${nodes} nodes`,
      xLabel: "message size",
      yLabel: "rank; sets : classical",
      columns: chosen.map(bytesText),
      rows: names.map(String),
      cells: names.map((rank) => chosen.map((_, column) => ratio(rank, column))),
      rowsTogether: ranks / nodes,
    };
  });
}
