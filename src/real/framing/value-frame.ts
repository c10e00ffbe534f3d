/**
 * Messages as frames (frame.ts): the body is the message as a structured value (`v8.serialize`), and the kind of the frame is that of
 * the message. Both ends are the same Banyan on the same Node, so the format needs no version of its own.
 *
 * The encoder refuses a message that is too long, the decoder says what is wrong with the bytes. Bodies are decoded only of peers that
 * have proven to belong here: by the job's secret, or by a socket in a folder of the user's own.
 */
import { DefaultSerializer, deserialize } from "node:v8";
import { unreachable } from "../../core/base/assert.ts";
import type { ByteQueue } from "./byte-queue.ts";
import { FrameReader, frameHeaderBytes, putFrameHeader } from "./frame.ts";

const blankHeader = Buffer.alloc(frameHeaderBytes);

/** How long the body of each kind of message may be. The place of a kind in this table is its number on the wire. */
export type Bounds<Kind extends string> = Readonly<Record<Kind, number>>;

type Encoded =
  | { readonly ok: true; readonly frame: Buffer }
  /** The message is longer than its kind allows. */
  | { readonly ok: false; readonly problem: string };

export function encodeValue<Kind extends string>(bounds: Bounds<Kind>, message: { readonly kind: Kind }): Encoded {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(blankHeader);
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  const bytes = frame.length - frameHeaderBytes;
  const bytesMax = bounds[message.kind];
  if (bytes > bytesMax) return { ok: false, problem: tooLong(message.kind, bytes, bytesMax) };
  putFrameHeader(frame, Object.keys(bounds).indexOf(message.kind), bytes);
  return { ok: true, frame };
}

export type DecodedValue =
  | { readonly state: "more" }
  | { readonly state: "whole"; readonly kind: string; readonly value: unknown }
  | { readonly state: "bad"; readonly problem: string };

/** Takes messages from the bytes that have come. After a bad one there are no others. */
export class ValueReader {
  readonly #frames: FrameReader;
  readonly #bytesMax: readonly number[];
  readonly #kinds: readonly string[];

  constructor(queue: ByteQueue, bounds: Bounds<string>) {
    this.#kinds = Object.keys(bounds);
    this.#bytesMax = Object.values(bounds);
    this.#frames = new FrameReader(queue, this.#bytesMax);
  }

  next(): DecodedValue {
    const read = this.#frames.next();
    switch (read.state) {
      case "more":
        return read;
      case "unknown":
        return bad(`a message of kind ${read.kind}, which there is not`);
      case "too long":
        return bad(tooLong(this.#kinds[read.kind]!, read.bytes, this.#bytesMax[read.kind]!));
      case "whole":
        return decode(this.#kinds[read.kind]!, read.body);
      default:
        return unreachable(read);
    }
  }
}

function decode(kind: string, body: Buffer): DecodedValue {
  try {
    return { state: "whole", kind, value: deserialize(body) as unknown };
  } catch {
    return bad(`a message "${kind}" that is no value`);
  }
}

const bad = (problem: string): DecodedValue => ({ state: "bad", problem });

const tooLong = (kind: string, bytes: number, bytesMax: number): string =>
  `a message "${kind}" of ${bytes} bytes, and ${bytesMax} are allowed`;
