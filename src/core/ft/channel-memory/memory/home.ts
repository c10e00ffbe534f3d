/**
 * The home of one receiver in a channel memory: all that a later life of it needs. Messages to it, in the order in which all of its lives
 * get them; what its lives have chosen, in their order; which messages of each sender are here; what its checkpoints have.
 *
 * Of both orders the newest part is in memory, and all is in the store (stored-order.ts). State only: no word of a channel, no record of a
 * store. `channel-memory.ts` has the former, `stored-homes.ts` the latter.
 */
import { ReceivedNumbers } from "../../received-numbers.ts";
import { keyOfMessage } from "../frames.ts";
import type { HomeEntry, HomeEvent, HomeMessage, MessagePiece, Taken } from "./home-items.ts";
import { MessagesBySender } from "./messages-by-sender.ts";
import { type Block, StoredOrder, type Weight } from "./stored-order.ts";

/** What the image of a checkpoint has. */
export interface Mark {
  /** Entries and events before these numbers. */
  readonly entries: number;
  readonly events: number;
  /** Senders and numbers, in turn, of messages among those of which the image has no bytes. */
  readonly incomplete: readonly number[];
}

/** The message with that number of that sender, in memory or not. */
export interface FindMessage {
  messageOf(home: Home, source: number, sequence: number): HomeMessage | undefined;
}

/** Of what a home has in memory: so much leaves at a time, not to hold up others. */
const shareOfPass = 1 / 8;

const nothing = (): void => {};

export class Home {
  readonly receiver: number;
  readonly entries: StoredOrder<HomeEntry>;
  readonly events: StoredOrder<HomeEvent>;
  /**
   * Messages that are in memory: the newest of the order, those that are still coming, and some from before the order's beginning, of which an
   * image has no bytes.
   */
  readonly messages = new MessagesBySender();
  /** Of messages that are not in memory and came in several pieces, by entry: bytes, segment and index of each piece, in turn. */
  readonly #spread = new Map<number, readonly number[]>();
  /** By sender: the numbers of messages that have come whole, ever. */
  readonly received = new Map<number, ReceivedNumbers>();
  readonly marks = new Map<number, Mark>();
  /** Of the entries in memory that say that a message was taken, by `keyOfMessage`; and the last number of each receiver, ever. */
  readonly #takenKeys = new Set<number>();
  readonly #takenLast = new Map<number, number>();
  /** Behind the last message that lacks bytes which were freed. */
  #lackedEnd = 0;
  readonly #weight: Weight;
  readonly #left: (message: HomeMessage) => void;
  readonly #passed = (entry: HomeEntry, block: Block): void => this.#entryPassed(entry, block);
  /** Where a block was found last: the next one is near. */
  #blockFound = 0;

  /** `left`: a message is not in memory any more, nor need its bytes be. */
  constructor(receiver: number, weight: Weight, left: (message: HomeMessage) => void) {
    this.receiver = receiver;
    this.#weight = weight;
    this.#left = left;
    this.entries = new StoredOrder(weight);
    this.events = new StoredOrder(weight);
  }

  /** Has that message come whole, in whichever life of its sender? */
  has(source: number, sequence: number): boolean {
    return this.received.get(source)?.has(sequence) === true;
  }

  /** A message begins to come: it has its place in the order from now on. */
  addMessage(message: HomeMessage): void {
    this.entries.add(message, this.#passed);
    this.messages.add(message);
    if (message.isWhole) this.receivedOf(message.facts.source).add(message.facts.sequence);
  }

  addPiece(message: HomeMessage, piece: MessagePiece): void {
    const { weight } = message;
    message.add(piece);
    if (this.entries.isInMemory(message.number)) this.#weight.sum += message.weight - weight;
    if (message.isWhole) this.receivedOf(message.facts.source).add(message.facts.sequence);
  }

  addTaken(taken: Taken): void {
    const { source, sequence } = taken;
    this.entries.add(taken, this.#passed);
    this.#takenKeys.add(keyOfMessage(source, sequence));
    const last = this.#takenLast.get(source) ?? sequence;
    this.#takenLast.set(source, ((sequence - last) | 0) > 0 ? sequence : last);
  }

  /**
   * Has that receiver said, and may a life of the sender still have to hear, that it has taken that message? Undefined: if so, an entry says it that
   * is not in memory. That is rare: a receiver mostly takes messages that it has not taken before in the order of their numbers.
   */
  isTaken(receiver: number, sequence: number): boolean | undefined {
    const last = this.#takenLast.get(receiver);
    if (last === undefined || ((sequence - last) | 0) > 0) return false;
    return this.#takenKeys.has(keyOfMessage(receiver, sequence)) ? true : undefined;
  }

  addEvent(event: HomeEvent): void {
    this.events.add(event, nothing);
  }

  /** Entries, or events, that are in memory: the larger number. */
  get inMemory(): number {
    return Math.max(this.entries.inMemory, this.events.inMemory);
  }

  /** Bytes of a message are missing between others, in a store that is being read: it is one that is freed later. */
  lack(message: HomeMessage): void {
    this.#lackedEnd = Math.max(this.#lackedEnd, message.number + 1);
    this.messages.delete(message);
  }

  /** Is every entry and every event here, from the first on? */
  get isWhole(): boolean {
    return this.entries.isWhole && this.events.isWhole && this.#lackedEnd <= this.entries.begin;
  }

  receivedOf(source: number): ReceivedNumbers {
    let numbers = this.received.get(source);
    if (numbers === undefined) {
      numbers = new ReceivedNumbers();
      this.received.set(source, numbers);
    }
    return numbers;
  }

  // Out of memory

  /** Some of the oldest of the larger order leave the memory. They are in the store. */
  passSome(): void {
    const count = Math.ceil(this.inMemory * shareOfPass);
    if (this.events.inMemory > this.entries.inMemory) this.events.pass(count, nothing);
    else this.entries.pass(count, this.#passed);
  }

  #entryPassed(entry: HomeEntry, { senders }: Block): void {
    const { source, sequence } = entry.kind === "taken" ? entry : entry.facts;
    const group = groupOf(entry.kind, source);
    const at = placeOf(senders, group);
    if (at < 0) senders.push(group, sequence, sequence);
    else if (((sequence - senders[at + 1]!) | 0) < 0) senders[at + 1] = sequence;
    else if (((sequence - senders[at + 2]!) | 0) > 0) senders[at + 2] = sequence;
    if (entry.kind === "taken") this.#takenKeys.delete(keyOfMessage(source, sequence));
    else if (entry.isWhole) this.#leave(entry);
  }

  /** A message has become whole, and all its bytes are in the store: if those around it have left the memory, it follows them. */
  follow(message: HomeMessage): void {
    const { number } = message;
    if (number >= this.entries.begin && !this.entries.isInMemory(number)) this.#leave(message);
  }

  #leave(message: HomeMessage): void {
    this.messages.delete(message);
    const last = message.pieces.at(-1);
    if (last !== undefined && (last.segment !== message.segment || last.at >= message.end)) {
      const pieces = message.pieces.flatMap(({ bytes, segment, at }) => [bytes, segment, at]);
      this.#spread.set(message.number, pieces);
    }
    this.#left(message);
  }

  /** Blocks that may have an entry of that kind about the message with that number of that rank. */
  *blocksOf(kind: HomeEntry["kind"], source: number, sequence: number): Generator<Block> {
    const { blocks } = this.entries;
    const group = groupOf(kind, source);
    const begin = this.#blockFound;
    for (let i = 0; i < blocks.length; i++) {
      const place = (begin + i) % blocks.length;
      const block = blocks[place]!;
      const at = placeOf(block.senders, group);
      if (at < 0 || ((sequence - block.senders[at + 1]!) | 0) < 0 || ((block.senders[at + 2]! - sequence) | 0) < 0)
        continue;
      this.#blockFound = place;
      yield block;
    }
  }

  /** A message that has been read again, with its first bytes, gets the others. */
  complete(message: HomeMessage): void {
    const spread = this.#spread.get(message.number) ?? [];
    for (let i = 3 * message.pieces.length; i + 2 < spread.length; i += 3) {
      const [bytes, segment, at] = [spread[i]!, spread[i + 1]!, spread[i + 2]!];
      message.add({ offset: message.arrived, bytes, segment, at, words: null });
    }
  }

  // Freeing

  /** No image with a lower number than that checkpoint's will be restored. False: it left no mark, and frees nothing. */
  free(checkpoint: number, find: FindMessage): boolean {
    const mark = this.marks.get(checkpoint);
    if (mark === undefined) return false;
    for (const number of this.marks.keys()) if (number < checkpoint) this.marks.delete(number);
    this.freeBefore(mark, find);
    return true;
  }

  /**
   * Entries and events before these numbers are not needed any more, but for messages that an image has without all bytes: `find` has those of them
   * that are not in memory.
   */
  freeBefore({ entries, events, incomplete }: Mark, find: FindMessage): void {
    const kept = new Set<number>();
    for (let i = 0; i + 1 < incomplete.length; i += 2) {
      const [source, sequence] = [incomplete[i]!, incomplete[i + 1]!];
      const key = keyOfMessage(source, sequence);
      kept.add(key);
      if (this.messages.get(source, sequence) !== undefined) continue;
      const message = find.messageOf(this, source, sequence);
      if (message !== undefined && message.number < entries) this.messages.add(message);
    }
    for (const entry of this.entries.freeBefore(entries)) {
      if (entry.kind === "taken") this.#takenKeys.delete(keyOfMessage(entry.source, entry.sequence));
    }
    for (const number of this.#spread.keys()) if (number < this.entries.begin) this.#spread.delete(number);
    this.events.freeBefore(events);
    for (const message of this.early) {
      if (kept.has(message.key)) continue;
      this.messages.delete(message);
      this.#left(message);
    }
  }

  /** Messages that are here though the order begins behind them. */
  get early(): HomeMessage[] {
    return [...this.messages].filter(({ number }) => number < this.entries.begin);
  }
}

/** A block tells so many groups of ranks apart, however many there are. */
const groups = 16;
const groupOf = (kind: HomeEntry["kind"], rank: number): number => (rank % groups) + (kind === "taken" ? groups : 0);

/** Where the three numbers of a group begin; −1: it has none. */
function placeOf(senders: readonly number[], group: number): number {
  for (let at = 0; at < senders.length; at += 3) if (senders[at] === group) return at;
  return -1;
}
