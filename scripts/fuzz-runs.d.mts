export interface FuzzSize {
  readonly ranks: number;
  readonly nodes: number;
}

export interface FuzzOptions extends FuzzSize {
  readonly seed: number;
  /** Calls of all ranks together. */
  readonly calls: number;
  /** A longer run counts as a hang. */
  readonly seconds?: number;
  /** More arguments of the fuzzer: the first episode, how many, "trace" or "counts". */
  readonly more?: readonly string[];
}

export interface FuzzRun {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: number;
  readonly errors: number;
  /** Functions that were called, and functions that succeeded at least once. */
  readonly called: number;
  readonly succeeded: number;
  /** Empty: no problem. */
  readonly problem: string;
}

export const fuzzSizes: readonly FuzzSize[];
export function compileFuzzer(folder: string): string;
export function runFuzzer(module: string, options: FuzzOptions): Promise<FuzzRun>;
export function commandFor(options: FuzzOptions): string;
export function lastCalls(stderr: string, ranks: number, count?: number): string[];
