/** Silent faults (thesis §5.4): what memory whose bits flip does to the process that has it. */

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
