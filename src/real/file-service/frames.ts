/**
 * What nodes and checkpoint servers say to each other: frames of a length (32 bits, little-endian) and as many bytes. An empty
 * frame ends a sequence of pieces. Whoever writes waits when the other side reads more slowly.
 */
import type { Socket } from "node:net";

/** Pieces of an image are smaller; a longer frame is none of ours. */
const frameBytesMax = 64 << 20;
const lengthBytes = 4;

export class Frames {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    // What goes wrong shows where somebody reads or writes.
    socket.on("error", () => {});
  }

  /** That many bytes as they are; null: the other side is gone. */
  raw(bytes: number): Promise<Buffer | null> {
    return this.#take(bytes);
  }

  /** The next frame; null: the other side is gone, or does not speak our language. */
  async next(): Promise<Buffer | null> {
    const length = await this.#take(lengthBytes);
    if (length === null) return null;
    const bytes = length.readUInt32LE();
    return bytes > frameBytesMax ? null : this.#take(bytes);
  }

  /** False: the other side is gone. */
  async write(parts: readonly Uint8Array[]): Promise<boolean> {
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(parts.reduce((sum, part) => sum + part.length, 0));
    // In one piece, and out of memory that others may change.
    const frame = Buffer.concat([length, ...parts]);
    if (this.#socket.destroyed) return false;
    if (!this.#socket.write(frame)) await this.#room();
    return !this.#socket.destroyed;
  }

  /** There is room again, or nobody to read. */
  #room(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off("drain", done).off("close", done);
        resolve();
      };
      socket.on("drain", done).on("close", done);
    });
  }

  async #take(bytes: number): Promise<Buffer | null> {
    while (this.#restBytes < bytes) {
      const chunk = await this.#chunks.next().catch(() => ({ done: true as const, value: undefined }));
      if (chunk.done === true) return null;
      this.#rest.push(chunk.value);
      this.#restBytes += chunk.value.length;
    }
    const all = this.#rest.length === 1 ? this.#rest[0]! : Buffer.concat(this.#rest);
    this.#rest = all.length === bytes ? [] : [all.subarray(bytes)];
    this.#restBytes = all.length - bytes;
    return all.subarray(0, bytes);
  }
}
