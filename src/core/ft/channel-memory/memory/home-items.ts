/**
 * What a home keeps (home.ts): messages to its receiver, answers to synchronous sends of it, its events. Each has its number in its order, and its
 * record in the store.
 */
import { assert } from "../../../base/assert.ts";
import { keyOfMessage } from "../frames.ts";
import type { StoredItem } from "./stored-order.ts";

/** Where a record stands: its segment, the first word of its frame, and the one behind its last. */
export type RecordPlace = Pick<StoredItem, "segment" | "at" | "end">;

/** Bytes of a message: in memory, or to be read again where they were written. */
export interface MessagePiece {
  readonly offset: number;
  readonly bytes: number;
  readonly segment: number;
  /** Index of their first word in the segment. */
  readonly at: number;
  /** Null: only the store has them. */
  words: Int32Array | null;
}

export interface Facts {
  readonly source: number;
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  readonly isSynchronous: boolean;
}

/** A message of which the envelope is here, and its bytes up to some place. */
export class HomeMessage implements StoredItem {
  readonly kind = "message";
  readonly number: number;
  readonly facts: Facts;
  arrived = 0;
  readonly pieces: MessagePiece[] = [];
  /** Of the record with its envelope. */
  readonly segment: number;
  readonly at: number;
  readonly end: number;

  constructor(number: number, facts: Facts, { segment, at, end }: RecordPlace) {
    this.number = number;
    this.facts = facts;
    this.segment = segment;
    this.at = at;
    this.end = end;
  }

  get key(): number {
    return keyOfMessage(this.facts.source, this.facts.sequence);
  }

  get isWhole(): boolean {
    return this.arrived === this.facts.bytes;
  }

  /** As many as its pieces, the first of which comes with it. */
  get weight(): number {
    return Math.max(1, this.pieces.length);
  }

  add(piece: MessagePiece): void {
    assert(piece.offset === this.arrived, "pieces of a message come in order");
    this.pieces.push(piece);
    this.arrived += piece.bytes;
  }
}

/** A synchronous message that the owner of this home has sent was taken by its receiver. */
export interface Taken extends StoredItem {
  readonly kind: "taken";
  /** The rank that took it, and its number. */
  readonly source: number;
  readonly sequence: number;
}

/** Something that the receiver is told, in the order of the numbers. */
export type HomeEntry = HomeMessage | Taken;

/** A determinant of the receiver. */
export interface HomeEvent extends StoredItem {
  readonly words: Int32Array;
}

/** An event of so many words takes the memory of another small thing. */
const wordsOfWeight = 32;

export const takenOf = (number: number, source: number, sequence: number, place: RecordPlace): Taken => ({
  kind: "taken",
  number,
  source,
  sequence,
  ...place,
  weight: 1,
});

export const eventOf = (number: number, words: Int32Array, place: RecordPlace): HomeEvent => ({
  number,
  words,
  ...place,
  weight: 1 + Math.floor(words.length / wordsOfWeight),
});
