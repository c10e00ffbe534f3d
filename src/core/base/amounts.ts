/** Counts, amounts of bytes and durations as text for people. */

export function countText(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

export function timesText(number: number): string {
  return number === 1 ? "once" : `${number} times`;
}

/** Bytes in decimal units, with two digits where the amount is small: 35 MB, 4.2 KB, 0 B. */
export function sizeText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export function secondsText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 1000).toFixed(1)} s`;
}
