/**
 * What a simulated job has beside its processes and their messages: its output. It outlives processes, and what is said to it
 * takes a while and may be lost with the process that said it.
 */
import type { Output } from "./output.ts";

export interface Outside {
  readonly output: Output;
  /** Something goes from the process of that rank to the dispatcher. Nothing overtakes anything else of the same process. */
  travel(rank: number, act: () => void): void;
}

/** Everything arrives at once: where nobody comes back, nothing is said twice. */
export const atOnce = (output: Output): Outside => ({ output, travel: (_, act) => act() });
