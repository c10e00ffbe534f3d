/** Channel memories in a rank's thread: its ends of the channels to all memories. */
import type { ChannelMemoryResources } from "../../core/ft/channel-memory/definition.ts";
import { memoryOf } from "../../core/ft/channel-memory/limits.ts";
import type { MarkedWords } from "../../core/ft/channel-memory/memory-job.ts";
import { bellOf, quietBellOf } from "../messages/node-words.ts";
import type { RankPart, RankPartSetup } from "../part-hosts/rank-part.ts";
import type { Napper } from "../process/waiting.ts";
import type { SharedChannel } from "../service-channel/channel-ring.ts";
import { ChannelThread } from "../service-channel/channel-thread.ts";

/** The values that its node hands to a rank. */
export interface ChannelMemoryRankSetup {
  /** To each memory. */
  readonly channels: readonly SharedChannel[];
}

export function channelMemoryRank({ rank, part, words, say }: RankPartSetup): RankPart {
  const { channels } = part as ChannelMemoryRankSetup;
  const ends = channels.map((channel) => new ChannelThread(channel, bellOf(words), quietBellOf(words), true));
  const resources: ChannelMemoryResources = {
    ends,
    marked: (checkpoint) => say({ kind: "marked", checkpoint } satisfies MarkedWords),
  };
  return { resources, napper: napperOver(ends[memoryOf(rank, ends.length)]!, ends.length) };
}

/**
 * A rank that has nothing to do waits for its home, whatever it waits for: messages come from nowhere else. Other memories only
 * acknowledge, and are looked at when a nap of a millisecond is over.
 */
const napperOver = (home: ChannelThread, services: number): Napper => ({
  nap() {
    home.wait();
    return true;
  },
  takeWaiting: () => true,
  services,
  get isInBulk() {
    return home.isInBulk;
  },
});
