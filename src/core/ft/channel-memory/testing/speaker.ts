/** A rank that says frames to a channel memory and hears frames from it, for tests of memories: no engine, no protocol. */
import { FrameWriter, FromMemory, ToMemory, WordFrameReader, wordsFor } from "../frames.ts";
import { DirectEnd } from "./direct-end.ts";
import { smallLimits, type TestedMemory } from "./tested-memory.ts";

/** What a rank was told: the name of the kind, and its words. */
export type Heard = readonly [string, ...number[]];

const names = Object.fromEntries(Object.entries(FromMemory).map(([name, kind]) => [kind, name]));

export class Speaker {
  readonly rank: number;
  readonly end: DirectEnd;
  readonly #writer: FrameWriter;
  readonly #reader = new WordFrameReader();
  #origin = 0;

  constructor(rank: number, incarnation = 0) {
    this.rank = rank;
    this.end = new DirectEnd(rank, incarnation);
    this.#writer = new FrameWriter(this.end);
  }

  connect({ memory, origin }: TestedMemory): this {
    this.end.connect(memory, origin);
    return this;
  }

  say(kind: keyof typeof ToMemory, ...facts: number[]): this {
    this.#writer.put(ToMemory[kind], facts);
    return this;
  }

  /** The whole message, or so many of its pieces. Its bytes follow from its number. */
  post(dest: number, sequence: number, bytes = 4, pieces = Number.POSITIVE_INFINITY): this {
    const { pieceBytesMax } = smallLimits;
    const all = bytesOf(sequence, bytes);
    for (
      let offset = 0, piece = 0;
      (offset < bytes || offset === 0) && piece < pieces;
      offset += pieceBytesMax, piece++
    ) {
      const part = all.subarray(offset, offset + pieceBytesMax);
      if (offset === 0) this.#writer.putBytes(ToMemory.POST, [dest, sequence, 2, 7, bytes, 0], part);
      else this.#writer.putBytes(ToMemory.MORE, [dest, sequence, offset, 0], part);
    }
    return this;
  }

  /** Says all, and hears all. */
  exchange(): Heard[] {
    this.end.give();
    return this.hear();
  }

  hear(): Heard[] {
    const heard: Heard[] = [];
    const stage = new Int32Array(1 << 12);
    while (this.end.fetch() > 0);
    for (let count = this.end.take(stage); count > 0; count = this.end.take(stage)) {
      if (this.end.origin !== this.#origin) this.#reader.reset();
      this.#origin = this.end.origin;
      this.#reader.feed(stage, 0, count);
    }
    for (let frame = this.#reader.peek(); frame !== null; frame = this.#reader.peek()) {
      heard.push([names[frame[1]!]!, ...frame.subarray(2)]);
      this.#reader.drop();
    }
    return heard;
  }
}

const bytesOf = (sequence: number, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => sequence * 16 + i);

/** Senders and numbers of the messages among what was heard. */
export const messagesIn = (heard: readonly Heard[]): string[] =>
  heard.filter(([kind]) => kind === "MESSAGE").map(([, , source, sequence]) => `${source}:${sequence}`);

/** All bytes of the pieces among what was heard. */
export function piecesIn(heard: readonly Heard[]): number[] {
  return heard.flatMap(([kind, , , bytes, , ...words]) => {
    if (kind !== "PIECE") return [];
    return [...new Uint8Array(Int32Array.from(words.slice(0, wordsFor(bytes!))).buffer).subarray(0, bytes)];
  });
}
