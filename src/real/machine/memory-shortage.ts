/**
 * Why memory cannot be had, for the user. Where addresses are limited (`ulimit -v`, batch systems) less memory may not help: to
 * check bounds for free, V8 reserves up to 10 GB of addresses for each WebAssembly memory, whatever its size.
 */
import { readFileSync } from "node:fs";

/** `what`, a plural or uncountable: "its 1024 MB of shared memory". */
export function shortageOf(what: string, limitMb = addressLimitMb(limitsOfProcess())): string {
  return limitMb === undefined
    ? `${what} cannot be had; give less with --memory`
    : `${what} cannot be had with addresses limited to ${limitMb} MB; raise that limit (ulimit -v) or give less with --memory`;
}

/** Undefined: there is no limit. `limits` is what Linux says in `/proc/self/limits`. */
export function addressLimitMb(limits: string): number | undefined {
  const soft = /^Max address space +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? undefined : Math.floor(Number(soft) / 2 ** 20);
}

function limitsOfProcess(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Not Linux, or /proc is not there: then nothing is said of limits.
    return "";
  }
}

/** Undefined: address space that the machine, or a limit of the user's, does not give. */
export function tryToAllocate<T>(allocate: () => T): T | undefined {
  try {
    return allocate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
