/**
 * A file that arrives in pieces, and is there complete and durable or not at all: as `../image/part-file.ts`, without ever blocking
 * the thread, which has others to serve meanwhile.
 */
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** The names in use: of a file that arrives twice at once, because its sender tries again, each has a part of its own. */
const parts = new Set<string>();

export class ArrivingFile {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;

  private constructor(path: string, part: string, file: FileHandle) {
    this.#path = path;
    this.#part = part;
    this.#file = file;
  }

  /** Makes its folder as well. */
  static async begin(path: string): Promise<ArrivingFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const part = newPartOf(path);
    try {
      // A file that an earlier life has left there may be open elsewhere, or be a link.
      await rm(part, { force: true });
      return new ArrivingFile(path, part, await open(part, "wx", 0o600));
    } catch (error) {
      parts.delete(part);
      throw error;
    }
  }

  /** All of it, from where the last piece ended. */
  write(piece: Uint8Array): Promise<void> {
    return this.#file.writeFile(piece);
  }

  /** Leaves nothing behind if it fails. */
  async commit(): Promise<void> {
    try {
      await this.#file.sync();
      await this.#file.close();
      await rename(this.#part, this.#path);
    } catch (error) {
      await this.discard();
      throw error;
    }
    parts.delete(this.#part);
    const folder = await open(dirname(this.#path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#part, { force: true }).catch(() => {});
    parts.delete(this.#part);
  }
}

function newPartOf(path: string): string {
  let part = `${path}.part`;
  for (let number = 2; parts.has(part); number++) part = `${path}.${number}.part`;
  parts.add(part);
  return part;
}
