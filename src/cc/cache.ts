/**
 * Results of compiles and links, kept under the hash of everything they depend on. An entry is written beside its place and
 * renamed, so an entry is whole or absent; each has a checksum, and an entry with a wrong one counts as absent. The least
 * recently used entries are removed first when the cache is too large.
 *
 * Programs are kept a second time as plain files, because ranks load them by name: `module` returns the name.
 *
 * Entries are run as programs, so nothing is used that another user could have written: a folder or file that does not belong
 * to this user alone counts as absent. The caller that opens the cache has checked that the folder itself is this user's
 * (`open-workshop.ts`).
 */
import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { deserialize, serialize } from "node:v8";
import { isOwnFile, isOwnFolder } from "../trust/folder.ts";
import { makeFolder } from "../trust/make-folder.ts";
import { isDiskTrouble } from "./disk-trouble.ts";

/** The output of a tool, and its messages. */
interface CacheEntry {
  readonly output: Uint8Array;
  readonly stderr: Uint8Array;
  readonly dependencies?: Uint8Array | undefined;
}

interface CacheOptions {
  readonly bytesMax?: number;
  /** A folder with entries that were shipped with Banyan; nothing is written there. */
  readonly shipped?: string;
  /** Others may read the entries: they are going to be shipped. */
  readonly isForAll?: boolean;
}

const bytesMaxDefault = 2 ** 30;
/** Resolution of the time of the last use: writing it at each use would cost more than it is worth. */
const useMs = 60_000;
/** Older drafts have no writer any more. */
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
    if (entry === undefined) removeIfPossible(path);
    else touch(path);
    return entry;
  }

  /** A full disk, or one without the right to write, is no failure: the result exists, it is just not kept. */
  put(key: string, entry: CacheEntry): void {
    const body = serialize(entry);
    try {
      this.#write(entryPath(this.folder, key), Buffer.concat([digest(body), body]));
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
    }
  }

  /** A file with these bytes, named by their hash; written, or repaired, where it is missing or damaged. */
  module(bytes: Uint8Array): string {
    const hash = digest(bytes);
    const path = join(this.folder, "modules", `${hash.toString("hex")}.wasm`);
    const there = this.#read(path);
    if (there !== undefined && digest(there).equals(hash)) touch(path);
    else this.#write(path, bytes);
    return path;
  }

  /**
   * Removes the least recently used entries until the rest fits. Another process may do the same: no entry in use goes missing.
   */
  sweep(): void {
    const files = ["entries", "modules"].flatMap((part) => filesBelow(join(this.folder, part)));
    files.sort((a, b) => b.usedMs - a.usedMs);
    let bytes = 0;
    for (const { path, size, usedMs } of files) {
      const isDraft = /\.draft-[^/]*$/.test(path) && Date.now() - usedMs > draftMs;
      bytes += size;
      if (bytes > this.#bytesMax || isDraft) removeIfPossible(path);
    }
  }

  #write(path: string, bytes: Uint8Array): void {
    const draft = `${path}.draft-${process.pid}-${draftCount++}`;
    try {
      makeFolder(dirname(path), this.#isForAll ? 0o755 : 0o700);
      if (!this.#isOwn(path)) throw new ForeignFolder(dirname(path));
      writeFileSync(draft, bytes, { flag: "wx", mode: this.#isForAll ? 0o644 : 0o600 });
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  /** Undefined when the file is missing, or not this user's alone. */
  #read(path: string): Buffer | undefined {
    return this.#isOwn(path) ? readOwn(path) : undefined;
  }

  /** Do all folders between this cache's folder and that file belong to this user alone? */
  #isOwn(path: string): boolean {
    for (let at = dirname(path); at.length > this.folder.length; at = dirname(at)) if (!isOwnFolder(at)) return false;
    return true;
  }
}

/** Has the form of the system's errors, so that callers treat it as one. */
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

/** Undefined when the entry is missing or damaged. */
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

/** `$BANYAN_CACHE`, or the place that the desktop's standard prescribes, or a temporary one where that cannot be made. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  return cachePlace(environment).folder;
}

interface CachePlace {
  readonly folder: string;
  /** A line for the user, where it is not where it should be; otherwise empty. */
  readonly note: string;
}

export function cachePlace({ BANYAN_CACHE, XDG_CACHE_HOME }: NodeJS.ProcessEnv): CachePlace {
  // Absolute: the server, which lives longer, has another working folder.
  if (BANYAN_CACHE) return { folder: resolve(BANYAN_CACHE), note: "" };
  if (XDG_CACHE_HOME) return { folder: join(XDG_CACHE_HOME, "banyan"), note: "" };
  const usual = join(homeOf(), ".cache/banyan");
  if (canBeMade(usual)) return { folder: usual, note: "" };
  const folder = join(tmpdir(), `banyan-cache-${process.geteuid?.() ?? 0}`);
  const note = `${usual} cannot be written: what is compiled is kept in ${folder}; BANYAN_CACHE may name another folder`;
  return { folder, note };
}

/** A user whom the system does not know has none. */
function homeOf(): string {
  try {
    return homedir();
  } catch {
    return "/nonexistent";
  }
}

/** May this user write to the folder, or to the one in which it would be made? */
function canBeMade(folder: string): boolean {
  try {
    let at = folder;
    while (statSync(at, { throwIfNoEntry: false }) === undefined) at = dirname(at);
    accessSync(at, constants.W_OK);
    return statSync(at).isDirectory();
  } catch {
    return false;
  }
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
    // The entry was removed meanwhile; its contents are in memory already.
  }
}

/** An entry that cannot be removed is not used either. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true, recursive: true });
  } catch {
    // A folder in which this user may not write, a disk that is read-only.
  }
}

/** Opens a file of this user's alone; never a link, and never something to wait for, such as a pipe. */
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
