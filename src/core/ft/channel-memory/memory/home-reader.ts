/**
 * What a home has, in memory or not: entries and events by their numbers, as lives are told them one after the other, and messages by their
 * senders, as a life wants them. Nothing is read of what is in memory.
 */
import { assert } from "../../../base/assert.ts";
import { BlockWindow } from "./block-window.ts";
import type { FindMessage, Home } from "./home.ts";
import type { HomeEntry, HomeEvent, HomeMessage } from "./home-items.ts";
import { entryIn, eventIn, HomeRecord, placeOfRecord, postFacts, recordFacts } from "./home-records.ts";
import type { SegmentStore } from "./segment-store.ts";
import type { Block } from "./stored-order.ts";

export class HomeReader implements FindMessage {
  readonly #store: SegmentStore;
  readonly #window = new BlockWindow();
  /** How often something was found that is not in memory. */
  found = 0;

  constructor(store: SegmentStore) {
    this.#store = store;
  }

  /** An entry that is needed. `window`: for those that are not in memory. Valid until the next one is asked for. */
  entryAt(home: Home, number: number, window: BlockWindow): HomeEntry {
    const entry = home.entries.at(number);
    if (entry !== undefined) {
      window.clear();
      return entry;
    }
    const found = this.#find(home.entries.blockOf(number), window, (record, at, { segment }) => {
      const isWanted = isOf(home, record, HomeRecord.POST) || isOf(home, record, HomeRecord.TAKEN);
      return isWanted && record[2] === number ? entryAgain(home, segment, record, at) : undefined;
    });
    assert(found !== undefined, `entry ${number} is wanted, and ${home.entries.begin} to ${home.entries.end} are here`);
    return found;
  }

  /** An event that is needed. As for `entryAt`. */
  eventAt(home: Home, number: number, window: BlockWindow): HomeEvent {
    const event = home.events.at(number);
    if (event !== undefined) {
      window.clear();
      return event;
    }
    const found = this.#find(home.events.blockOf(number), window, (record, at, { segment }) =>
      isOf(home, record, HomeRecord.EVENT) && record[2] === number
        ? eventIn(record, placeOfRecord(segment, record, at))
        : undefined,
    );
    assert(found !== undefined, `event ${number} is wanted, and ${home.events.begin} to ${home.events.end} are here`);
    return found;
  }

  /** The message with that number of that sender; undefined: it is not here, or not needed any more. */
  messageOf(home: Home, source: number, sequence: number, window = this.#window): HomeMessage | undefined {
    const known = home.messages.get(source, sequence);
    if (known !== undefined || !home.has(source, sequence)) return known;
    for (const block of home.blocksOf("message", source, sequence)) {
      const message = this.#find(block, window, (record, at, { segment }) =>
        isOf(home, record, HomeRecord.POST) && isAbout(home, record, source, sequence)
          ? entryIn(record, placeOfRecord(segment, record, at))
          : undefined,
      );
      if (message?.kind !== "message") continue;
      home.complete(message);
      return message;
    }
    return undefined;
  }

  /** Has that receiver said, and may a life of the sender still have to hear, that it has taken that message? */
  isTaken(home: Home, receiver: number, sequence: number): boolean {
    const isTaken = home.isTaken(receiver, sequence);
    if (isTaken !== undefined) return isTaken;
    for (const block of home.blocksOf("taken", receiver, sequence)) {
      const found = this.#find(
        block,
        this.#window,
        (record) => (isOf(home, record, HomeRecord.TAKEN) && isAbout(home, record, receiver, sequence)) || undefined,
      );
      if (found === true) return true;
    }
    return false;
  }

  #find<Found>(
    block: Block | undefined,
    window: BlockWindow,
    take: (record: Int32Array, at: number, block: Block) => Found | null | undefined,
  ): Found | undefined {
    if (block === undefined) return undefined;
    const found = window.find(block, this.#store, (record, at) => take(record, at, block) ?? undefined);
    if (found !== undefined) this.found++;
    return found;
  }
}

/** With the bytes that stand in the same record. */
function entryAgain(home: Home, segment: number, record: Int32Array, at: number): HomeEntry | null {
  const entry = entryIn(record, placeOfRecord(segment, record, at));
  if (entry?.kind !== "message") return entry;
  const known = home.messages.get(entry.facts.source, entry.facts.sequence);
  if (known !== undefined) return known;
  const [piece] = entry.pieces;
  if (piece !== undefined) piece.words = record.subarray(recordFacts + postFacts);
  home.complete(entry);
  return entry;
}

const isOf = ({ receiver }: Home, record: Int32Array, kind: number): boolean =>
  record[0] === kind && record[1] === receiver;

/** Is that entry, if it is needed, about the message with that number of that rank? */
const isAbout = ({ entries }: Home, record: Int32Array, rank: number, sequence: number): boolean =>
  record[2]! >= entries.begin && record[recordFacts] === rank && record[recordFacts + 1] === sequence;
