/**
 * Results of compiles and links, kept under the hash of everything they were made of. An entry is written beside its place
 * and renamed, so it is whole or absent; each carries a checksum, and one that does not fit counts as absent. What was used
 * least recently goes first when there is too much.
 *
 * Programs are kept a second time as plain files, because ranks load them by name: `module` gives it.
 *
 * What comes out of here is run, so nothing is taken that another user could have put in: a folder or file that is not this
 * user's alone counts as absent. That the folder itself is this user's, whoever opens it has checked (`open-workshop.ts`).
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { deserialize, serialize } from "node:v8";
import { isOwnFile, isOwnFolder } from "../trust/folder.ts";

/** What a tool made, and what it said while it did. */
interface CacheEntry {
  readonly output: Uint8Array;
  readonly stderr: Uint8Array;
  readonly dependencies?: Uint8Array | undefined;
}

interface CacheOptions {
  readonly bytesMax?: number;
  /** A folder with entries that came with us; nothing is written there. */
  readonly shipped?: string;
  /** Others may read what is written: it is going to be shipped. */
  readonly isForAll?: boolean;
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
  readonly #isForAll: boolean;

  constructor(folder: string, { bytesMax = bytesMaxDefault, shipped, isForAll = false }: CacheOptions = {}) {
    this.folder = folder;
    this.#bytesMax = bytesMax;
    this.#shipped = shipped;
    this.#isForAll = isForAll;
  }

  get(key: string): CacheEntry | undefined {
    const shipped = this.#shipped === undefined ? undefined : entryIn(readOrNothing(entryPath(this.#shipped, key)));
    if (shipped !== undefined) return shipped;
    const path = entryPath(this.folder, key);
    const entry = entryIn(this.#read(path));
    if (entry === undefined) rmSync(path, { force: true, recursive: true });
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
    const there = this.#read(path);
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
      mkdirSync(dirname(path), { recursive: true, mode: this.#isForAll ? 0o755 : 0o700 });
      if (!this.#isOwn(path)) throw new ForeignFolder(dirname(path));
      writeFileSync(draft, bytes, { flag: "wx", mode: this.#isForAll ? 0o644 : 0o600 });
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  /** Undefined when it is not there, or not ours. */
  #read(path: string): Buffer | undefined {
    return this.#isOwn(path) ? readOwn(path) : undefined;
  }

  /** Are all folders between this cache's and that file this user's alone? */
  #isOwn(path: string): boolean {
    for (let at = dirname(path); at.length > this.folder.length; at = dirname(at)) if (!isOwnFolder(at)) return false;
    return true;
  }
}

/** Looks like the system's own errors: for whoever asks it is one. */
class ForeignFolder extends Error {
  readonly code = "EPERM";
  readonly syscall = "open";

  constructor(folder: string) {
    super(`${folder} can be written by other users; remove it, or let BANYAN_CACHE name another folder`);
  }
}

let draftCount = 0;

function entryPath(folder: string, key: string): string {
  return join(folder, "entries", key.slice(0, 2), key.slice(2));
}

/** Undefined when there is none, or not as it was written. */
function entryIn(bytes: Buffer | undefined): CacheEntry | undefined {
  const body = bytes?.subarray(checksumBytes);
  if (bytes === undefined || body === undefined) return undefined;
  if (!digest(body).equals(bytes.subarray(0, checksumBytes))) return undefined;
  const entry = deserialize(body) as Partial<CacheEntry> | null;
  const isBytes = (part: unknown): boolean => part instanceof Uint8Array;
  const isWhole = isBytes(entry?.output) && isBytes(entry?.stderr);
  return isWhole && (entry?.dependencies === undefined || isBytes(entry.dependencies))
    ? (entry as CacheEntry)
    : undefined;
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

/** A file of this user's alone; never a link, and nobody waits for what is no file. */
function readOwn(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return isOwnFile(file) ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
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
