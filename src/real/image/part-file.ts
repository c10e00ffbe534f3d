/**
 * A file that exists complete and durable, or not at all: written beside its name as `<name>.part`, flushed, renamed, and the
 * folder flushed too, so that after a power cut the name leads to the new file or to the old one, each complete.
 *
 * Readable by its owner alone: it holds the program's memory.
 *
 * Every call of `PartFile` blocks: callers have a thread for writing images.
 */
import {
  closeSync,
  fdatasync,
  fsync,
  fsyncSync,
  open,
  openSync,
  rename,
  renameSync,
  rmSync,
  writevSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { Piece } from "../../image/encoder.ts";
import { partsAfter, withoutEmpty } from "./parts.ts";

const [openLater, fsyncLater, renameLater] = [promisify(open), promisify(fsync), promisify(rename)];

/**
 * Bytes after which the disk starts to write, long before the system would send them, while the next pieces are made: for a GiB
 * the `fsync` at the end then takes 0.1 s instead of 0.6.
 */
const flushBytes = 128 * 1024 * 1024;

export class PartFile {
  readonly #path: string;
  readonly #part: string;
  readonly #file: number;
  /**
   * The same file opened again, for flushing on the way. The system reports an error of the disk once per opening: the last
   * `fsync`, which decides whether the image exists, must get that report.
   */
  readonly #flushed: number;
  #unflushedBytes = 0;
  #isOpen = true;

  constructor(path: string) {
    this.#path = path;
    this.#part = partOf(path);
    // A file that an earlier life left there may be open elsewhere, or a link.
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
    this.#close();
    nameDurably(this.#path);
  }

  /** Everything is written; `commitPart` makes it durable and gives it its name. */
  leave(): void {
    this.#close();
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
      // A thread of libuv does it even if the event loop of this thread never turns, and nobody waits for it.
      fdatasync(this.#flushed, () => {});
    }
    return partsAfter(parts, written);
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
    closeSync(this.#flushed);
  }
}

/**
 * For a file that `leave` has left, by any thread or process: makes it durable, and gives it its name. An error of the disk that nobody has
 * been told of is told to the next that opens the file (Linux 4.16 and later), so this `fsync` decides. Does not block: the disk is waited for by a thread
 * that Node has anyway.
 */
export async function commitPart(path: string): Promise<void> {
  await flush(partOf(path), "r+");
  await renameLater(partOf(path), path);
  await flush(dirname(path), "r");
}

export const partOf = (path: string): string => `${path}.part`;

async function flush(path: string, flags: string): Promise<void> {
  const file = await openLater(path, flags);
  try {
    await fsyncLater(file);
  } finally {
    closeSync(file);
  }
}

function nameDurably(path: string): void {
  renameSync(partOf(path), path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
