/**
 * What a channel memory says to one life of a rank: first which of its messages are here; when the life has said how far it has come,
 * the determinants of earlier lives, then the messages to it in their order, and bytes of those that it wants, as there is room.
 */
import { FrameWriter, FromMemory, noEntry } from "../frames.ts";
import type { MemoryLimits } from "../limits.ts";
import { BlockWindow } from "./block-window.ts";
import type { Home } from "./home.ts";
import type { HomeEntry, HomeMessage } from "./home-items.ts";
import type { StoredHomes } from "./stored-homes.ts";

/** A message whose bytes are wanted from an offset on. */
interface Want {
  readonly message: HomeMessage;
  readonly ticket: number;
  offset: number;
}

export class Delivery {
  readonly #homes: StoredHomes;
  readonly #home: Home;
  readonly #limits: MemoryLimits;
  readonly #writer: FrameWriter;
  readonly #greeting: (readonly number[])[];
  #hasResumed = false;
  #entry = 0;
  #event = 0;
  /** Events before this one are of earlier lives. */
  #eventsEnd = 0;
  #hasSaidEnd = false;
  /** Senders and numbers, in turn, of messages that are announced once more. */
  #again: readonly number[] = [];
  #againSaid = 0;
  /** In turn. */
  #wants: Want[] = [];
  #isTurnOfWants = false;
  /** For a piece that is not in memory. */
  #stage: Int32Array | null = null;
  /** What the order has that is not in memory, and messages that are wanted or announced once more. */
  readonly #ahead = new BlockWindow();
  readonly #looks = new BlockWindow();

  /** `greeting`: frames of HELD, without the head. */
  constructor(
    { homes, home, limits }: { readonly homes: StoredHomes; readonly home: Home; readonly limits: MemoryLimits },
    end: ConstructorParameters<typeof FrameWriter>[0],
    greeting: (readonly number[])[],
  ) {
    this.#homes = homes;
    this.#home = home;
    this.#limits = limits;
    this.#writer = new FrameWriter(end);
    this.#greeting = greeting;
  }

  /**
   * A life says how far it has come: entries and events from these numbers on are wanted, and messages of these senders and numbers once
   * more. It may have come further since, if it is said twice: what a life has freed it does not need.
   */
  resume(entry: number, event: number, again: readonly number[]): void {
    this.#hasResumed = true;
    this.#entry = entry;
    this.#event = event;
    this.#eventsEnd = this.#home.events.end;
    this.#hasSaidEnd = false;
    this.#again = again;
    this.#againSaid = 0;
  }

  /** Bytes of a message are wanted; of one that is not here, the life has freed it since, and says this again because the acknowledgement was lost. */
  want(source: number, sequence: number, { ticket, offset }: Pick<Want, "ticket" | "offset">): void {
    const message = this.#homes.reader.messageOf(this.#home, source, sequence, this.#looks);
    if (message !== undefined && offset < message.facts.bytes) this.#wants.push({ message, ticket, offset });
  }

  /** Says all that there is to say and room for. Entries up to `settledEnd` are in the store. */
  pump(settledEnd: number): void {
    while (this.#writer.go()) if (!this.#sayNext(settledEnd)) return;
  }

  /** One frame; false: there is nothing to say now. */
  #sayNext(settledEnd: number): boolean {
    const held = this.#greeting.length === 0 ? undefined : this.#greeting.shift();
    if (held !== undefined) {
      this.#writer.put(held[0]!, held.slice(1));
      return true;
    }
    if (!this.#hasResumed) return false;
    if (!this.#hasSaidEnd) {
      this.#sayEvent();
      return true;
    }
    if (this.#againSaid + 1 < this.#again.length) {
      const [source, sequence] = [this.#again[this.#againSaid]!, this.#again[this.#againSaid + 1]!];
      this.#againSaid += 2;
      const message = this.#homes.reader.messageOf(this.#home, source, sequence, this.#looks);
      if (message !== undefined) this.#sayMessage(message, noEntry);
      return true;
    }
    // Neither many small messages nor one large one keeps the other back.
    this.#isTurnOfWants = !this.#isTurnOfWants;
    return this.#isTurnOfWants
      ? this.#sayPiece() || this.#sayEntry(settledEnd)
      : this.#sayEntry(settledEnd) || this.#sayPiece();
  }

  #sayEvent(): void {
    this.#event = Math.max(this.#event, this.#home.events.begin);
    this.#hasSaidEnd = this.#event >= this.#eventsEnd;
    if (this.#hasSaidEnd) {
      this.#writer.put(FromMemory.EVENTS_END, []);
      return;
    }
    const { words } = this.#homes.reader.eventAt(this.#home, this.#event, this.#ahead);
    this.#writer.put(FromMemory.EVENT, [this.#event, ...words]);
    this.#event++;
  }

  #sayEntry(settledEnd: number): boolean {
    this.#entry = Math.max(this.#entry, this.#home.entries.begin);
    if (this.#entry >= settledEnd) return false;
    const entry: HomeEntry = this.#homes.reader.entryAt(this.#home, this.#entry++, this.#ahead);
    if (entry.kind === "message") this.#sayMessage(entry, entry.number);
    else this.#writer.put(FromMemory.TAKEN, [entry.number, entry.source, entry.sequence]);
    return true;
  }

  #sayMessage(message: HomeMessage, number: number): void {
    const { source, sequence, context, tag, bytes, isSynchronous } = message.facts;
    const facts = [number, source, sequence, context, tag, bytes, isSynchronous ? 1 : 0, 0];
    const isInline = message.isWhole && bytes <= this.#limits.inlineBytesMax;
    if (!isInline || bytes === 0) this.#writer.put(FromMemory.MESSAGE, facts);
    // One that goes with its envelope is no larger than a piece.
    else this.#writer.putWords(FromMemory.MESSAGE, facts, this.#wordsOf(message.pieces[0]!));
  }

  #wordsOf(piece: HomeMessage["pieces"][number]): Int32Array {
    if (piece.words === null) this.#stage ??= new Int32Array(this.#limits.pieceBytesMax >> 2);
    return this.#homes.wordsOf(piece, this.#stage);
  }

  #viewOf(piece: HomeMessage["pieces"][number]): Uint8Array {
    const words = this.#wordsOf(piece);
    return new Uint8Array(words.buffer, words.byteOffset, piece.bytes);
  }

  /** The next bytes of a message that is wanted, and whose bytes are here: it may still be coming. */
  #sayPiece(): boolean {
    if (this.#wants.length === 0) return false;
    const place = this.#wants.findIndex(({ message, offset }) => offset < message.arrived);
    if (place < 0) return false;
    const [want] = this.#wants.splice(place, 1) as [Want];
    const { message, ticket, offset } = want;
    const piece = message.pieces.findLast((it) => it.offset <= offset)!;
    const bytes = this.#viewOf(piece).subarray(offset - piece.offset);
    this.#writer.putBytes(FromMemory.PIECE, [ticket, offset, bytes.length, 0], bytes, piece.words !== null);
    want.offset += bytes.length;
    if (want.offset < message.facts.bytes) this.#wants.push(want);
    return true;
  }
}
