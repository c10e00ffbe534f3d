/** Message logging in a rank's thread: the stream of determinants of its set, and a file for payloads that have no room in memory. */
import type { LoggingResources } from "../../core/ft/logging/definition.ts";
import type { LogFullWords } from "../../core/ft/logging/logging-job.ts";
import { bellOf, quietBellOf } from "../messages/node-words.ts";
import type { RankPart, RankPartSetup } from "../part-hosts/rank-part.ts";
import type { SharedChannel } from "../service-channel/channel-ring.ts";
import { DeterminantWriter } from "./determinant-writer.ts";
import { SpillFile } from "./spill-file.ts";

/** The values that its node hands to a rank. */
export interface LoggingRankSetup {
  /** The stream of determinants of its set. */
  readonly stream: SharedChannel;
  /** How much of the payload log may be in memory, and where the rest goes. */
  readonly logBytesMax: number;
  readonly spillFolder: string;
}

export function loggingRank({ rank, incarnation, part, words, say }: RankPartSetup): RankPart {
  const { stream: channel, logBytesMax, spillFolder } = part as LoggingRankSetup;
  const stream = new DeterminantWriter(channel, bellOf(words), quietBellOf(words));
  const resources: LoggingResources = {
    stream,
    payloads: {
      bytesMax: logBytesMax,
      spill: new SpillFile({ folder: spillFolder, rank, incarnation }),
      full: (sets) => say({ kind: "log-full", sets } satisfies LogFullWords),
    },
  };
  return { resources, napper: stream, rehearse: () => stream.urge(), recorder: stream.recorderOf(rank) };
}
