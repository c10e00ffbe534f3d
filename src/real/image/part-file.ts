/**
 * A file that is there complete and durable, or not at all: written beside its name as `<name>.part`, flushed, renamed, and
 * the folder flushed too, so that after a power cut the name leads to the whole file or to the one before.
 *
 * For its owner alone: it holds all that a program knew.
 *
 * Everything blocks: whoever writes images has a thread for it.
 */
import { closeSync, fdatasync, fsyncSync, openSync, renameSync, rmSync, writevSync } from "node:fs";
import { dirname } from "node:path";
import type { Piece } from "../../image/encoder.ts";
import { partsAfter, withoutEmpty } from "./parts.ts";

/**
 * The disk starts on what we have written long before the system would send it, while the next pieces are made: of a GiB the
 * `fsync` at the end then takes 0.1 s instead of 0.6.
 */
const flushBytes = 128 * 1024 * 1024;

export class PartFile {
  readonly #path: string;
  readonly #part: string;
  readonly #file: number;
  /**
   * The same file opened again, for flushing on the way. The system reports an error of the disk once per opening: the last
   * `fsync`, which decides whether there is an image, must not be the second to hear of it.
   */
  readonly #flushed: number;
  #unflushedBytes = 0;
  #isOpen = true;

  constructor(path: string) {
    this.#path = path;
    this.#part = `${path}.part`;
    // Whatever a life before has left there may be open elsewhere, or a link.
    rmSync(this.#part, { force: true });
    this.#file = openSync(this.#part, "wx", 0o600);
    this.#flushed = openSync(this.#part, "r+");
  }

  write(piece: Piece): void {
    let rest = withoutEmpty(piece);
    while (rest.length > 0) rest = this.#after(rest, writevSync(this.#file, rest));
  }

  commit(): void {
    fsyncSync(this.#file);
    this.#rename();
  }

  /** Also after a `commit` that failed. */
  discard(): void {
    this.#close();
    rmSync(this.#part, { force: true });
  }

  #after(parts: readonly Uint8Array[], written: number): Uint8Array[] {
    this.#unflushedBytes += written;
    if (this.#unflushedBytes >= flushBytes) {
      this.#unflushedBytes = 0;
      // It is done in a thread of libuv's even if the event loop of this one never turns, and nobody waits for it.
      fdatasync(this.#flushed, () => {});
    }
    return partsAfter(parts, written);
  }

  #rename(): void {
    renameSync(this.#part, this.#path);
    this.#close();
    const folder = openSync(dirname(this.#path), "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
    closeSync(this.#flushed);
  }
}
