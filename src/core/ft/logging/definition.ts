/** Message logging with correlated sets, as the rest of the runtime knows it. */
import { checkpointPlan } from "../checkpoint-options.ts";
import type { ProtocolDefinition, RankPartHost } from "../definition.ts";
import type { DeterminantStream } from "../determinants/determinant-stream.ts";
import { LoggingProtocol } from "./logging-protocol.ts";
import { checkLogging, loggingOptions } from "./options.ts";
import type { PayloadMemoryOptions } from "./payload-memory.ts";
import { summaryOf } from "./report.ts";
import { loggingShapes } from "./shapes.ts";

/** The parts of a rank's host that message logging uses. */
export interface LoggingResources {
  /** Where determinants of the rank's set go. */
  readonly stream: DeterminantStream;
  /** Null: the memory of its payload log has no bound. */
  readonly payloads: PayloadMemoryOptions | null;
}

export const logging: ProtocolDefinition = {
  name: "logging",
  help: "message logging with correlated sets: the lost are started again and come to where they were",
  examples: [
    "banyan run -n 8 --nodes 4 --protocol logging --checkpoint-every 10s solver.c",
    'banyan run -n 8 --nodes 4 --protocol logging --faults "kill node 2 at 3s" solver.c',
  ],
  deaths: "replaced",
  boards: "inside a set",
  refusals: {
    spawn: "protocol logging cannot start them again; run without --protocol",
    freezing: "it takes checkpoints instead",
    // Those of one set: they fall together.
    sharedThreads: null,
  },
  options: loggingOptions,
  replicas: null,
  check: checkLogging,
  checkpoints: checkpointPlan,
  rank: ({ rank, setOf, passed, resources }: RankPartHost) => {
    const { stream, payloads } = resources as LoggingResources;
    return (ports) => new LoggingProtocol({ rank, setOf, stream, payloads, passed }, ports);
  },
  shapes: loggingShapes,
  summary: summaryOf,
};
