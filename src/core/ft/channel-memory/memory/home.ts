/**
 * The home of one receiver in a channel memory: all that a later life of it needs. Messages to it, in the order in which all of its lives
 * get them; what its lives have chosen, in their order; which messages of each sender are here; what its checkpoints have.
 *
 * State only: no word of a channel, no record of a store. `channel-memory.ts` has the former, `stored-homes.ts` the latter.
 */
import { assert } from "../../../base/assert.ts";
import { ReceivedNumbers } from "../../received-numbers.ts";
import { keyOfMessage } from "../frames.ts";

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
export class HomeMessage {
  readonly kind = "message";
  readonly number: number;
  readonly facts: Facts;
  arrived = 0;
  readonly pieces: MessagePiece[] = [];
  /** The segment that has its envelope. */
  readonly segment: number;

  constructor(number: number, facts: Facts, segment: number) {
    this.number = number;
    this.facts = facts;
    this.segment = segment;
  }

  get isWhole(): boolean {
    return this.arrived === this.facts.bytes;
  }
}

/** A synchronous message that the owner of this home has sent was taken by its receiver. */
interface Taken {
  readonly kind: "taken";
  readonly number: number;
  /** The rank that took it, and its number. */
  readonly source: number;
  readonly sequence: number;
  readonly segment: number;
}

/** Something that the receiver is told, in the order of the numbers. */
export type HomeEntry = HomeMessage | Taken;

/** A determinant of the receiver. */
export interface HomeEvent {
  readonly words: Int32Array;
  readonly segment: number;
}

/** Something that was written, and that no life will ask for again. */
type Freed = HomeMessage | Taken | HomeEvent;

/** What the image of a checkpoint has. */
export interface Mark {
  /** Entries and events before these numbers. */
  readonly entries: number;
  readonly events: number;
  /** Senders and numbers, in turn, of messages among those of which the image has no bytes. */
  readonly incomplete: readonly number[];
}

export class Home {
  /** The number of the first entry that is here in its order; then all entries. */
  entriesBegin = 0;
  readonly entries: HomeEntry[] = [];
  eventsBegin = 0;
  readonly events: HomeEvent[] = [];
  /** Messages that are here, by `keyOfMessage`; also some from before `entriesBegin`, of which an image has no bytes. */
  readonly messages = new Map<number, HomeMessage>();
  /** By sender: the numbers of messages that have come whole, ever. */
  readonly received = new Map<number, ReceivedNumbers>();
  readonly marks = new Map<number, Mark>();
  /** Of the entries that say that a message was taken, by `keyOfMessage`. */
  private readonly takenKeys = new Set<number>();

  get entriesEnd(): number {
    return this.entriesBegin + this.entries.length;
  }

  get eventsEnd(): number {
    return this.eventsBegin + this.events.length;
  }

  /** Has that message come whole, in whichever life of its sender? */
  has(source: number, sequence: number): boolean {
    return this.received.get(source)?.has(sequence) === true;
  }

  entry(number: number): HomeEntry {
    const entry = this.entries[number - this.entriesBegin];
    assert(entry !== undefined, `entry ${number} is wanted, and ${this.entriesBegin} to ${this.entriesEnd} are here`);
    return entry;
  }

  /** A message begins to come: it has its place in the order from now on. (Of a store that is being read some numbers may be freed later.) */
  addMessage(facts: Facts, segment: number, number = this.entriesEnd): HomeMessage {
    const message = new HomeMessage(number, facts, segment);
    this.entries[number - this.entriesBegin] = message;
    this.messages.set(keyOfMessage(facts.source, facts.sequence), message);
    if (message.isWhole) this.receivedOf(facts.source).add(facts.sequence);
    return message;
  }

  addPiece(message: HomeMessage, piece: MessagePiece): void {
    assert(piece.offset === message.arrived, "pieces of a message come in order");
    message.pieces.push(piece);
    message.arrived += piece.bytes;
    if (message.isWhole) this.receivedOf(message.facts.source).add(message.facts.sequence);
  }

  addTaken(taken: Omit<Taken, "kind" | "number">, number = this.entriesEnd): Taken {
    const entry: Taken = { kind: "taken", number, ...taken };
    this.entries[number - this.entriesBegin] = entry;
    this.takenKeys.add(keyOfMessage(taken.source, taken.sequence));
    return entry;
  }

  /** Has that receiver said, and may a life of the sender still have to hear, that it has taken that message? */
  isTaken(receiver: number, sequence: number): boolean {
    return this.takenKeys.has(keyOfMessage(receiver, sequence));
  }

  addEvent(event: HomeEvent, number = this.eventsEnd): void {
    this.events[number - this.eventsBegin] = event;
  }

  /** Is every entry and every event here, from the first on? */
  get isWhole(): boolean {
    const isThere = (it: unknown): boolean => it !== undefined;
    // Array.every passes over places that were never filled.
    return Array.from(this.entries).every(isThere) && Array.from(this.events).every(isThere);
  }

  receivedOf(source: number): ReceivedNumbers {
    let numbers = this.received.get(source);
    if (numbers === undefined) {
      numbers = new ReceivedNumbers();
      this.received.set(source, numbers);
    }
    return numbers;
  }

  /**
   * No image with a lower number than that checkpoint's will be restored. Returns the entries and events that no life will ask for again.
   * A checkpoint that left no mark frees nothing.
   */
  free(checkpoint: number): Freed[] {
    const mark = this.marks.get(checkpoint);
    if (mark === undefined) return [];
    for (const number of this.marks.keys()) if (number < checkpoint) this.marks.delete(number);
    return this.freeBefore(mark.entries, mark.events, mark.incomplete);
  }

  /** Entries and events before these numbers are not needed any more, but for messages that an image has without all bytes. */
  freeBefore(entries: number, events: number, incomplete: readonly number[]): Freed[] {
    const kept = new Set<number>();
    for (let i = 0; i + 1 < incomplete.length; i += 2) kept.add(keyOfMessage(incomplete[i]!, incomplete[i + 1]!));
    const gone: Freed[] = [];
    for (const entry of this.entries.splice(0, Math.max(0, entries - this.entriesBegin))) {
      if (entry?.kind !== "taken") continue;
      this.takenKeys.delete(keyOfMessage(entry.source, entry.sequence));
      gone.push(entry);
    }
    this.entriesBegin = Math.max(this.entriesBegin, entries);
    for (const [key, message] of this.messages) {
      if (message.number >= this.entriesBegin || kept.has(key)) continue;
      this.messages.delete(key);
      gone.push(message);
    }
    for (const event of this.events.splice(0, Math.max(0, events - this.eventsBegin))) {
      if (event !== undefined) gone.push(event);
    }
    this.eventsBegin = Math.max(this.eventsBegin, events);
    return gone;
  }
}
