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
  const home = ends[memoryOf(rank, ends.length)]!;
  const others = ends.filter((end) => end !== home);
  return { resources, napper: napperOver(home, others) };
}

/**
 * A rank that has nothing to do waits for its home, whatever it waits for: messages come from nowhere else, other memories only acknowledge. After a nap that
 * brought nothing it sleeps over the connections to all of them, until one of them or the main thread has something for it: one that looked once in a
 * millisecond would take its core from those who compute (ADR 74).
 */
const napperOver = (home: ChannelThread, others: readonly ChannelThread[]): Napper => ({
  nap() {
    home.wait();
    return true;
  },
  takeWaiting: () => true,
  get canSleep() {
    return home.canSleepOver(others);
  },
  sleep: (timeoutMs) => home.sleep(timeoutMs),
  services: others.length + 1,
  get isInBulk() {
    return home.isInBulk;
  },
});
