/**
 * Silent faults (thesis §5.4): bits of messages that flip, each with the same probability and for itself, and what bad memory does to the
 * process that has it.
 */

/**
 * Flips every bit with that probability; the number of bits that were. It has the binomial distribution, because the distances between two flips are drawn
 * from the geometric one: work for the flips alone, however long the message is. `unit` draws from between 0 and 1, both excluded.
 */
export function flipBits(bytes: Uint8Array, probability: number, unit: () => number): number {
  if (probability <= 0) return 0;
  const bits = 8 * bytes.length;
  const scale = Math.log1p(-Math.min(probability, 1));
  let flips = 0;
  for (let bit = distance(scale, unit); bit < bits; bit += 1 + distance(scale, unit)) {
    const at = Math.floor(bit / 8);
    bytes[at] = bytes[at]! ^ (1 << (bit % 8));
    flips++;
  }
  return flips;
}

/** Bits that are left alone before the next one flips. */
const distance = (scale: number, unit: () => number): number => Math.floor(Math.log(unit()) / scale);

/**
 * The probability that a process fails, from that of a failure for other reasons (p_c), that of a bit to flip (p_f) and k ≥ 1, the size of the
 * program in memory. The formula of the thesis, whose inner bracket is 1 − (1 − p_c)(1 − p_f)^k, made shorter: three ways to survive, all of which a
 * process needs.
 */
export function failureProbability({
  pc,
  pf,
  k,
}: {
  readonly pc: number;
  readonly pf: number;
  readonly k: number;
}): number {
  return 1 - (1 - pc * pf) * (1 - pc) * (1 - pf) ** k;
}
