/** The means of every step of a build. */
import type { Cache } from "./cache.ts";
import type { Tools } from "./client.ts";
import type { Installation } from "./installation.ts";
import type { SourceDisk } from "./source-disk.ts";

export interface Workshop {
  /** Absolute; relative names are relative to it. */
  readonly cwd: string;
  readonly installation: Installation;
  readonly cache: Cache;
  readonly tools: Tools;
  /** The disk with the sources; the whole disk by default. */
  readonly disk?: SourceDisk | undefined;
  /** The form of messages. */
  readonly terminal: Terminal;
  /** Cancels running work; the step then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Terminal {
  readonly colours: boolean;
  /** Width, if the terminal has one. */
  readonly columns?: number | undefined;
}

/** A step's result. The tool's messages are there in both cases; the code is the exit code. */
export type Made =
  | {
      readonly kind: "made";
      readonly output: Uint8Array;
      readonly stderr: Uint8Array;
      readonly dependencies?: Uint8Array | undefined;
      /** True when no tool had to run. */
      readonly kept: boolean;
    }
  | { readonly kind: "failed"; readonly code: number; readonly stderr: Uint8Array };
