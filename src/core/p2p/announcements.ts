/**
 * Packets that are not about messages but about communicators: revocations, agreements and inquiries. The layer above hands them to the
 * outbox of the engine; those of other processes wait among the arrivals until the layer above takes them, whenever it makes progress.
 */
import { CONTEXT, controlWords, EXTRA, KIND, kindOf, SOURCE } from "../wire/packet.ts";

/** Words of the header that the sender of an announcement fills; more follow behind the header. */
export const headerWordsOwn = 4;

export interface Announcement {
  readonly kind: number;
  readonly source: number;
  readonly words: readonly number[];
}

/** More than peers can have to say: announcements beyond it are dropped. */
export const announcementsMax = 1 << 20;

export function announcementOf(words: Int32Array, packet: number): Announcement {
  const header = words.subarray(packet + CONTEXT, packet + CONTEXT + headerWordsOwn);
  const extra = words.subarray(packet + EXTRA, packet + controlWords);
  return { kind: kindOf(words[packet + KIND]!), source: words[packet + SOURCE]!, words: [...header, ...extra] };
}
