/** A table in plain text: columns aligned, headings of several lines, a rule below them. */
export interface Column {
  /** Lines separated by "\n". */
  readonly heading: string;
  readonly align: "left" | "right";
}

const gap = "  ";

export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const headings = columns.map(({ heading }) => heading.split("\n"));
  const height = Math.max(...headings.map((lines) => lines.length));
  // Headings are aligned to the rule at the bottom.
  const top = Array.from({ length: height }, (_, line) => headings.map((of) => of[line - height + of.length] ?? ""));
  const widths = columns.map((_, i) => Math.max(...[...top, ...rows].map((row) => row[i]?.length ?? 0)));
  const lineOf = (row: readonly string[]): string =>
    columns
      .map(({ align }, i) => {
        const cell = row[i] ?? "";
        return align === "left" ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
      })
      .join(gap)
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join(gap);
  return [...top.map(lineOf), rule, ...rows.map(lineOf)].join("\n");
}
