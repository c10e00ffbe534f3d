/**
 * The stream between a node and a keeper of files: requests, answers and pieces of files, each a frame (framing/frame.ts). An empty
 * frame ends a sequence of pieces. A writer waits when the other side reads more slowly.
 */
import type { Socket } from "node:net";
import { assert } from "../../core/base/assert.ts";
import { ByteQueue } from "../framing/byte-queue.ts";
import { FrameReader, frameHeader } from "../framing/frame.ts";

/** Their order says what they are: all frames are of one kind. Pieces of an image are smaller than the bound. */
const kind = 0;
const bytesMax = 64 << 20;

export class Frames {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #queue = new ByteQueue();
  readonly #reader = new FrameReader(this.#queue, [bytesMax]);

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    // An error of the socket shows at the next read or write.
    socket.on("error", () => {});
  }

  /** The next `bytes` as they are: for the handshake, which comes before the frames. Null: the other side is gone. */
  async raw(bytes: number): Promise<Buffer | null> {
    for (;;) {
      const taken = this.#queue.take(bytes);
      if (taken !== null) return taken;
      if (!(await this.#more())) return null;
    }
  }

  /** The next frame; null: the other side is gone, or does not speak this language. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      const read = this.#reader.next();
      if (read.state === "whole") return read.body;
      if (read.state !== "more" || !(await this.#more())) return null;
    }
  }

  /** False: the other side is gone. */
  async write(parts: readonly Uint8Array[]): Promise<boolean> {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    assert(bytes <= bytesMax, `a frame of ${bytes} bytes`);
    // One piece for the socket, and a copy: the parts may lie in memory that others change.
    const frame = Buffer.concat([frameHeader(kind, bytes), ...parts]);
    if (this.#socket.destroyed) return false;
    if (!this.#socket.write(frame)) await this.#drained();
    return !this.#socket.destroyed;
  }

  /** Fulfilled when the socket has room again, or is closed. */
  #drained(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off("drain", done).off("close", done);
        resolve();
      };
      socket.on("drain", done).on("close", done);
    });
  }

  /** False: no bytes will come any more. */
  async #more(): Promise<boolean> {
    const chunk = await this.#chunks.next().catch(() => ({ done: true as const, value: undefined }));
    if (chunk.done === true) return false;
    this.#queue.push(chunk.value);
    return true;
  }
}
