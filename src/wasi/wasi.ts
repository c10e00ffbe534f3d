/**
 * The imports of module `wasi_snapshot_preview1`: what wasi-libc calls. State that must survive is in `Descriptors`; everything
 * else is asked of the `Library` port.
 */
import type { Descriptors } from "./descriptors.ts";
import { Errno, errnoOf } from "./errno.ts";
import { fileCalls } from "./file-calls.ts";
import { ProgramBytes } from "./memory.ts";
import { pathCalls } from "./path-calls.ts";
import type { Library } from "./ports.ts";
import { processCalls } from "./process-calls.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

export interface WasiOptions {
  readonly library: Library;
  /** The program's memory. */
  readonly memory: Uint8Array;
  /** What the program has open. */
  readonly descriptors: Descriptors;
}

export function wasiImports({ library, memory, descriptors }: WasiOptions): Record<string, Call> {
  const bytes = new ProgramBytes(memory);
  const calls = {
    ...processCalls(library, bytes),
    ...fileCalls(library, bytes, descriptors),
    ...pathCalls(library, bytes, descriptors),
  };
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [name, answering(call as (...args: unknown[]) => void)]),
  );
}

/** A call that returns has succeeded; what it throws is the program's error number. */
function answering(call: (...args: unknown[]) => void): Call {
  return (...args) => {
    try {
      call(...args);
      return Errno.SUCCESS;
    } catch (error) {
      return errnoOf(error);
    }
  };
}
