/** Numbers as people read them. */

/** Three significant digits, with thousands separated: 0.182, 15.3, 12 300. */
export function figureText(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const rounded = digits > 0 ? value.toFixed(Math.min(digits, 6)) : String(Math.round(value));
  return rounded.replace(/\B(?=(\d{3})+$)/g, digits > 0 ? "" : " ");
}

export function ratioText(ratio: number): string {
  return Number.isFinite(ratio) ? `${figureText(ratio)} ×` : "–";
}

export function bytesText(bytes: number): string {
  if (bytes >= 1 << 30) return `${bytes / (1 << 30)} GiB`;
  if (bytes >= 1 << 20) return `${bytes / (1 << 20)} MiB`;
  if (bytes >= 1 << 10) return `${bytes / (1 << 10)} KiB`;
  return `${bytes} B`;
}

/** Whole numbers, with thousands separated. */
export function thousandsText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}
