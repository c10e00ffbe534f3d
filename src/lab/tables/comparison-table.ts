/** Contenders side by side: a row for each point, ratios of Banyan to each peer, and the best contender. */
import { medianAt, type Series } from "../measuring/series.ts";
import { type Column, textTable } from "./text-table.ts";
import { figureText, ratioText } from "./units.ts";

interface ComparisonOptions {
  /** The name of x: "size", "ranks". */
  readonly heading: string;
  readonly xText: (x: number) => string;
  readonly better: "less" | "more";
}

/** Series of one metric. */
export function comparisonTable(series: readonly Series[], { heading, xText, better }: ComparisonOptions): string {
  const ours = series.filter(({ contender }) => contender.isOurs);
  const peers = series.filter(({ contender }) => !contender.isOurs);
  const pairs = ours.flatMap((own) => peers.map((peer) => ({ own, peer })));
  const right = (text: string): Column => ({ heading: text, align: "right" });
  const columns = [
    right(heading),
    ...series.map(({ contender }) => right(stacked(contender.label))),
    ...pairs.map(({ own, peer }) => right(`${shortName(own)} :\n${peer.contender.label}`)),
    { heading: "best", align: "left" } as const,
  ];
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const rows = xs.map((x) => [
    xText(x),
    ...series.map((one) => figureText(medianAt(one, x) ?? Number.NaN)),
    ...pairs.map(({ own, peer }) => ratioText((medianAt(own, x) ?? Number.NaN) / (medianAt(peer, x) ?? Number.NaN))),
    bestAt(series, x, better),
  ]);
  return textTable(columns, rows);
}

function bestAt(series: readonly Series[], x: number, better: "less" | "more"): string {
  const present = series.flatMap((one) => {
    const value = medianAt(one, x);
    return value === undefined ? [] : [{ label: one.contender.label, value }];
  });
  if (present.length < 2) return "";
  const sign = better === "less" ? 1 : -1;
  return present.reduce((best, one) => (sign * one.value < sign * best.value ? one : best)).label;
}

/** "Banyan, shared arrays" over two lines. */
function stacked(label: string): string {
  return label.replace(", ", "\n");
}

/** The part of the name that distinguishes Banyan's contenders: "shared arrays". */
function shortName({ contender }: Series): string {
  return contender.label.split(", ").at(-1)!;
}
