/**
 * A life begins with an image from the last moment in which some of its peers were of its own set (core/ft/set-split.ts). Inside a set messages are neither counted nor kept; from now on they are, and
 * so the channels with these peers begin as if they always had been: what the peer has is not kept, and messages that wait for a receive go into the payload log, from where the peer gets
 * their bytes as after any restart.
 */
import type { RecordId } from "../../base/brand.ts";
import {
  isWaiting,
  R_FLAGS,
  R_PEER,
  R_SEQUENCE,
  R_STATE,
  RecordFlag,
  RecordState,
  recordWords,
} from "../../request/records.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { SentInSet } from "../set-split.ts";
import type { Channel } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { SenderLog } from "./sender-log.ts";

interface PartingParts {
  readonly channels: Channels;
  readonly sends: SenderLog;
}

/** Peers are lost after that, as at the beginning of every life but the first: nothing leaves before they have said what they have. */
export function beginParted(rank: number, sent: readonly SentInSet[], ports: ProtocolPorts, parts: PartingParts): void {
  const { channels, sends } = parts;
  for (const { from, to, next, unsent, waiting } of sent) {
    if (from !== rank && to !== rank) continue;
    const channel = channels.with(from === rank ? to : from);
    // Of our set, still.
    if (channel === null) continue;
    // Nothing leaves now.
    channel.close(channel.incarnation);
    if (to === rank) channel.receivedBefore(next, unsent, waiting);
    else {
      channel.sentBefore((next - unsent.length) | 0, waiting.length);
      keepWaiting(channel, ports, sends);
    }
  }
}

function keepWaiting(channel: Channel, { records }: ProtocolPorts, sends: SenderLog): void {
  for (const send of waitingFor(channel.peer, records.words)) {
    const { words } = records;
    const at = send * recordWords;
    words[at + R_STATE] = RecordState.PENDING;
    words[at + R_FLAGS] = (words[at + R_FLAGS]! & ~RecordFlag.AWAITS_ANSWER) | RecordFlag.TAKEN;
    sends.post(send, channel);
  }
}

/** In the order of their numbers, in which they were posted. */
function waitingFor(peer: number, words: Int32Array): RecordId[] {
  const sends: RecordId[] = [];
  for (let at = 0; at < words.length; at += recordWords) {
    if (words[at + R_PEER] === peer && isWaiting(words, at)) sends.push((at / recordWords) as RecordId);
  }
  const numberOf = (send: RecordId): number => words[send * recordWords + R_SEQUENCE]!;
  return sends.sort((one, other) => (numberOf(one) - numberOf(other)) | 0);
}
