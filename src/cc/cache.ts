/**
 * Results of compiles and links, kept under the hash of everything they were made of. An entry is written beside its place
 * and renamed, so it is whole or absent; each carries a checksum, and one that does not fit counts as absent. What was used
 * least recently goes first when there is too much.
 *
 * Programs are kept a second time as plain files, because ranks load them by name: `module` gives it.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { deserialize, serialize } from "node:v8";

/** What a tool made, and what it said while it did. */
export interface CacheEntry {
  readonly output: Uint8Array;
  readonly stderr: Uint8Array;
  readonly dependencies?: Uint8Array | undefined;
}

export interface CacheOptions {
  readonly bytesMax?: number;
  readonly shipped?: string;
}

const bytesMaxDefault = 2 ** 30;
/** How exactly the time of the last use is kept: writing it at each use would cost more than it tells. */
const useMs = 60_000;
/** Drafts that are older belong to nobody any more. */
const draftMs = 60 * 60_000;
const checksumBytes = 32;

export class Cache {
  readonly folder: string;
  readonly #bytesMax: number;
  readonly #shipped: string | undefined;

  /** `shipped` is a folder with entries that came with us; nothing is written there. */
  constructor(folder: string, { bytesMax = bytesMaxDefault, shipped }: CacheOptions = {}) {
    this.folder = folder;
    this.#bytesMax = bytesMax;
    this.#shipped = shipped;
  }

  get(key: string): CacheEntry | undefined {
    const shipped = this.#shipped === undefined ? undefined : readEntry(entryPath(this.#shipped, key));
    if (shipped !== undefined) return shipped;
    const path = entryPath(this.folder, key);
    const entry = readEntry(path);
    if (entry === undefined) rmSync(path, { force: true });
    else touch(path);
    return entry;
  }

  /** A disk that is full or not ours to write is no reason to fail: the result is there, only not kept. */
  put(key: string, entry: CacheEntry): void {
    const body = serialize(entry);
    try {
      this.#write(entryPath(this.folder, key), Buffer.concat([digest(body), body]));
    } catch (error) {
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }

  /** A file with these bytes, named by their hash; made, or mended, when it is not there as it should be. */
  module(bytes: Uint8Array): string {
    const hash = digest(bytes);
    const path = join(this.folder, "modules", `${hash.toString("hex")}.wasm`);
    const there = readOrNothing(path);
    if (there !== undefined && digest(there).equals(hash)) touch(path);
    else this.#write(path, bytes);
    return path;
  }

  /** Removes what was used least recently until the rest fits. Somebody else may be doing the same: nothing is ever missing. */
  sweep(): void {
    const files = ["entries", "modules"].flatMap((part) => filesBelow(join(this.folder, part)));
    files.sort((a, b) => b.usedMs - a.usedMs);
    let bytes = 0;
    for (const { path, size, usedMs } of files) {
      const isDraft = /\.draft-[^/]*$/.test(path) && Date.now() - usedMs > draftMs;
      bytes += size;
      if (bytes > this.#bytesMax || isDraft) rmSync(path, { force: true });
    }
  }

  #write(path: string, bytes: Uint8Array): void {
    const draft = `${path}.draft-${process.pid}-${draftCount++}`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(draft, bytes);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }
}

let draftCount = 0;

function entryPath(folder: string, key: string): string {
  return join(folder, "entries", key.slice(0, 2), key.slice(2));
}

/** Undefined when it is not there, or not as it was written. */
function readEntry(path: string): CacheEntry | undefined {
  const bytes = readOrNothing(path);
  const body = bytes?.subarray(checksumBytes);
  if (bytes === undefined || body === undefined) return undefined;
  return digest(body).equals(bytes.subarray(0, checksumBytes)) ? (deserialize(body) as CacheEntry) : undefined;
}

/** `$BANYAN_CACHE`, or where the desktop's standard says. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const { BANYAN_CACHE, XDG_CACHE_HOME } = environment;
  // Whole: the server, which lives longer, is elsewhere.
  if (BANYAN_CACHE) return resolve(BANYAN_CACHE);
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "banyan");
}

/** A name for everything that a result depends on. */
export function keyOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    // Lengths keep "ab" + "c" and "a" + "bc" apart.
    hash.update(`${part.length}:`).update(part);
  }
  return hash.digest("hex");
}

export function digest(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function touch(path: string): void {
  try {
    const now = new Date();
    if (now.getTime() - statSync(path).mtimeMs > useMs) utimesSync(path, now, now);
  } catch {
    // It was swept away meanwhile; its contents are ours already.
  }
}

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function filesBelow(folder: string): { path: string; size: number; usedMs: number }[] {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry);
    const status = statSync(path, { throwIfNoEntry: false });
    return status?.isFile() ? [{ path, size: status.size, usedMs: status.mtimeMs }] : [];
  });
}
