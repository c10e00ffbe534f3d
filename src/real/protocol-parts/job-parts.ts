/** Parts of protocols beside the dispatcher. A protocol that has none there has no line here. */
import { channelMemory } from "../../core/ft/channel-memory/definition.ts";
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import { replication } from "../../core/ft/replication/definition.ts";
import { ChannelMemoryJobHost } from "../channel-memory/channel-memory-job-host.ts";
import { FaultLayerJobHost } from "../fault-layer/fault-layer-job-host.ts";
import { LoggingJobHost } from "../logging/logging-job-host.ts";
import type { NewJobPartHost } from "../part-hosts/job-part-host.ts";
import { ReplicationJobHost } from "../replication/replication-job-host.ts";

export const jobParts: Readonly<Record<string, NewJobPartHost>> = {
  [logging.name]: (setup, ports) => new LoggingJobHost(setup, ports),
  [faultLayer.name]: () => new FaultLayerJobHost(),
  [replication.name]: (setup, ports) => new ReplicationJobHost(setup, ports),
  [channelMemory.name]: (setup, ports) => new ChannelMemoryJobHost(setup, ports),
};
