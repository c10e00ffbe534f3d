/** How long nodes are waited for in each state, all from the one patience that a user may choose (`--patience`). */
import type { Patience } from "./silence.ts";

/** A node that is at work and silent for this many times its patience hangs, also while it starts. */
const starvedPatiences = 20;
/** A node that has not spoken yet and is not at work is given this many times the patience, or this time if it is longer. */
const startPatiences = 40;
const startPatienceMsMin = 30_000;

export function patiencesOf(patienceMs: number): Patience {
  const startPatienceMs = Math.max(startPatienceMsMin, startPatiences * patienceMs);
  return {
    patienceMs,
    starvedPatienceMs: starvedPatiences * patienceMs,
    startPatienceMs,
    starvedStartPatienceMs: starvedPatiences * startPatienceMs,
  };
}
