/**
 * The store of a channel memory (core/ft/channel-memory/memory/segment-store.ts) as files of a folder, one for each segment. What a process has
 * written outlives it, because the operating system has it (ADR 19); forced to the disk, it outlives a power cut (ADR 52).
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
  writevSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { assert } from "../../core/base/assert.ts";
import { isFull } from "../../core/base/system-error.ts";
import type { SegmentStore, WrittenSegment } from "../../core/ft/channel-memory/memory/segment-store.ts";
import { syncFolder } from "../disk/sync-folder.ts";
import { type DirectWrite, openDirectWrite } from "./direct-write.ts";
import { openReserveRoom, type ReserveRoom } from "./reserve-room.ts";

/** Segments that are open for reading at a time, beside the present one. */
const openMax = 32;
const pieceBytesDefault = 1 << 20;
/** Tries to write to a full disk, less than a process may be silent. */
const fullTriesMax = 40;
const fullPauseMs = 10;
/** So much room is reserved at a time, for whoever writes much. */
const reservedBytes = 1 << 22;
/** Of one system call. */
const partsMax = 512;
const namePattern = /^segment-(\d+)$/;

export class SegmentFiles implements SegmentStore {
  readonly #folder: string;
  readonly #isForDisk: boolean;
  /** Descriptors by segment; the one that was used last is the last. */
  readonly #open = new Map<number, number>();
  #present = 0;
  #file = -1;
  /** Bytes of the present segment, and how many it has room for. */
  #bytes = 0;
  #room = 0;
  readonly #direct: DirectWrite | null;
  /** Null: not here, or not any more, because there was no room or it cannot be done. */
  #reserve: ReserveRoom | null;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));

  /** The folder is made if it is not there; files of a process before stay until they are dropped. `direct`: how few words are written; `reserve`: room for many. */
  constructor(
    folder: string,
    isForDisk = false,
    direct: DirectWrite | null = openDirectWrite(),
    reserve: ReserveRoom | null = openReserveRoom(),
  ) {
    this.#direct = direct;
    this.#reserve = reserve;
    this.#folder = folder;
    this.#isForDisk = isForDisk;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isForDisk) syncFolder(dirname(folder));
  }

  begin(segment: number): void {
    if (this.#file >= 0) {
      // What it does not need is free for others.
      if (this.#room > this.#bytes) ftruncateSync(this.#file, this.#bytes);
      this.#remember(this.#present, this.#file);
    }
    this.#bytes = 0;
    this.#room = 0;
    this.#file = openSync(this.#path(segment), "wx+", 0o600);
    this.#present = segment;
    if (this.#isForDisk) syncFolder(this.#folder);
  }

  append(parts: readonly Int32Array[]): void {
    const bytes = parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
    const count = bytes.reduce((sum, { length }) => sum + length, 0);
    this.#makeRoom(count);
    this.#bytes += count;
    for (let from = 0; from < bytes.length; from += partsMax) this.#writeAll(bytes.slice(from, from + partsMax));
    if (this.#isForDisk) fdatasyncSync(this.#file);
  }

  appendFirst(words: Int32Array, count: number): void {
    const bytes = 4 * count;
    this.#bytes += bytes;
    const written = this.#direct === null ? 0 : this.#direct(this.#file, words, bytes);
    if (written !== bytes) {
      const gone = Math.max(0, written);
      this.#writeAll([new Uint8Array(words.buffer, words.byteOffset + gone, bytes - gone)]);
    }
    if (this.#isForDisk) fdatasyncSync(this.#file);
  }

  /** A disk without so much room may have enough for what is written: that says so. */
  #makeRoom(bytes: number): void {
    const end = this.#bytes + bytes;
    if (this.#reserve === null || end <= this.#room) return;
    const from = Math.max(this.#room, this.#bytes);
    const room = Math.max(reservedBytes, end - from);
    if (this.#reserve(this.#file, from, room)) this.#room = from + room;
    else this.#reserve = null;
  }

  #writeAll(parts: readonly Uint8Array[]): void {
    let left = parts;
    while (left.length > 0) {
      let written = this.#write(left);
      if (left.length === 1 && written === left[0]!.length) return;
      left = left.flatMap((part) => {
        const gone = Math.min(written, part.length);
        written -= gone;
        return gone === part.length ? [] : [part.subarray(gone)];
      });
    }
  }

  /** A disk may be full for a moment: until the image of a checkpoint that had no room there is removed. Throws the system's errors. */
  #write(parts: readonly Uint8Array[]): number {
    for (let tries = fullTriesMax; ; tries--) {
      try {
        return parts.length === 1 ? writeSync(this.#file, parts[0]!) : writevSync(this.#file, parts);
      } catch (error) {
        if (tries === 0 || !(error instanceof Error && isFull(error))) throw error;
      }
      Atomics.wait(this.#never, 0, 0, fullPauseMs);
    }
  }

  read(segment: number, at: number, { buffer, byteOffset, byteLength }: Int32Array): void {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    const file = segment === this.#present ? this.#file : this.#fileOf(segment);
    for (let have = 0; have < bytes.length; ) {
      const count = readSync(file, bytes, have, bytes.length - have, 4 * at + have);
      assert(count > 0, `segment ${segment} ends before what was written to it`);
      have += count;
    }
  }

  cut(segment: number, byte: number): void {
    const file = openSync(this.#path(segment), "r+");
    try {
      ftruncateSync(file, byte);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  drop(segment: number): void {
    const file = this.#open.get(segment);
    this.#open.delete(segment);
    if (file !== undefined) closeSync(file);
    rmSync(this.#path(segment), { force: true });
  }

  /** What processes before this one have written, oldest first. */
  written(pieceBytes = pieceBytesDefault): WrittenSegment[] {
    const numbers = readdirSync(this.#folder).flatMap((name) => Number(namePattern.exec(name)?.[1] ?? []));
    numbers.sort((a, b) => a - b);
    return numbers.map((number) => ({ number, pieces: piecesOf(this.#path(number), pieceBytes) }));
  }

  end(): void {
    if (this.#file >= 0) closeSync(this.#file);
    for (const file of this.#open.values()) closeSync(file);
    this.#open.clear();
    this.#file = -1;
  }

  #fileOf(segment: number): number {
    const file = this.#open.get(segment) ?? openSync(this.#path(segment), "r");
    this.#open.delete(segment);
    this.#remember(segment, file);
    return file;
  }

  #remember(segment: number, file: number): void {
    this.#open.set(segment, file);
    if (this.#open.size <= openMax) return;
    const [oldest, itsFile] = this.#open.entries().next().value as [number, number];
    this.#open.delete(oldest);
    closeSync(itsFile);
  }

  #path(segment: number): string {
    return join(this.#folder, `segment-${segment}`);
  }
}

function* piecesOf(path: string, pieceBytes: number): Generator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    const piece = new Uint8Array(pieceBytes);
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) yield piece.subarray(0, count);
  } finally {
    closeSync(file);
  }
}
