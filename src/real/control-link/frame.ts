/**
 * Messages of a control link as bytes: `4 length of the body · 4 kind`, then the body, a structured value (`v8.serialize`). The kind
 * stands in front because every kind has its own bound: a length above it is refused before a byte of the body is waited for.
 *
 * The encoder asserts, the decoder says what is wrong. Bodies are decoded only of peers that have proven to be of the job.
 */
import { DefaultSerializer, deserialize } from "node:v8";
import type { ByteQueue } from "../framing/byte-queue.ts";

const headerBytes = 8;
const blankHeader = Buffer.alloc(headerBytes);

/** How long the body of each kind of message may be. The place of a kind in this table is its number on the wire. */
export type Bounds<Kind extends string> = Readonly<Record<Kind, number>>;

type Encoded =
  | { readonly ok: true; readonly frame: Buffer }
  /** The message is longer than its kind allows. */
  | { readonly ok: false; readonly problem: string };

export function encodeFrame<Kind extends string>(bounds: Bounds<Kind>, message: { readonly kind: Kind }): Encoded {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(blankHeader);
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  const bytes = frame.length - headerBytes;
  const bytesMax = bounds[message.kind];
  if (bytes > bytesMax) return { ok: false, problem: tooLong(message.kind, bytes, bytesMax) };
  frame.writeUInt32LE(bytes, 0);
  frame.writeUInt32LE(Object.keys(bounds).indexOf(message.kind), 4);
  return { ok: true, frame };
}

export type Decoded =
  | { readonly state: "more" }
  | { readonly state: "whole"; readonly kind: string; readonly value: unknown }
  | { readonly state: "bad"; readonly problem: string };

const more: Decoded = { state: "more" };

/** Takes frames from the bytes that have come. After a bad one there are no others. */
export class FrameReader {
  readonly #queue: ByteQueue;
  readonly #bounds: Bounds<string>;
  readonly #kinds: readonly string[];
  /** Of the frame whose body is awaited. */
  #kind: string | null = null;
  #bytes = 0;

  constructor(queue: ByteQueue, bounds: Bounds<string>) {
    this.#queue = queue;
    this.#bounds = bounds;
    this.#kinds = Object.keys(bounds);
  }

  next(): Decoded {
    if (this.#kind === null) {
      const header = this.#queue.take(headerBytes);
      if (header === null) return more;
      const number = header.readUInt32LE(4);
      const kind = this.#kinds[number];
      if (kind === undefined) return bad(`a message of kind ${number}, which there is not`);
      this.#bytes = header.readUInt32LE(0);
      const bytesMax = this.#bounds[kind]!;
      if (this.#bytes > bytesMax) return bad(tooLong(kind, this.#bytes, bytesMax));
      this.#kind = kind;
    }
    const body = this.#queue.take(this.#bytes);
    if (body === null) return more;
    const kind = this.#kind;
    this.#kind = null;
    try {
      return { state: "whole", kind, value: deserialize(body) as unknown };
    } catch {
      return bad(`a message "${kind}" that is no value`);
    }
  }
}

const bad = (problem: string): Decoded => ({ state: "bad", problem });

const tooLong = (kind: string, bytes: number, bytesMax: number): string =>
  `a message "${kind}" of ${bytes} bytes, and ${bytesMax} are allowed`;
