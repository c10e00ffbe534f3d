/**
 * `process.stdout`, `process.stderr` and `process.stdin` of a rank. Node's own for worker threads deliver only while the
 * event loop turns, which in a program that blocks it may never do; these write at once, into the rank's line ring.
 * `console` follows, because it looks up the process's streams when it is first used.
 */
import { type Readable, Writable } from "node:stream";
import type { MessagePort } from "node:worker_threads";
import type { Terminals } from "../../core/base/terminals.ts";
import type { Stream } from "../messages/lines.ts";
import type { Input } from "../messages/rank-messages.ts";
import type { LineWriter } from "../output/line-ring.ts";
import type { OutputGate } from "../output/output-gate.ts";
import type { RankHost } from "../process/rank-host.ts";
import { LiveInput, type RankInput, type RankInputOptions, ReplayedInput } from "./rank-input.ts";

class RankOutput extends Writable {
  readonly fd: number;
  readonly #lines: LineWriter;
  readonly #stream: Stream;
  readonly #mayLeave: OutputGate;

  constructor({ lines, mayLeave, terminals }: RankStreams, stream: Stream) {
    // Nothing is ever queued here, so `write` must never ask the program to wait for "drain".
    super({ decodeStrings: true, highWaterMark: Number.MAX_SAFE_INTEGER });
    this.fd = stream === "stdout" ? 1 : 2;
    markTerminal(this, terminals[stream]);
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

interface RankStreams {
  readonly terminals: Terminals;
  /** Can standard input ever be this rank's, and is it now? */
  readonly mayRead: boolean;
  readonly isReader: () => boolean;
  readonly lines: LineWriter;
  readonly port: MessagePort;
  readonly mayLeave: OutputGate;
  /** Orders the arrival of input under a protocol that replays; null: there is no such protocol. */
  readonly host: RankHost | null;
  /** How much of standard input a life before has read. */
  readonly inputOffset: number;
}

interface ReplacedStreams {
  /** How much of standard input the program has taken. */
  inputTaken(): number;
  /** A piece of standard input has come while the event loop stood still. */
  heard(input: Input): void;
}

export function replaceStreams(streams: RankStreams): ReplacedStreams {
  const { mayRead, isReader, lines, port, host, inputOffset } = streams;
  define("stdout", () => new RankOutput(streams, "stdout"));
  define("stderr", () => new RankOutput(streams, "stderr"));
  if (!mayRead) return { inputTaken: () => 0, heard() {} };
  const options: RankInputOptions = { port, isReader, offset: inputOffset, beforeRead: () => lines.flush("stdout") };
  let stdin: RankInput | undefined;
  define("stdin", () => {
    stdin = host === null ? new LiveInput(options) : new ReplayedInput(options, host);
    markTerminal(stdin, streams.terminals.stdin);
    return stdin;
  });
  return { inputTaken: () => stdin?.taken ?? inputOffset, heard: (input) => stdin?.heard(input) };
}

/** As of Node's own: the property is missing where there is no terminal. */
function markTerminal(stream: Readable | Writable, isTerminal: boolean): void {
  if (isTerminal) Object.defineProperty(stream, "isTTY", { value: true, enumerable: true });
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
