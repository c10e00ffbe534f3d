/**
 * Frames: how every stream of this runtime that carries messages (control links, files, the compile server) is cut into them.
 * `4 bytes: length of the body · 4 bytes: kind`, little-endian, then the body. Each kind has a bound of its own, and the kind stands
 * in front: a length above the bound is refused before a byte of the body is awaited.
 *
 * The meaning of kinds and bodies is the user's. Packets between ranks are framed elsewhere (transport/tcp/frame.ts): those are
 * signed, and written in place.
 */
import { assert } from "../../core/base/assert.ts";
import type { ByteQueue } from "./byte-queue.ts";

export const frameHeaderBytes = 8;

/** Writes the header of a frame into its first bytes. */
export function putFrameHeader(at: Buffer, kind: number, bodyBytes: number): void {
  assert(bodyBytes <= 0xffff_ffff, `a frame of ${bodyBytes} bytes`);
  at.writeUInt32LE(bodyBytes, 0);
  at.writeUInt32LE(kind, 4);
}

export function frameHeader(kind: number, bodyBytes: number): Buffer {
  const header = Buffer.alloc(frameHeaderBytes);
  putFrameHeader(header, kind, bodyBytes);
  return header;
}

export type FrameRead =
  /** More bytes must come first. */
  | { readonly state: "more" }
  | { readonly state: "whole"; readonly kind: number; readonly body: Buffer }
  /** There is no such kind. */
  | { readonly state: "unknown"; readonly kind: number }
  | { readonly state: "too long"; readonly kind: number; readonly bytes: number };

const more: FrameRead = { state: "more" };

/** Takes frames from the bytes that have come. A stream with a wrong frame makes no sense any more: nothing behind it is read. */
export class FrameReader {
  readonly #queue: ByteQueue;
  /** By kind. */
  readonly #bytesMax: readonly number[];
  /** Of the frame whose body is awaited. */
  #awaited: { readonly kind: number; readonly bytes: number } | null = null;
  #wrong: FrameRead | null = null;

  constructor(queue: ByteQueue, bytesMax: readonly number[]) {
    this.#queue = queue;
    this.#bytesMax = bytesMax;
  }

  next(): FrameRead {
    if (this.#wrong !== null) return this.#wrong;
    if (this.#awaited === null) {
      const header = this.#queue.take(frameHeaderBytes);
      if (header === null) return more;
      const bytes = header.readUInt32LE(0);
      const kind = header.readUInt32LE(4);
      const bytesMax = this.#bytesMax[kind];
      if (bytesMax === undefined) return this.#refuse({ state: "unknown", kind });
      if (bytes > bytesMax) return this.#refuse({ state: "too long", kind, bytes });
      this.#awaited = { kind, bytes };
    }
    const { kind, bytes } = this.#awaited;
    const body = this.#queue.take(bytes);
    if (body === null) return more;
    this.#awaited = null;
    return { state: "whole", kind, body };
  }

  #refuse(wrong: FrameRead): FrameRead {
    this.#wrong = wrong;
    return wrong;
  }
}
