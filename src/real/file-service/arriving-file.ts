/**
 * A file that arrives in pieces, and is there complete and durable or not at all: as `../image/part-file.ts`, without ever blocking
 * the thread, which has others to serve meanwhile.
 */
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

export class ArrivingFile {
  readonly #path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Makes its folder as well. */
  static async begin(path: string): Promise<ArrivingFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const part = partOf(path);
    // A file that an earlier life has left there may be open elsewhere, or be a link.
    await rm(part, { force: true });
    return new ArrivingFile(path, await open(part, "wx", 0o600));
  }

  /** All of it, from where the last piece ended. */
  write(piece: Uint8Array): Promise<void> {
    return this.#file.writeFile(piece);
  }

  async commit(): Promise<void> {
    await this.#file.sync();
    await this.#file.close();
    await rename(partOf(this.#path), this.#path);
    const folder = await open(dirname(this.#path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Also after a `commit` that failed. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(partOf(this.#path), { force: true });
  }
}

const partOf = (path: string): string => `${path}.part`;
