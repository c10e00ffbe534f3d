/** How long processes live under the fault-simulation layer, as `--lifetimes` says it (thesis §5.3.6). */

export type Lifetimes =
  | { readonly kind: "exponential"; readonly meanMs: number }
  | { readonly kind: "weibull"; readonly shape: number; readonly scaleMs: number }
  /** In every call with that probability. */
  | { readonly kind: "chance"; readonly probability: number }
  /** With that probability within a period; in a call with a probability that grows with the time since the last one (5.1). */
  | { readonly kind: "rate"; readonly probability: number; readonly periodMs: number }
  /** The same; the probability follows from `pc`, `k` and the probability of a bit to flip (§5.4). */
  | { readonly kind: "memory"; readonly pc: number; readonly k: number; readonly periodMs: number };

export const lifetimesText =
  "exponential:30s, weibull:0.7,30s (shape, scale), chance:0.001 (in each call), rate:0.01,60s (probability, period) or memory:0.01,3,60s (p_c, k, period)";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** As in fault plans: other shapes draw times that are nearly zero or never come. */
const shapeMin = 0.1;
const shapeMax = 100;

/** The lifetimes, or what is wrong with the text, in one line. */
export function lifetimesOf(text: string): Lifetimes | string {
  const [, name = "", rest = ""] = /^([a-z]+):(.*)$/.exec(text) ?? [];
  const parts = rest.split(",");
  const timeMs = msOf(parts.at(-1) ?? "");
  const number = decimalOf(parts[0]);
  const hasTwo = parts.length === 2;
  if (timeMs > 0 && name === "exponential" && parts.length === 1) return { kind: name, meanMs: timeMs };
  if (timeMs > 0 && name === "weibull" && hasTwo && number >= shapeMin && number <= shapeMax) {
    return { kind: name, shape: number, scaleMs: timeMs };
  }
  if (timeMs > 0 && name === "rate" && hasTwo && number > 0 && number <= 1) {
    return { kind: name, probability: number, periodMs: timeMs };
  }
  if (name === "chance" && parts.length === 1 && number > 0 && number <= 1) return { kind: name, probability: number };
  const k = decimalOf(parts[1]);
  if (timeMs > 0 && name === "memory" && parts.length === 3 && number >= 0 && number <= 1 && k >= 1) {
    return { kind: name, pc: number, k, periodMs: timeMs };
  }
  return `Cannot give processes the lifetimes "${text}": give ${lifetimesText}; a shape is from ${shapeMin} to ${shapeMax}, a probability above 0 and up to 1, k at least 1`;
}

/** NaN: the text is no number. */
export const decimalOf = (text = ""): number =>
  /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;

/** NaN: the text is no time. */
function msOf(text: string): number {
  const match = /^(\d*\.?\d+)(ms|s|m|h)$/.exec(text);
  return match === null ? Number.NaN : Number(match[1]) * unitMs[match[2]!]!;
}
