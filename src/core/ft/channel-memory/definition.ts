/** Channel memories, as the rest of the runtime knows them. */
import type { ClientEnd } from "../../service-channel/channel.ts";
import { checkpointPlan } from "../checkpoint-options.ts";
import type { ProtocolDefinition, RankPartHost } from "../definition.ts";
import { ChannelMemoryProtocol } from "./channel-memory-protocol.ts";
import { memoryLimitsDefault } from "./limits.ts";
import { channelMemoryOptions, checkChannelMemory } from "./options.ts";
import { memorySummary } from "./report.ts";
import { channelMemoryShapes } from "./shapes.ts";

/** The parts of a rank's host that the protocol uses. */
export interface ChannelMemoryResources {
  /** To each memory. */
  readonly ends: readonly ClientEnd[];
  /** The home memory has the mark of that checkpoint. */
  marked(checkpoint: number): void;
}

export const channelMemory: ProtocolDefinition = {
  name: "channel-memory",
  help: "every message goes through memories on its way: any number of nodes may fall, and come back to where they were",
  examples: [
    "banyan run -n 8 --nodes 8 --protocol channel-memory --memories 2 --checkpoint-every 10s solver.c",
    'banyan run -n 8 --nodes 8 --protocol channel-memory --faults "kill random node every 2s" solver.c',
  ],
  deaths: "replaced",
  boards: "never",
  isRelayed: true,
  refusals: {
    spawn: "protocol channel-memory cannot start them again; run without --protocol",
    freezing: "it takes checkpoints instead",
    sharedThreads: "ranks that take turns in a thread cannot fall one by one",
  },
  options: channelMemoryOptions,
  replicas: null,
  check: checkChannelMemory,
  checkpoints: checkpointPlan,
  rank: ({ passed, resources }: RankPartHost) => {
    const { ends, marked } = resources as ChannelMemoryResources;
    return (ports) => new ChannelMemoryProtocol({ ends, limits: memoryLimitsDefault, marked, passed }, ports);
  },
  shapes: channelMemoryShapes,
  summary: memorySummary,
};
