/** Packets made by hand, for tests of what an engine makes of those that are wrong. */
import type { ByHand } from "../../../sim/testing/scripted-world.ts";
import { BYTES, CONTEXT, controlWords, EXTRA, KIND, SEQUENCE, TAG } from "../../wire/packet.ts";

export interface MadePacket {
  readonly from: number;
  readonly to: number;
  readonly kind: number;
  /** The words of the header, by their names in a message. */
  readonly context?: number;
  readonly tag?: number;
  readonly bytes?: number;
  readonly sequence?: number;
  /** Words behind the header. Not together with a payload, which lies there. */
  readonly extra?: readonly number[];
  /** Size of the payload, whatever `bytes` says. */
  readonly payloadBytes?: number;
}

/** Sends a packet past the engine of its sender; false when the channel is full. */
export function inject(hand: ByHand, made: MadePacket): boolean {
  const { from, to, payloadBytes = 0, extra = [] } = made;
  const { transport } = hand.world.processes[from]!;
  const packet = transport.reserve(to, payloadBytes);
  if (packet < 0) return false;
  const { words } = transport;
  if (payloadBytes === 0) words.fill(0, packet + EXTRA, packet + controlWords);
  words[packet + KIND] = made.kind;
  words[packet + CONTEXT] = made.context ?? 0;
  words[packet + TAG] = made.tag ?? 0;
  words[packet + BYTES] = made.bytes ?? 0;
  words[packet + SEQUENCE] = made.sequence ?? 0;
  extra.forEach((word, index) => {
    words[packet + EXTRA + index] = word;
  });
  transport.commit(to);
  return true;
}
