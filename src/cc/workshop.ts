/** What every step of a build works with. */
import type { Cache } from "./cache.ts";
import type { Tools } from "./client.ts";
import type { Installation } from "./installation.ts";
import type { SourceDisk } from "./source-disk.ts";

export interface Workshop {
  /** Absolute; what relative names are relative to. */
  readonly cwd: string;
  readonly installation: Installation;
  readonly cache: Cache;
  readonly tools: Tools;
  /** Where sources are read; the whole disk unless given. */
  readonly disk?: SourceDisk | undefined;
  /** How messages look. */
  readonly terminal: Terminal;
  /** Ends what is under way; the step then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Terminal {
  readonly colours: boolean;
  /** Width, if there is one to respect. */
  readonly columns?: number | undefined;
}

/** A step's result. What a tool had to say is there in both cases; the code is the one to exit with. */
export type Made =
  | {
      readonly kind: "made";
      readonly output: Uint8Array;
      readonly stderr: Uint8Array;
      readonly dependencies?: Uint8Array | undefined;
      /** Nothing had to be run. */
      readonly kept: boolean;
    }
  | { readonly kind: "failed"; readonly code: number; readonly stderr: Uint8Array };
