/**
 * The file system of a C program under a protocol that replays: every operation is done once, whichever life does it.
 *
 * What an operation came to is a choice (core/ft/choices.ts), so a life that lives again is told it and does nothing. Most come to
 * what was to be expected (a write wrote, an open opened): those are counted, not listed.
 *
 *   done again at worst     writes, truncations, opening with O_CREAT or O_TRUNC: a life that died before their count was
 *                           stable does them again, at the same places, before anything that came after
 *   once                    exclusive creation, mkdir, rmdir, unlink, rename, link, symlink: the operation is stable before it is done,
 *                           together with the facts that tell afterwards whether it was. For unlink, rename and link the number of
 *                           the file is one of them: another process may give the same name to another file meanwhile
 *   told                    sizes, folders, links, reads of files that have changed since the job began
 *
 * A read of a file that has not changed is counted and done again. A large read of a file that has is not kept but summed up: if
 * the file is another by then, the job ends and says so. Files are known by their names: one that is removed while it is
 * open cannot be opened again by a later life.
 */
import { assert } from "../../core/base/assert.ts";
import { bytesOfText, textOfBytes } from "../../core/base/byte-text.ts";
import { fnv1a } from "../../core/base/fnv-1a.ts";
import { ChoiceKind, type Choices } from "../../core/ft/choices.ts";
import { type Errno, errnoOf, WasiError } from "../../wasi/errno.ts";
import type { FileStat, Files, OpenHow } from "../../wasi/ports.ts";

export interface ReplayedFilesOptions {
  readonly files: Files;
  readonly choices: Choices;
  /** Returns when what is about to be changed may be seen. */
  mayLeave(): void;
  /** When the job began, in milliseconds since 1970: what has changed since may have been changed by it. */
  readonly beganMs: number;
}

/** Reads of files that change are kept up to this size. */
const keptBytesMax = 1 << 16;
/** The clocks of file systems are coarse. */
const marginMs = 1000;

interface Opened {
  path: string;
  readonly how: OpenHow;
  /** The system's; −1: this life has not needed it yet. */
  handle: number;
}

const FILE = ChoiceKind.FILE;

export class ReplayedFiles implements Files {
  readonly isReplayed = true;
  readonly #files: Files;
  readonly #choices: Choices;
  readonly #mayLeave: () => void;
  readonly #beganNs: bigint;
  readonly #opened = new Map<number, Opened>();
  #handles = 0;

  constructor({ files, choices, mayLeave, beganMs }: ReplayedFilesOptions) {
    this.#files = files;
    this.#choices = choices;
    this.#mayLeave = mayLeave;
    this.#beganNs = BigInt(Math.round(beganMs - marginMs)) * 1_000_000n;
  }

  // Open files

  open(path: string, how: OpenHow): number {
    let handle = -1;
    const open = (): null => {
      handle = this.#files.open(path, how);
      return null;
    };
    if (how.create && how.exclusive) {
      this.#once({ facts: () => [this.#exists(path)], isDone: ([was]) => was === 0 && this.#exists(path) === 1 }, open);
    } else if (how.create || how.truncate) this.#change(open);
    else this.#count(open);
    return this.#add(path, how, handle);
  }

  /** What a life before had open. */
  reopen(path: string, how: OpenHow): number {
    return this.#add(path, how, -1);
  }

  #add(path: string, how: OpenHow, handle: number): number {
    this.#opened.set(++this.#handles, { path, how, handle });
    return this.#handles;
  }

  close(file: number): void {
    const { handle } = this.#opened.get(file)!;
    this.#opened.delete(file);
    if (handle >= 0) this.#files.close(handle);
  }

  #handleOf(file: number): number {
    const opened = this.#opened.get(file)!;
    if (opened.handle >= 0) return opened.handle;
    const how = { ...opened.how, create: false, exclusive: false, truncate: false };
    try {
      opened.handle = this.#files.open(opened.path, how);
    } catch (error) {
      const why = error instanceof Error ? error.message : "it is gone";
      throw new Error(`Cannot go on: the program had "${opened.path}" open before its node was lost, and now: ${why}`);
    }
    return opened.handle;
  }

  read(file: number, bytes: Uint8Array, position: number): number {
    const known = this.#choices.replay(FILE);
    if (known === undefined) return this.#readNow(file, bytes, position);
    if (known === null) {
      const handle = this.#handleOf(file);
      if (this.#hasChanged(handle)) this.#cannotReplay(this.#pathOf(file));
      return this.#files.read(handle, bytes, position);
    }
    const [, got, isKept] = checked(known);
    if (isKept === 1) {
      bytes.set(bytesOfWords(known.slice(3), got!));
      return got!;
    }
    const again = bytes.subarray(0, got!);
    for (let done = 0; done < again.length; ) {
      const more = this.#files.read(this.#handleOf(file), again.subarray(done), position + done);
      if (more === 0) this.#cannotReplay(this.#pathOf(file));
      done += more;
    }
    if (fnv1a(again) !== known[3]) this.#cannotReplay(this.#pathOf(file));
    return got!;
  }

  #readNow(file: number, bytes: Uint8Array, position: number): number {
    const handle = this.#handleOf(file);
    const got = this.#failing(() => this.#files.read(handle, bytes, position));
    const read = bytes.subarray(0, got);
    if (!this.#hasChanged(handle)) this.#choices.nothing(FILE);
    else if (got <= keptBytesMax) this.#choices.made(FILE, [0, got, 1, ...wordsOfBytes(read)]);
    else this.#choices.made(FILE, [0, got, 0, fnv1a(read)]);
    return got;
  }

  #hasChanged(handle: number): boolean {
    return this.#isNew(this.#files.statOpen(handle));
  }

  #isNew({ modified, changed }: FileStat): boolean {
    return modified >= this.#beganNs || changed >= this.#beganNs;
  }

  #isGoneOrNew(path: string): boolean {
    return this.#exists(path) === 0 || this.#isNew(this.#files.stat(path));
  }

  #pathOf(file: number): string {
    return this.#opened.get(file)!.path;
  }

  #cannotReplay(path: string): never {
    throw new Error(
      `Cannot replay: "${path}", which the program read before its node was lost, has been changed since; reads of files that change are kept up to ${keptBytesMax >> 10} KiB at a time`,
    );
  }

  write(file: number, bytes: Uint8Array, position: number): number {
    let written = bytes.length;
    this.#change(
      () => {
        written = this.#files.write(this.#handleOf(file), bytes, position);
        return written === bytes.length ? null : [written];
      },
      ([fewer]) => {
        written = fewer!;
      },
    );
    return written;
  }

  truncate(file: number, size: number): void {
    this.#change(returning(() => this.#files.truncate(this.#handleOf(file), size)));
  }

  /** It changes nothing that a program can see. */
  sync(file: number): void {
    const { handle } = this.#opened.get(file)!;
    if (handle >= 0) this.#files.sync(handle);
  }

  statOpen(file: number): FileStat {
    return this.#told(() => this.#files.statOpen(this.#handleOf(file)));
  }

  // Names

  stat(path: string): FileStat {
    return this.#told(() => this.#files.stat(path));
  }

  list(path: string): ReturnType<Files["list"]> {
    const known = this.#choices.replay(FILE);
    if (known === null && this.#isGoneOrNew(path)) this.#cannotReplay(path);
    if (known === null) return this.#files.list(path);
    if (known !== undefined) return parse(textOfWords(checked(known).slice(1))) as ReturnType<Files["list"]>;
    const [entries, stat] = this.#failing(() => [this.#files.list(path), this.#files.stat(path)] as const);
    const words = wordsOfText(print(entries));
    if (!this.#isNew(stat)) this.#choices.nothing(FILE);
    else if (4 * words.length <= keptBytesMax) this.#choices.made(FILE, [0, ...words]);
    else {
      const state = `it has ${entries.length} entries and has changed since the job began`;
      throw new Error(
        `Cannot list "${path}": ${state}; up to ${keptBytesMax >> 10} KiB of names are kept for a replay`,
      );
    }
    return entries;
  }

  readLink(path: string): string {
    return this.#told(() => this.#files.readLink(path));
  }

  /** Mostly a path has no links in it, and is what it was. */
  resolve(path: string, follow: boolean): string {
    let resolved = path;
    this.#count(
      () => {
        resolved = this.#files.resolve(path, follow);
        return resolved === path ? null : wordsOfText(resolved);
      },
      (words) => {
        resolved = textOfWords(words);
      },
    );
    return resolved;
  }

  makeDirectory(path: string): void {
    this.#once(this.#appears(path), () => this.#files.makeDirectory(path));
  }

  removeDirectory(path: string): void {
    this.#once(this.#disappears(path), () => this.#files.removeDirectory(path));
  }

  remove(path: string): void {
    this.#once(this.#disappears(path), () => this.#files.remove(path));
  }

  link(from: string, to: string): void {
    // The name may be another file's at the decision, and free when the link is made.
    const isSame = (): boolean => {
      const [exists, low, high] = this.#numberOf(to);
      const [, fromLow, fromHigh] = this.#numberOf(from);
      return exists === 1 && low === fromLow && high === fromHigh;
    };
    const facts = () => [isSame() ? 1 : 0];
    const isDone = ([was]: readonly number[]): boolean => was === 0 && isSame();
    this.#once({ facts, isDone }, () => this.#files.link(from, to));
  }

  symlink(target: string, path: string): void {
    this.#once(this.#appears(path), () => this.#files.symlink(target, path));
  }

  /** A file keeps its number when it gets another name. */
  rename(from: string, to: string): void {
    const facts = () => this.#numberOf(from);
    const isDone = ([was, low, high]: readonly number[]): boolean => {
      const [, nowLow, nowHigh] = this.#numberOf(to);
      return was === 1 && nowLow === low && nowHigh === high && this.#exists(from) === 0;
    };
    this.#once({ facts, isDone }, () => this.#files.rename(from, to));
    for (const opened of this.#opened.values()) opened.path = renamed(opened.path, from, to);
  }

  setTimes(path: string, accessed: bigint, modified: bigint): void {
    this.#change(returning(() => this.#files.setTimes(path, accessed, modified)));
  }

  #exists(path: string): number {
    return this.#numberOf(path)[0];
  }

  #numberOf(path: string): [exists: number, low: number, high: number] {
    try {
      const { inode } = this.#files.stat(path);
      return [1, Number(BigInt.asIntN(32, inode)), Number(BigInt.asIntN(32, inode >> 32n))];
    } catch {
      return [0, 0, 0];
    }
  }

  #appears(path: string): Once {
    return { facts: () => [this.#exists(path)], isDone: ([was]) => was === 0 && this.#exists(path) === 1 };
  }

  /** Another file may have the name by then. */
  #disappears(path: string): Once {
    const isDone = ([was, low, high]: readonly number[]): boolean => {
      const [exists, nowLow, nowHigh] = this.#numberOf(path);
      return was === 1 && (exists === 0 || nowLow !== low || nowHigh !== high);
    };
    return { facts: () => this.#numberOf(path), isDone };
  }

  // Choices

  /** What `perform` throws is the program's error, in every life. */
  #failing<T>(perform: () => T): T {
    try {
      return perform();
    } catch (error) {
      this.#choices.made(FILE, [errnoOf(error)]);
      throw error;
    }
  }

  /** An operation that mostly comes to what was to be expected, null. */
  #count(perform: Perform, other: (words: readonly number[]) => void = () => {}): void {
    const known = this.#choices.replay(FILE);
    if (known === null) return;
    if (known !== undefined) {
      other(checked(known).slice(1));
      return;
    }
    const outcome = this.#failing(perform);
    if (outcome === null) this.#choices.nothing(FILE);
    else this.#choices.made(FILE, [0, ...outcome]);
  }

  /** The same for what others may see. */
  #change(perform: Perform, other?: (words: readonly number[]) => void): void {
    const performed = (): readonly number[] | null => {
      this.#mayLeave();
      return perform();
    };
    this.#count(performed, other);
  }

  /** Plain data. */
  #told<T>(look: () => T): T {
    const known = this.#choices.replay(FILE);
    if (known !== undefined) {
      assert(known !== null, "what a program is told is kept");
      return parse(textOfWords(checked(known).slice(1))) as T;
    }
    const seen = this.#failing(look);
    this.#choices.made(FILE, [0, ...wordsOfText(print(seen))]);
    return seen;
  }

  /** What is about to be done is stable before it is; a life that died in between finds out whether it was. */
  #once({ facts, isDone }: Once, perform: () => void): void {
    let before = this.#choices.replay(FILE);
    if (before === undefined) {
      before = facts();
      this.#choices.made(FILE, before);
    } else {
      assert(before !== null, "what is done once is kept");
      const known = this.#choices.replay(FILE);
      if (known !== undefined) {
        assert(known !== null, "what is done once has an outcome");
        checked(known);
        return;
      }
      if (isDone(before)) {
        this.#choices.made(FILE, [0]);
        return;
      }
    }
    this.#mayLeave();
    this.#failing(perform);
    this.#choices.made(FILE, [0]);
  }
}

/** What it came to; null: to what was to be expected. */
type Perform = () => readonly number[] | null;

const returning =
  (perform: () => void): Perform =>
  () => {
    perform();
    return null;
  };

interface Once {
  /** What tells afterwards whether it was done. */
  facts(): readonly number[];
  isDone(facts: readonly number[]): boolean;
}

/** Throws the error that it was. */
function checked(outcome: readonly number[]): readonly number[] {
  if (outcome[0] !== 0) throw new WasiError(outcome[0] as Errno);
  return outcome;
}

/** Where a file is, when `from` is called `to`. */
export function renamed(path: string, from: string, to: string): string {
  if (path === from) return to;
  return path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

const print = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === "bigint" ? { ns: String(each) } : each));

const parse = (text: string): unknown =>
  JSON.parse(text, (_, each) => (typeof each === "object" && each !== null && "ns" in each ? BigInt(each.ns) : each));

function wordsOfBytes(bytes: Uint8Array): number[] {
  const words = new Int32Array((bytes.length + 3) >> 2);
  new Uint8Array(words.buffer).set(bytes);
  return [...words];
}

function bytesOfWords(words: readonly number[], length: number): Uint8Array {
  return new Uint8Array(Int32Array.from(words).buffer, 0, length);
}

function wordsOfText(text: string): number[] {
  const bytes = bytesOfText(text);
  return [bytes.length, ...wordsOfBytes(bytes)];
}

function textOfWords([length, ...words]: readonly number[]): string {
  return textOfBytes(bytesOfWords(words, length!));
}
