/**
 * Packets that are not about messages but about communicators: revocations, agreements and inquiries. The engine keeps them for the layer
 * above, which takes them whenever it makes progress.
 */
import { CONTEXT, controlWords, EXTRA, KIND, kindOf, SOURCE } from "../wire/packet.ts";

/** Words of a packet that are its sender's own: four of the header and up to eight further ones. */
const ownWords = 4;

export interface News {
  readonly kind: number;
  readonly source: number;
  readonly words: readonly number[];
}

/** More than peers can have to say: one that floods us is not believed. */
export const newsMax = 1 << 20;

export function newsOf(words: Int32Array, packet: number): News {
  const header = words.subarray(packet + CONTEXT, packet + CONTEXT + ownWords);
  const extra = words.subarray(packet + EXTRA, packet + controlWords);
  return { kind: kindOf(words[packet + KIND]!), source: words[packet + SOURCE]!, words: [...header, ...extra] };
}
