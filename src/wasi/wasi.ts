/**
 * The imports of module `wasi_snapshot_preview1`: the calls of wasi-libc. State that must survive is in `Descriptors`;
 * everything else comes from the `Library` port.
 */
import { addressCheck } from "./addresses.ts";
import type { Descriptors } from "./descriptors.ts";
import { Errno, errnoOf } from "./errno.ts";
import { wasiFileCalls } from "./file-calls.ts";
import { ProgramBytes } from "./memory.ts";
import { pathCalls } from "./path-calls.ts";
import type { Library, Pause } from "./ports.ts";
import { processCalls } from "./process-calls.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

interface WasiOptions {
  readonly library: Library;
  /** The program's memory. */
  readonly memory: Uint8Array;
  /** The program's open files. */
  readonly descriptors: Descriptors;
  /** The unfinished sleep. */
  readonly pause: Pause;
}

export function wasiImports({ library, memory, descriptors, pause }: WasiOptions): Record<string, Call> {
  const bytes = new ProgramBytes(memory);
  const calls = {
    ...processCalls(library, bytes, pause),
    ...wasiFileCalls(library, bytes, descriptors),
    ...pathCalls(library, bytes, descriptors),
  };
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => {
      const check = addressCheck(name, memory, library);
      return [name, answering(call as (...args: unknown[]) => number | undefined, check)];
    }),
  );
}

/** A call that returns has succeeded, unless it returns a number; an error that it throws is the program's error number. */
function answering(call: (...args: unknown[]) => number | undefined, check: (args: number[]) => void): Call {
  return (...args) => {
    try {
      check(args);
      return call(...args) ?? Errno.SUCCESS;
    } catch (error) {
      return errnoOf(error);
    }
  };
}
