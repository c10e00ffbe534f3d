/** Goals and their results as a table. */

import { peerKinds } from "../contenders/peer.ts";
import type { Series } from "../measuring/series.ts";
import { type Column, textTable } from "../tables/text-table.ts";
import { figureText, ratioText, thousandsText } from "../tables/units.ts";
import { type Bound, type Comparison, type Judgement, judge } from "./goal.ts";
import { goals } from "./goals.ts";

/** By benchmark. */
type Findings = ReadonlyMap<string, readonly Series[]>;

/** The goals whose benchmarks were run. */
export function judgements(findings: Findings): Judgement[] {
  return goals.flatMap((goal) => {
    const series = findings.get(goal.benchmark);
    return series === undefined ? [] : [judge(goal, series)];
  });
}

export function goalTable(judged: readonly Judgement[]): string {
  const columns: Column[] = [
    { heading: "what", align: "left" },
    { heading: "Banyan", align: "right" },
    { heading: "at least", align: "left" },
    { heading: "is", align: "right" },
    { heading: "goal", align: "left" },
    { heading: "is", align: "right" },
    { heading: "", align: "left" },
  ];
  const rows = judged.map(({ goal, figure, atLeast, wanted, verdict }) => [
    goal.what,
    figure === undefined ? "–" : `${figureText(figure)} ${goal.unit}`,
    ...cellsOf(goal.atLeast, atLeast, goal.unit),
    ...cellsOf(goal.goal, wanted, goal.unit),
    verdict,
  ]);
  return textTable(columns, rows);
}

function cellsOf(bound: Bound | undefined, comparison: Comparison | undefined, unit: string): string[] {
  if (bound === undefined || comparison === undefined) return ["", ""];
  return [boundText(bound, unit), comparisonText(bound, comparison)];
}

function boundText({ side, factor, of }: Bound, unit: string): string {
  const sign = side === "at most" ? "≤" : "≥";
  switch (of.kind) {
    case "unit":
      return `${sign} ${thousandsText(factor)} ${unit}`;
    case "peer":
      return `${sign} ${factor} × ${peerKinds.find(({ id }) => id === of.id)?.label ?? of.id}`;
    case "better-peer":
      return `${sign} ${factor} × the better`;
    case "own":
      return `${sign} ${factor} × ${of.label}`;
  }
}

/** Figures with a fixed bound have their own column already. */
function comparisonText({ of }: Bound, comparison: Comparison): string {
  if (comparison.kind === "unknown") return "–";
  return of.kind === "unit" ? "" : ratioText(comparison.ratio);
}
