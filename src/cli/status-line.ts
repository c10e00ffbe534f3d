/**
 * A line at the bottom of a terminal that renews itself, and is gone before anything else is written there. Whatever is to be written to
 * the terminal goes through the streams that the line gives out: it hides, the text appears, and the line comes back when nothing has
 * been written for a while.
 */
import { Writable } from "node:stream";

/** A terminal, as far as it is needed here. */
interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

interface StatusLineOptions {
  readonly terminal: Terminal;
  readonly nowMs: () => number;
  /** The text, of at most so many characters; empty: none now. */
  readonly text: (columns: number) => string;
}

/** A program that prints is not talked over: the line appears after so long without any output. */
const quietMs = 1_000;
const columnsDefault = 80;
const newline = 10;

export class StatusLine {
  readonly #options: StatusLineOptions;
  #shown = "";
  #writtenMs: number;
  /** Streams whose last line has no end. */
  readonly #open = new Set<object>();

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#writtenMs = options.nowMs();
  }

  /** Shows the line as it is now, if nobody is talking. Called a few times a second. */
  renew(): void {
    const { terminal, nowMs, text } = this.#options;
    const isQuiet = this.#open.size === 0 && nowMs() - this.#writtenMs >= quietMs;
    // A terminal that nobody has told its size says 0.
    const shown = isQuiet ? text((terminal.columns || columnsDefault) - 1) : "";
    if (shown === "") this.hide();
    else if (shown !== this.#shown) {
      terminal.write(`\r\x1b[2m${shown}\x1b[22m\x1b[K`);
      this.#shown = shown;
    }
  }

  hide(): void {
    if (this.#shown !== "") this.#options.terminal.write("\r\x1b[K");
    this.#shown = "";
  }

  /** `target`, which is the same terminal, with the line out of its way. */
  stream(target: NodeJS.WriteStream): Writable {
    return new AsideStream(target, (bytes) => {
      this.hide();
      this.#writtenMs = this.#options.nowMs();
      if (bytes.at(-1) === newline) this.#open.delete(target);
      else if (bytes.length > 0) this.#open.add(target);
    });
  }
}

class AsideStream extends Writable {
  readonly isTTY = true;
  readonly #target: NodeJS.WriteStream;
  readonly #before: (bytes: Uint8Array) => void;

  constructor(target: NodeJS.WriteStream, before: (bytes: Uint8Array) => void) {
    super({ decodeStrings: true });
    this.#target = target;
    this.#before = before;
    // Its errors come with the writes.
    target.on("error", () => {});
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#before(bytes);
    this.#target.write(bytes, (error) => {
      if (error) this.destroy(error);
    });
    // At once: a terminal takes everything, and what others write to it next must come after this.
    done();
  }
}
