/** How long nodes are waited for in each state, all from the one patience that a user may choose (`--patience`). */
import type { Patience } from "./silence.ts";

/** A node that is at work and silent for this many times its patience hangs, also while it starts. */
const starvedPatiences = 20;
/** A node that has not spoken yet and is not at work is given this many times the patience, or this time if it is longer. */
const startPatiences = 40;
const startPatienceMsMin = 30_000;

/** A node that hears nothing asks whether the dispatcher lives after this time, or after this many times the longest wait for a node. */
const quietMsMin = 15_000;
const quietPatiences = 2;
/** The longest time of a timer. */
const timerMsMax = 0x7fffffff;

/**
 * How long a node hears nothing until it asks whether the dispatcher lives, and ends if no process answers. The dispatcher is first to
 * give up a link over which nothing comes: it says which node is lost and why, and starts another. A node that ends by itself says nothing.
 */
export function dispatcherQuietMsOf(patienceMs: number): number {
  const { starvedPatienceMs } = patiencesOf(patienceMs);
  return Math.min(timerMsMax, Math.max(quietMsMin, Math.ceil(quietPatiences * starvedPatienceMs)));
}

export function patiencesOf(patienceMs: number): Patience {
  const startPatienceMs = Math.max(startPatienceMsMin, startPatiences * patienceMs);
  return {
    patienceMs,
    starvedPatienceMs: starvedPatiences * patienceMs,
    startPatienceMs,
    starvedStartPatienceMs: starvedPatiences * startPatienceMs,
  };
}
