/**
 * The records of a channel memory (core/service-channel/service-store.ts has their frames): three words, kind, whose and which, and others. What
 * is made of them is the same in a process that reads all of a store and in one that reads a block of it.
 */
import { recordHeadWords } from "../../../service-channel/service-store.ts";
import { wordsFor } from "../frames.ts";
import { eventOf, type HomeEntry, type HomeEvent, HomeMessage, type RecordPlace, takenOf } from "./home-items.ts";

/** Kinds of records, each with the words behind. */
export const HomeRecord = {
  /** format */
  BEGIN: 0,
  /** client · incarnation: the newest life that was heard */
  LIFE: 1,
  /** receiver · entry · source · number · context · tag · bytes · is synchronous · how many of its bytes are here; then these */
  POST: 2,
  /** receiver · source · number · offset · how many bytes; then these */
  MORE: 3,
  /** receiver · entry · rank that took · number */
  TAKEN: 4,
  /** receiver · number · words */
  EVENT: 5,
  /** receiver · checkpoint · entries · events · senders and numbers of messages without all bytes */
  MARK: 6,
  /** receiver · checkpoint */
  FREE: 7,
  /** receiver · first entry · first event · senders and numbers of messages before it that are needed. There are no marks but those that follow. */
  HOME: 8,
  /** receiver · source · first missing · others */
  RECEIVED: 9,
} as const;

/** Words of a record before what belongs to its kind. */
export const recordFacts = 3;
/** Of POST and of MORE: words before the bytes. */
export const postFacts = 7;
export const moreFacts = 3;

/** The place of a record whose first word is at that index. */
export const placeOfRecord = (segment: number, record: Int32Array, at: number): RecordPlace => ({
  segment,
  at: at - recordHeadWords,
  end: at + record.length,
});

/** An entry as its record tells it, which stands there; null: this is no such record. Bytes of a message are not in memory. */
export function entryIn(record: Int32Array, place: RecordPlace): HomeEntry | null {
  const [kind, , number] = record as unknown as readonly [number, number, number];
  const facts = record.subarray(recordFacts);
  if (kind === HomeRecord.TAKEN) return facts.length === 2 ? takenOf(number, facts[0]!, facts[1]!, place) : null;
  return kind === HomeRecord.POST ? messageIn(number, facts, place) : null;
}

function messageIn(number: number, words: Int32Array, place: RecordPlace): HomeMessage | null {
  const [source, sequence, context, tag, bytes, isSynchronous, count] = words as unknown as readonly number[];
  if (count === undefined || words.length !== postFacts + wordsFor(count)) return null;
  const facts = {
    source: source!,
    sequence: sequence!,
    context: context!,
    tag: tag!,
    bytes: bytes!,
    isSynchronous: isSynchronous === 1,
  };
  const message = new HomeMessage(number, facts, place);
  const at = place.at + recordHeadWords + recordFacts + postFacts;
  if (count > 0) message.add({ offset: 0, bytes: count, segment: place.segment, at, words: null });
  return message;
}

/** An event as its record tells it. The words are the record's. */
export const eventIn = (record: Int32Array, place: RecordPlace): HomeEvent =>
  eventOf(record[2]!, record.subarray(recordFacts), place);
