import type { JobEvent, LaunchOptions, RunningJob } from "banyan";

export type ProgramName = "cg" | "hpccg" | "mg" | "ft" | "bt" | "is" | "orders" | "collectives";

export interface KillRun {
  /** By rank. */
  readonly lines: readonly (readonly string[])[];
  readonly said: readonly string[];
  readonly code: number;
  readonly ms: number;
}

export const programs: Readonly<Record<ProgramName, { readonly source: string; readonly args: readonly string[] }>>;
export function compile(name: ProgramName, folder: string): string;
export function runOnce(
  module: string,
  options: LaunchOptions & { readonly ranks: number },
  onEvent?: (event: JobEvent, job: RunningJob) => void,
): Promise<KillRun>;
export function problemOf(name: ProgramName, run: KillRun, wanted: KillRun["lines"]): string;
export function randomOf(seed: number): () => number;
