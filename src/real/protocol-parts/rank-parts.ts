/** What protocols need of the machine in a rank's thread. A protocol that needs nothing of it has no line here. */
import { channelMemory } from "../../core/ft/channel-memory/definition.ts";
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import { replication } from "../../core/ft/replication/definition.ts";
import { channelMemoryRank } from "../channel-memory/channel-memory-rank.ts";
import { faultLayerRank } from "../fault-layer/fault-layer-rank.ts";
import { loggingRank } from "../logging/logging-rank.ts";
import type { NewRankPart } from "../part-hosts/rank-part.ts";
import { replicationRank } from "../replication/replication-rank.ts";

export const rankParts: Readonly<Record<string, NewRankPart>> = {
  [logging.name]: loggingRank,
  [replication.name]: replicationRank,
  [faultLayer.name]: faultLayerRank,
  [channelMemory.name]: channelMemoryRank,
};
