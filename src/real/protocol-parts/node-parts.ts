/** Parts of protocols in a node's main thread. A protocol that has none there has no line here. */
import { channelMemory } from "../../core/ft/channel-memory/definition.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import { ChannelMemoryNode } from "../channel-memory/channel-memory-node.ts";
import { LoggingNode } from "../logging/logging-node.ts";
import type { NewNodePart } from "../part-hosts/node-part.ts";

export const nodeParts: Readonly<Record<string, NewNodePart>> = {
  [logging.name]: (setup) => new LoggingNode(setup),
  [channelMemory.name]: (setup) => new ChannelMemoryNode(setup),
};
