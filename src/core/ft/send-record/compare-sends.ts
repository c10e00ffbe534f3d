/**
 * Are the sends of two runs of a program the same? A program is send-deterministic if each rank sends, in every run, the same messages
 * in the same order (Lefray, Ropars and Schiper, 2013, definition 1).
 *
 * The program's own messages are compared in the order in which a rank sends them, to whomever: replicas that send large messages to
 * two ranks in different orders would wait for each other. Messages of collectives are compared by channel and number, because
 * a non-blocking collective goes on whenever its rank looks.
 *
 * Of several differences the first of the second run counts: others follow from it.
 */
import {
  entryWords,
  isOfProgram,
  L_BYTES,
  L_CONTEXT,
  L_DEST,
  L_HASH,
  L_SEQUENCE,
  L_TAG,
  type LoggedSend,
  type SendEntries,
  sendAt,
} from "./send-log.ts";

/** Where two runs part. */
export interface SendDifference {
  readonly rank: number;
  /** The program's sends are counted from 1; those of collectives of each channel, from 1. */
  readonly number: number;
  readonly isOfProgram: boolean;
  /** Null: the run has no such send. */
  readonly one: LoggedSend | null;
  readonly other: LoggedSend | null;
}

/** By rank. Null: they are the same, as far as both logs go. */
export function compareSends(one: readonly SendEntries[], other: readonly SendEntries[]): SendDifference | null {
  let first: SendDifference | null = null;
  for (const [rank, entries] of one.entries()) {
    for (const difference of [
      firstOfProgram(rank, entries, other[rank]!),
      firstOfCollectives(rank, entries, other[rank]!),
    ]) {
      if (difference !== null && (first === null || orderOf(difference) < orderOf(first))) first = difference;
    }
  }
  return first;
}

const orderOf = ({ other }: SendDifference): number => other?.order ?? Number.POSITIVE_INFINITY;

/** The words that must be the same. Numbers of a channel are: they count messages of collectives too. */
const compared = [L_DEST, L_SEQUENCE, L_CONTEXT, L_TAG, L_BYTES, L_HASH];

function isSame(one: Int32Array, oneAt: number, other: Int32Array, otherAt: number): boolean {
  for (const word of compared) if (one[oneAt + word] !== other[otherAt + word]) return false;
  return true;
}

/** The index of the next entry of the program, or of the end. */
function nextOfProgram(words: Int32Array, from: number): number {
  let index = from;
  while (index * entryWords < words.length && !isOfProgram(words[index * entryWords + L_CONTEXT]!)) index++;
  return index;
}

function firstOfProgram(rank: number, one: SendEntries, other: SendEntries): SendDifference | null {
  let oneAt = nextOfProgram(one.words, 0);
  let otherAt = nextOfProgram(other.words, 0);
  for (let number = 1; ; number++) {
    const oneEnds = oneAt * entryWords >= one.words.length;
    const otherEnds = otherAt * entryWords >= other.words.length;
    // A log that was full ends before its run: nothing is known of what follows.
    if ((oneEnds && (otherEnds || isCut(one))) || (otherEnds && isCut(other))) return null;
    if (oneEnds || otherEnds || !isSame(one.words, oneAt * entryWords, other.words, otherAt * entryWords)) {
      return {
        rank,
        number,
        isOfProgram: true,
        one: oneEnds ? null : sendAt(one.words, oneAt),
        other: otherEnds ? null : sendAt(other.words, otherAt),
      };
    }
    oneAt = nextOfProgram(one.words, oneAt + 1);
    otherAt = nextOfProgram(other.words, otherAt + 1);
  }
}

const isCut = ({ words, count }: SendEntries): boolean => count * entryWords > words.length;

const keyOf = (words: Int32Array, at: number): number =>
  words[at + L_DEST]! * 2 ** 32 + (words[at + L_SEQUENCE]! >>> 0);

function firstOfCollectives(rank: number, one: SendEntries, other: SendEntries): SendDifference | null {
  const places = new Map<number, number>();
  for (let at = 0; at < one.words.length; at += entryWords) {
    if (!isOfProgram(one.words[at + L_CONTEXT]!)) places.set(keyOf(one.words, at), at);
  }
  for (let at = 0; at < other.words.length; at += entryWords) {
    if (isOfProgram(other.words[at + L_CONTEXT]!)) continue;
    const key = keyOf(other.words, at);
    const place = places.get(key);
    places.delete(key);
    if (place === undefined ? isCut(one) : isSame(one.words, place, other.words, at)) continue;
    const before = place === undefined ? null : sendAt(one.words, place / entryWords);
    const after = sendAt(other.words, at / entryWords);
    return { rank, number: (after.sequence >>> 0) + 1, isOfProgram: false, one: before, other: after };
  }
  const [left] = places.values();
  if (left === undefined || isCut(other)) return null;
  const missing = sendAt(one.words, left / entryWords);
  return { rank, number: (missing.sequence >>> 0) + 1, isOfProgram: false, one: missing, other: null };
}

/** What is different, in a few words. */
export function whatDiffers({ one, other }: Pick<SendDifference, "one" | "other">): string {
  if (one === null || other === null) return "one run ends without it";
  const parts: string[] = [];
  if (one.dest !== other.dest) parts.push("another destination");
  if (one.context !== other.context) parts.push("another communicator");
  if (one.tag !== other.tag) parts.push("another tag");
  if (one.bytes !== other.bytes) parts.push("another length");
  else if (one.hash !== other.hash) parts.push("other bytes");
  return parts.length === 0 ? "another place among the messages of its channel" : parts.join(", ");
}
