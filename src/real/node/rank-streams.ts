/**
 * `process.stdout`, `process.stderr` and `process.stdin` of a rank. Node's own for worker threads deliver only while the
 * event loop turns, which in a program that blocks it may never do; these write at once, into the rank's line ring.
 * `console` follows, because it looks up the process's streams when it is first used.
 */
import { Readable, Writable } from "node:stream";
import type { MessagePort } from "node:worker_threads";
import type { LineWriter } from "./line-ring.ts";
import type { FromRank, Input, Stream } from "./messages.ts";
import type { OutputGate } from "./output-gate.ts";

class RankOutput extends Writable {
  readonly fd: number;
  readonly #lines: LineWriter;
  readonly #stream: Stream;
  readonly #mayLeave: OutputGate;

  constructor({ lines, mayLeave }: RankStreams, stream: Stream) {
    // Nothing is ever queued here, so `write` must never ask the program to wait for "drain".
    super({ decodeStrings: true, highWaterMark: Number.MAX_SAFE_INTEGER });
    this.fd = stream === "stdout" ? 1 : 2;
    this.#lines = lines;
    this.#stream = stream;
    this.#mayLeave = mayLeave;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#mayLeave("line");
    this.#lines.write(this.#stream, bytes);
    done();
  }

  /** As of Node's own: a program that ends or destroys it goes on printing. */
  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    done();
  }
}

/**
 * Standard input of rank 0: asks for a piece when the program reads. While it waits for one the thread stays alive, unless
 * the program has paused the stream meanwhile (as closing a readline interface does).
 */
class RankInput extends Readable {
  readonly fd = 0;
  readonly #port: MessagePort;
  readonly #beforeRead: () => void;
  #asked = false;

  constructor(port: MessagePort, beforeRead: () => void) {
    super({ highWaterMark: 0 });
    this.#port = port;
    this.#beforeRead = beforeRead;
    port.on("message", (message: Input) => {
      this.#asked = false;
      port.unref();
      this.push(message.bytes);
    });
    port.unref();
    this.on("pause", () => port.unref());
    this.on("resume", () => {
      if (this.#asked) port.ref();
    });
  }

  override _read(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#beforeRead();
    this.#port.ref();
    this.#port.postMessage({ kind: "input-wanted" } satisfies FromRank);
  }
}

export interface RankStreams {
  readonly rank: number;
  readonly lines: LineWriter;
  readonly port: MessagePort;
  readonly mayLeave: OutputGate;
}

export function replaceStreams(streams: RankStreams): void {
  const { rank, lines, port } = streams;
  define("stdout", () => new RankOutput(streams, "stdout"));
  define("stderr", () => new RankOutput(streams, "stderr"));
  // A question without a line end has to be seen before its answer can be typed.
  if (rank === 0) define("stdin", () => new RankInput(port, () => lines.flush("stdout")));
}

function define(name: "stdin" | "stdout" | "stderr", create: () => Readable | Writable): void {
  let stream: Readable | Writable | undefined;
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      stream ??= create();
      return stream;
    },
  });
}
