/** Shapes of the values that the parts of channel memories send each other. */
import { absent, object, text, whole } from "../../base/value-shape.ts";
import type { ProtocolShapes } from "../protocol-shapes.ts";
import type { Remembered } from "./channel-memory-protocol.ts";
import { markedShape } from "./memory-job.ts";

const count = whole(0, Number.MAX_SAFE_INTEGER);

/** For a node: how many memories there are. */
export interface ChannelMemoryNodeSetup {
  readonly memories: number;
}

/** For a node: that memory is there, perhaps another process in the place of one that was lost. */
export interface MemoryIsAt {
  readonly memory: number;
  readonly address: { readonly host: string; readonly port: number };
}

export const channelMemoryShapes: ProtocolShapes = {
  forNode: object<ChannelMemoryNodeSetup>({ memories: count }),
  toNode: object<MemoryIsAt>({
    memory: count,
    address: object<MemoryIsAt["address"]>({ host: text, port: whole(0, 65535) }),
  }),
  fromNode: absent,
  forRanks: absent,
  fromRank: markedShape,
  report: object<Remembered>({ messages: count, silent: count, determinantBytes: count }),
};
