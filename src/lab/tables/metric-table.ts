/** Several metrics in one table: a row for each, a column for each contender, and ratios of some to others. */
import { type Contender, medianAt, type Series } from "../measuring/series.ts";
import { type Column, textTable } from "./text-table.ts";
import { figureText, ratioText } from "./units.ts";

interface MetricRow {
  readonly text: string;
  readonly metric: string;
  readonly x: number;
}

interface MetricTableOptions {
  /** The heading of the rows. */
  readonly heading: string;
  readonly contenders: readonly Contender[];
  /** The first divided by the second. */
  readonly ratios: readonly (readonly [Contender, Contender])[];
}

/** Contenders without a measurement have no column. */
export function metricTable(
  series: readonly Series[],
  rows: readonly MetricRow[],
  { heading, contenders, ratios }: MetricTableOptions,
): string {
  const isThere = ({ id }: Contender): boolean => series.some(({ contender }) => contender.id === id);
  const shown = contenders.filter(isThere);
  const pairs = ratios.filter(([one, other]) => isThere(one) && isThere(other));
  const right = (text: string): Column => ({ heading: text, align: "right" });
  const columns: Column[] = [
    { heading, align: "left" },
    ...shown.map(({ label }) => right(label.replace(", ", "\n"))),
    ...pairs.map(([one, other]) => right(`${one.label.split(", ").at(-1)} :\n${other.label.split(", ").at(-1)}`)),
  ];
  const figure = ({ id }: Contender, { metric, x }: MetricRow): number =>
    medianAt(
      series.find((one) => one.contender.id === id && one.metric === metric),
      x,
    ) ?? Number.NaN;
  return textTable(
    columns,
    rows.map((row) => [
      row.text,
      ...shown.map((contender) => figureText(figure(contender, row))),
      ...pairs.map(([one, other]) => ratioText(figure(one, row) / figure(other, row))),
    ]),
  );
}
