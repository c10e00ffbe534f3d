/**
 * One end of a control link: the connection between the dispatcher and a node, after both have proven to be of the job. Messages are
 * checked (framing/value-frame.ts, core/base/value-shape.ts) before they are handed on; the first wrong one ends the link, and `closed` says why.
 *
 * There is one connection for the life of a node, and no second: messages under way when it breaks are lost, and a node that the
 * dispatcher cannot talk to is dead for the job (docs/control-link.md).
 */
import { readSync } from "node:fs";
import type { Socket } from "node:net";
import type { Shape, ShapesOf } from "../../core/base/value-shape.ts";
import type { ByteQueue } from "../framing/byte-queue.ts";
import { type Bounds, encodeValue, ValueReader } from "../framing/value-frame.ts";
import { descriptorOf, startReading } from "../transport/sockets/raw-socket.ts";

interface Message {
  readonly kind: string;
}

export interface ControlLinkOptions<Out extends Message, In extends Message> {
  readonly socket: Socket;
  /** Bytes that have already come behind the handshake. */
  readonly queue: ByteQueue;
  readonly sends: Bounds<Out["kind"]>;
  readonly hears: Bounds<In["kind"]>;
  /** Bytes have come: the other side lives, even while its message is incomplete. */
  heard(): void;
  said(message: In): void;
  /** A message was not sent, because it is longer than its kind allows. */
  unsendable(problem: string): void;
  /** Nothing comes any more, and everything that had come was heard. Called once. */
  closed(end: LinkEnd): void;
}

export type LinkEnd =
  /** By the other side, which is gone or has finished; or by the network. */
  | { readonly kind: "lost"; readonly why: string }
  /** By this side. */
  | { readonly kind: "cut"; readonly why: string };

const drainBytes = 1 << 16;
/** The bound of bytes that wait for a side that does not read, beside the longest message among them. A living node or dispatcher reads all the time. */
const unsentBytesMax = 64 << 20;

export class ControlLink<Out extends Message, In extends Message> {
  readonly #options: ControlLinkOptions<Out, In>;
  readonly #reader: ValueReader;
  /** The messages that may come now. */
  #shapes: Partial<ShapesOf<In>> = {};
  #end: LinkEnd | null = null;
  #isClosed = false;
  /** Bytes of the longest message since nothing waited: what a set has chosen, for one. */
  #longest = 0;

  /** Nothing is read before `expect`. */
  constructor(options: ControlLinkOptions<Out, In>) {
    const { socket, queue, hears } = options;
    this.#options = options;
    this.#reader = new ValueReader(queue, hears);
    socket.on("data", (chunk: Buffer) => {
      queue.push(chunk);
      options.heard();
      this.#hear();
    });
    socket.on("error", (error) => {
      this.#end ??= { kind: "lost", why: error.message };
    });
    socket.on("close", () => this.#close());
  }

  /** From now on these messages may come, and no others. */
  expect(shapes: Partial<ShapesOf<In>>): void {
    this.#shapes = shapes;
    startReading(this.#options.socket);
    this.#options.socket.resume();
    // Messages that came with the handshake; the caller is to finish its own step first.
    process.nextTick(() => this.#hear());
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#end === null && this.#options.socket.writable;
  }

  /** Has everything that was sent left this process? Messages that are not urgent can wait until it has. */
  get isIdle(): boolean {
    return this.#options.socket.writableLength === 0;
  }

  /** Fulfilled when everything that was sent has left this process, or the link is closed: for senders of many messages, to wait in between. */
  whenIdle(): Promise<void> {
    if (this.isIdle || !this.isOpen) return Promise.resolve();
    const { socket } = this.#options;
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off("drain", done).off("close", done);
        resolve();
      };
      socket.on("drain", done).on("close", done);
    });
  }

  /** A message for a side that is gone is dropped; the end shows as `closed`. */
  send(message: Out): void {
    const { socket, sends } = this.#options;
    if (!this.isOpen) return;
    if (this.isIdle) this.#longest = 0;
    if (socket.writableLength - this.#longest > unsentBytesMax) {
      this.cut(`it does not read what it is sent, and ${socket.writableLength} bytes wait`);
      return;
    }
    const encoded = encodeValue<string>(sends, message);
    if (!encoded.ok) {
      this.#options.unsendable(encoded.problem);
      return;
    }
    this.#longest = Math.max(this.#longest, encoded.frame.length);
    socket.write(encoded.frame, (error) => {
      // The socket is about to be closed by Node, with all that has come and has not been read.
      if (error) this.#drain();
    });
  }

  /** Nothing more will be sent; the link closes when the other side has finished too. */
  end(): void {
    this.#options.socket.end();
  }

  /** Ends it at once, for that reason. */
  cut(why: string): void {
    this.#end ??= { kind: "cut", why };
    this.#options.socket.destroy();
  }

  #hear(): void {
    while (!this.#isClosed && this.#end === null) {
      const decoded = this.#reader.next();
      if (decoded.state === "more") return;
      const problem = decoded.state === "bad" ? decoded.problem : this.#problemOf(decoded.kind, decoded.value);
      if (problem === "") this.#options.said((decoded as { value: In }).value);
      else this.cut(`it sent ${problem}`);
    }
  }

  #problemOf(kind: string, value: unknown): string {
    const shape = (this.#shapes as Readonly<Record<string, Shape<unknown> | undefined>>)[kind];
    if (shape === undefined) return `"${kind}" when it may not`;
    const problem = shape(value);
    return problem === "" ? "" : `a message "${kind}" that is wrong: the message ${problem}`;
  }

  /** The other side is gone and writing has failed: its last messages are in the system's buffer. */
  #drain(): void {
    const { socket, queue } = this.#options;
    try {
      for (;;) {
        const chunk = Buffer.allocUnsafe(drainBytes);
        const bytes = readSync(descriptorOf(socket), chunk);
        if (bytes === 0) break;
        queue.push(chunk.subarray(0, bytes));
      }
    } catch {
      // There is nothing more, or there never will be.
    }
    this.#hear();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.closed(this.#end ?? { kind: "lost", why: "the other side has closed it" });
  }
}
