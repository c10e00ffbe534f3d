/** Every protocol, by the name people write behind `--protocol`. */
import type { DeterminantStream } from "./logging/determinant-stream.ts";
import { LoggingProtocol } from "./logging/logging-protocol.ts";
import { passThrough } from "./pass-through.ts";
import type { NewProtocol } from "./protocol.ts";

/** All that any of them wants to be told at the start. */
export interface ProtocolOptions {
  readonly rank: number;
  /** Correlated set of each rank. */
  readonly setOf: Int32Array;
  /** Where determinants of this rank's set go. */
  readonly stream: DeterminantStream;
}

export const protocols: Readonly<Record<string, (options: ProtocolOptions) => NewProtocol>> = {
  none: () => passThrough,
  logging: (options) => (ports) => new LoggingProtocol(options, ports),
};
