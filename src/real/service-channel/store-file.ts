/**
 * The store of a service (core/service-channel/service-store.ts) as a file. What a process has written outlives it, because the operating
 * system has it (ADR 19); forced to the disk, it outlives a power cut (ADR 52).
 *
 * A file that cannot be written any more would tell a successor less than was acknowledged: it is removed, and its owner is told.
 */
import { closeSync, fdatasyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { ServiceStore } from "../../core/service-channel/service-store.ts";
import { syncFolder } from "../disk/sync-folder.ts";

interface StoreFilePorts {
  /** Nothing is written any more, and there is no file. */
  gaveUp(why: string): void;
  /** The system's call, unless given. */
  write?(file: number, bytes: Uint8Array, at: number): number;
  /** What is written is forced to the disk. False unless given. */
  readonly isForDisk?: boolean;
}

const pieceBytesDefault = 1 << 24;

/** What such a file has, piece by piece: Node reads no file at once that has more than 2 GiB. */
export function* filePieces(path: string, pieceBytes = pieceBytesDefault): Generator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    const piece = new Uint8Array(pieceBytes);
    for (;;) {
      const count = readSync(file, piece);
      if (count === 0) return;
      yield piece.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

export class StoreFile implements ServiceStore {
  readonly #path: string;
  readonly #ports: Required<StoreFilePorts>;
  /** Undefined: nothing has been written yet, or nothing is any more. */
  #file: number | undefined;
  #isGivenUp = false;

  constructor(path: string, ports: StoreFilePorts) {
    this.#path = path;
    this.#ports = { write: writeSync, isForDisk: false, ...ports };
  }

  append(words: Int32Array): void {
    this.#attempt(() => {
      if (this.#file === undefined) return;
      this.#write(this.#file, words);
      if (this.#ports.isForDisk) fdatasyncSync(this.#file);
    });
  }

  replace(parts: Iterable<Int32Array>): void {
    this.#attempt(() => {
      // A process that was lost meanwhile may have left one.
      rmSync(this.#newPath, { force: true });
      const file = openSync(this.#newPath, "wx", 0o600);
      const before = this.#file;
      this.#file = file;
      if (before !== undefined) closeSync(before);
      for (const words of parts) this.#write(file, words);
      if (this.#ports.isForDisk) fdatasyncSync(file);
      renameSync(this.#newPath, this.#path);
      if (this.#ports.isForDisk) syncFolder(dirname(this.#path));
    });
  }

  get #newPath(): string {
    return `${this.#path}.new`;
  }

  #write(file: number, { buffer, byteOffset, byteLength }: Int32Array): void {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    for (let at = 0; at < bytes.length; ) at += this.#ports.write(file, bytes, at);
  }

  #attempt(work: () => void): void {
    if (this.#isGivenUp) return;
    try {
      work();
    } catch (error) {
      this.#isGivenUp = true;
      this.#remove();
      this.#ports.gaveUp(describeSystemError(error));
    }
  }

  #remove(): void {
    try {
      if (this.#file !== undefined) closeSync(this.#file);
      rmSync(this.#newPath, { force: true });
      rmSync(this.#path, { force: true });
    } catch {
      // Whoever starts the next process has been told not to have it read.
    }
  }
}
