/** A map as SVG text: a rectangle of cells, each shaded by its ratio. White is 0, dark is 1; a missing cell has no figure. */
import { escaped, rounded, svgText } from "./svg.ts";

export interface MapPanel {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Titles of the columns, and of the rows, from the top. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** Row by row, from 0 to 1; undefined: no figure. */
  readonly cells: readonly (readonly (number | undefined)[])[];
  /** A line is drawn after every so many rows. */
  readonly rowsTogether: number;
}

const cell = { width: 64, height: 20 };
const margin = { left: 64, right: 20, top: 46, bottom: 62 };

export function mapSize({ columns, rows }: MapPanel): { width: number; height: number } {
  return {
    width: margin.left + columns.length * cell.width + margin.right,
    height: margin.top + rows.length * cell.height + margin.bottom,
  };
}

export function drawMap(panel: MapPanel, { left, top }: { left: number; top: number }): string {
  const { title, xLabel, yLabel, columns, rows, cells, rowsTogether } = panel;
  const { width, height } = mapSize(panel);
  const bottom = height - margin.bottom;
  const right = width - margin.right;
  const middle = (margin.top + bottom) / 2;
  const borders = rows.flatMap((_, i) => (i % rowsTogether === 0 ? [margin.top + i * cell.height] : []));
  return [
    `<g transform="translate(${left} ${top})">`,
    svgText(title, { x: margin.left, y: 28, size: 16, weight: "bold" }),
    ...cells.flatMap((row, y) => row.map((ratio, x) => drawCell(ratio, { x, y }))),
    ...borders.map((y) => `<line x1="${margin.left}" y1="${y}" x2="${right}" y2="${y}" stroke="#222"/>`),
    `<rect x="${margin.left}" y="${margin.top}" width="${right - margin.left}" height="${bottom - margin.top}" fill="none" stroke="#222"/>`,
    ...columns.map((name, i) => svgText(name, { x: centre(i), y: bottom + 19, anchor: "middle" })),
    ...rows.map((name, i) =>
      svgText(name, { x: margin.left - 8, y: margin.top + (i + 0.5) * cell.height + 4.5, anchor: "end" }),
    ),
    svgText(xLabel, { x: (margin.left + right) / 2, y: height - 18, anchor: "middle" }),
    `<g transform="translate(20 ${middle}) rotate(-90)">${svgText(yLabel, { x: 0, y: 0, anchor: "middle" })}</g>`,
    "</g>",
  ].join("\n");
}

const centre = (column: number): number => margin.left + (column + 0.5) * cell.width;

function drawCell(ratio: number | undefined, { x, y }: { x: number; y: number }): string {
  if (ratio === undefined) return "";
  const at = `x="${margin.left + x * cell.width}" y="${margin.top + y * cell.height}"`;
  const label = ratio.toFixed(2);
  const colour = ratio > 0.6 ? "#fff" : "#222";
  const words = svgText(label, {
    x: centre(x),
    y: rounded(margin.top + (y + 0.5) * cell.height + 4),
    anchor: "middle",
    size: 11,
    colour,
  });
  return `<g><title>${escaped(label)}</title><rect ${at} width="${cell.width}" height="${cell.height}" fill="${shade(ratio)}"/>${words}</g>`;
}

/** From white to the blue of the lines. */
function shade(ratio: number): string {
  const share = Math.min(1, Math.max(0, ratio));
  const [red, green, blue] = [0x00, 0x72, 0xb2].map((full) => Math.round(255 + (full - 255) * share));
  return `rgb(${red},${green},${blue})`;
}
