/** Memory of the process that contains this rank as a thread. Linux only: elsewhere the proportional set size is not known. */
import { readFileSync } from "node:fs";

interface MemoryFigures {
  /** Proportional set size: a page that k processes share counts 1/k. */
  readonly pssMb: number;
  readonly rssMb: number;
}

export function processMemory(): MemoryFigures {
  const text = readFileSync("/proc/self/smaps_rollup", "utf8");
  const mb = (field: string): number => (Number(new RegExp(`^${field}: +(\\d+) kB`, "m").exec(text)?.[1]) * 1024) / 1e6;
  return { pssMb: mb("Pss"), rssMb: mb("Rss") };
}
