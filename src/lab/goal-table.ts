/** Goals and how they came out, as a table. */
import { type Bound, type Comparison, type Judgement, judge } from "./goal.ts";
import { goals } from "./goals.ts";
import { peerKinds } from "./peer.ts";
import type { Series } from "./series.ts";
import { type Column, textTable } from "./text-table.ts";
import { countText, figureText, ratioText } from "./units.ts";

/** By benchmark. */
export type Findings = ReadonlyMap<string, readonly Series[]>;

/** Those whose benchmark was run. */
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
    boundText(goal.atLeast, goal.unit),
    comparisonText(goal.atLeast, atLeast),
    goal.goal === undefined ? "" : boundText(goal.goal, goal.unit),
    goal.goal === undefined || wanted === undefined ? "" : comparisonText(goal.goal, wanted),
    verdict,
  ]);
  return textTable(columns, rows);
}

function boundText({ side, factor, of }: Bound, unit: string): string {
  const sign = side === "at most" ? "≤" : "≥";
  switch (of.kind) {
    case "unit":
      return `${sign} ${countText(factor)} ${unit}`;
    case "peer":
      return `${sign} ${factor} × ${peerKinds.find(({ id }) => id === of.id)?.label ?? of.id}`;
    case "better-peer":
      return `${sign} ${factor} × the better`;
    case "own":
      return `${sign} ${factor} × ${of.metric.endsWith("_mb") ? "payloads" : `at ${countText(of.x)}`}`;
  }
}

/** Figures with a fixed bound stand in their own column already. */
function comparisonText({ of }: Bound, comparison: Comparison): string {
  if (comparison.kind === "unknown") return "–";
  return of.kind === "unit" ? "" : ratioText(comparison.ratio);
}
