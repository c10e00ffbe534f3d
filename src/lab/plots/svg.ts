/** Pieces of SVG. */

interface TextOptions {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "middle" | "end";
  readonly size?: number;
  readonly weight?: "bold";
  readonly colour?: string;
}

export function svgText(content: string, { x, y, anchor, size, weight, colour }: TextOptions): string {
  const attributes = [
    `x="${rounded(x)}" y="${rounded(y)}"`,
    anchor === undefined ? "" : ` text-anchor="${anchor}"`,
    size === undefined ? "" : ` font-size="${size}"`,
    weight === undefined ? "" : ` font-weight="${weight}"`,
    colour === undefined ? "" : ` fill="${colour}"`,
  ];
  return `<text ${attributes.join("")}>${escaped(content)}</text>`;
}

/** A tenth of a pixel is enough. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
