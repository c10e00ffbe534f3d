/**
 * The folders that a program is given, and every way to a file below them. A program in C may make links and rename folders at
 * any moment, and so may other ranks: a name that was examined is not trusted a moment later.
 *
 * A name is followed component by component: each folder on the way is held open (`O_PATH`), and the next component is looked
 * up in it as `/proc/self/fd/<folder>/<component>` with `O_NOFOLLOW`, as `openat` does, which Node lacks. The system never
 * follows a link: its text is read, and followed here, with the same care. A name that leads out of all given folders is
 * refused. The final action is done to the last component in a folder that is held open, by a call that follows no link.
 *
 * Limits: a hard link made by another user is a file of the folder. File systems that are mounted below a given folder belong
 * to it, except the kernel's own (kernel-files.ts).
 */
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { fileError, isFileError } from "./file-error.ts";
import { isKernels } from "./kernel-files.ts";

/** A folder under the program's name, and its path: absolute, without links. */
export interface GivenFolder {
  readonly name: string;
  readonly path: string;
}

/** The value on Linux; Node has no name for it. The descriptor stands for the file, and cannot be read or written. */
const O_PATH = 0o10000000;
const pinned = O_PATH | constants.O_NOFOLLOW;
/** As many links as Linux follows. */
const linksMax = 40;
/** As many bytes as Linux accepts. */
const pathCharactersMax = 4096;
/** Attempts while another process makes and removes the file all the time. */
const triesMax = 100;
/** Null, zero, full, random, urandom: opening them has no effect on others. */
const harmlessDevices: ReadonlySet<bigint> = new Set([0x103n, 0x105n, 0x107n, 0x108n, 0x109n]);

/** The end of a name: a component of a folder that is held open. */
interface Place {
  readonly folder: number;
  /** The folder is a given one, and stays open. */
  readonly isRoot: boolean;
  /** "." for the given folder itself. */
  readonly name: string;
  /** The absolute path, without links except perhaps its last component. */
  readonly path: string;
}

/** Called when a link has led out of the given folders: its maker may wonder about the error. */
export type OnLeaving = (path: string, target: string) => void;

export class GivenFolders {
  readonly #folders: readonly GivenFolder[];
  readonly #onLeaving: OnLeaving;
  /** Descriptors of given folders, by their paths. */
  readonly #roots = new Map<string, number>();

  constructor(folders: readonly GivenFolder[], onLeaving: OnLeaving = () => {}) {
    this.#folders = folders;
    this.#onLeaving = onLeaving;
  }

  /** Closes the folders themselves; files opened in them stay open. */
  close(): void {
    for (const root of this.#roots.values()) closeSync(root);
    this.#roots.clear();
  }

  /**
   * The path of a file without links and `..` in it; its last component need not exist. With `follow` that is no link either.
   */
  resolve(path: string, follow: boolean): string {
    const place = this.#walk(path, follow);
    release(place);
    return place.path;
  }

  /** Calls `act` with a name of the path's last component that leads there whatever happens meanwhile. */
  at<T>(path: string, act: (name: string) => T): T {
    const place = this.#walk(path, false);
    try {
      return act(nameOf(place));
    } finally {
      release(place);
    }
  }

  /**
   * Opens a file; flags are the system's. The last component of the path is not followed. The call never waits, and has no
   * effect on devices: anything but a file is refused before it is opened.
   */
  open(path: string, flags: number): number {
    const { O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW } = constants;
    const creates = (flags & O_CREAT) !== 0;
    const existing = (flags & ~(O_CREAT | O_EXCL)) | O_NOCTTY;
    for (let tries = 0; tries < triesMax; tries++) {
      const opened = this.at(path, (name) => {
        const file = pin(name);
        if (file === undefined) return creates ? create(name, flags | O_EXCL | O_NOFOLLOW) : undefined;
        try {
          if (creates && (flags & O_EXCL) !== 0) throw fileError("EEXIST", path);
          checkKind(file, path, creates);
          return openSync(pathOf(file), existing);
        } finally {
          closeSync(file);
        }
      });
      if (opened !== undefined) return opened;
      if (!creates) throw fileError("ENOENT", path);
      if ((flags & O_EXCL) !== 0) throw fileError("EEXIST", path);
    }
    throw fileError("EAGAIN", path);
  }

  list(path: string): Dirent[] {
    return this.at(path, (name) => {
      const folder = openSync(name, pinned | constants.O_DIRECTORY);
      try {
        if (isKernels(folder)) throw fileError("ENOTSUP", path);
        return readdirSync(pathOf(folder), { withFileTypes: true });
      } finally {
        closeSync(folder);
      }
    });
  }

  #walk(path: string, follow: boolean): Place {
    if (path.length > pathCharactersMax) throw fileError("ENAMETOOLONG", path);
    if (path.includes("\0")) throw fileError("EINVAL", path);
    const start = (whole: string): Start => this.#start(whole);
    return new Walk(start(path), { follow, start, path, onLeaving: this.#onLeaving }).toEnd();
  }

  /**
   * The given folder to start from, and the rest of the path. The outermost folder that contains the path: names mean what they
   * say.
   */
  #start(path: string): Start {
    const having = this.#folders.filter((folder) => isInside(path, folder.path));
    const [outermost] = having.sort((a, b) => a.path.length - b.path.length);
    if (outermost !== undefined) return this.#startIn(outermost, path.slice(outermost.path.length));
    const named = this.#folders.filter((folder) => folder.name.startsWith("/") && isInside(path, folder.name));
    const [longest] = named.sort((a, b) => b.name.length - a.name.length);
    if (longest === undefined) throw fileError("ENOTCAPABLE", path);
    return this.#startIn(longest, path.slice(longest.name.length));
  }

  #startIn({ path }: GivenFolder, rest: string): Start {
    let root = this.#roots.get(path);
    if (root === undefined) {
      root = openRoot(path);
      this.#roots.set(path, root);
    }
    return { root, path, parts: partsOf(rest) };
  }
}

/** A given folder that is held open, and the components to go from there. */
interface Start {
  readonly root: number;
  readonly path: string;
  readonly parts: readonly string[];
}

interface WalkOptions {
  readonly follow: boolean;
  /** Starts again with an absolute path. */
  start(path: string): Start;
  /** The program's name, for errors. */
  readonly path: string;
  readonly onLeaving: OnLeaving;
}

class Walk {
  readonly #options: WalkOptions;
  #start: Start;
  /** The current folder, below the start. */
  #folder: number;
  #done: string[] = [];
  #left: string[];
  #links = 0;

  constructor(start: Start, options: WalkOptions) {
    this.#options = options;
    this.#start = start;
    this.#folder = start.root;
    this.#left = [...start.parts].reverse();
  }

  /** The caller releases the folder of the place. */
  toEnd(): Place {
    try {
      for (;;) {
        const part = this.#left.pop();
        if (part === undefined) return this.#place(".");
        if (part === "..") this.#goUp();
        else if (this.#isEnd(part)) return this.#place(part);
      }
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Goes one component further; true at the end. */
  #isEnd(part: string): boolean {
    const isLast = this.#left.length === 0;
    if (isLast && !this.#options.follow) return true;
    const name = `${pathOf(this.#folder)}/${part}`;
    const next = pin(name);
    if (next === undefined) {
      if (isLast) return true;
      throw fileError("ENOENT", this.#options.path);
    }
    const status = fstatSync(next);
    if (status.isSymbolicLink()) {
      closeSync(next);
      this.#follow(name, part);
      return false;
    }
    if (isLast || !status.isDirectory()) {
      closeSync(next);
      if (isLast) return true;
      throw fileError("ENOTDIR", this.#options.path);
    }
    this.#leave();
    this.#folder = next;
    this.#done.push(part);
    return false;
  }

  /** The text of a link takes the link's place. */
  #follow(name: string, part: string): void {
    if (++this.#links > linksMax) throw fileError("ELOOP", this.#options.path);
    let target: string;
    try {
      target = readlinkSync(name);
    } catch (error) {
      // The component was a link a moment ago: examined again.
      if (!isFileError(error, "EINVAL", "ENOENT")) throw error;
      this.#left.push(part);
      return;
    }
    if (target.startsWith("/")) this.#startAgain(target);
    else this.#left.push(...partsOf(target).reverse());
  }

  #goUp(): void {
    let parent = parentOf(this.#path());
    for (; this.#left.at(-1) === ".."; this.#left.pop()) parent = parentOf(parent);
    this.#startAgain(parent);
  }

  /**
   * Continues from another folder. It need not be a given one if the rest leads into one: the way there has only names then,
   * which is right, because the path of a given folder has no links in it.
   */
  #startAgain(path: string): void {
    this.#leave();
    const whole = this.#left.reverse().reduce(join, path);
    try {
      this.#start = this.#options.start(whole);
    } catch (error) {
      if (this.#links > 0 && isFileError(error, "ENOTCAPABLE")) this.#options.onLeaving(this.#options.path, whole);
      throw error;
    }
    this.#folder = this.#start.root;
    this.#done = [];
    this.#left = [...this.#start.parts].reverse();
  }

  #place(name: string): Place {
    const isRoot = this.#folder === this.#start.root;
    if (isKernels(this.#folder)) throw fileError("ENOTSUP", this.#options.path);
    const path = name === "." ? this.#path() : join(this.#path(), name);
    return { folder: this.#folder, isRoot, name, path };
  }

  #path(): string {
    return this.#done.reduce(join, this.#start.path);
  }

  #leave(): void {
    const { root } = this.#start;
    if (this.#folder !== root) closeSync(this.#folder);
    this.#folder = root;
  }
}

const pathOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`;
const nameOf = ({ folder, name }: Place): string => `${pathOf(folder)}/${name}`;
const join = (folder: string, name: string): string => (folder === "/" ? `/${name}` : `${folder}/${name}`);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";
const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function release({ folder, isRoot }: Place): void {
  if (!isRoot) closeSync(folder);
}

/** A descriptor that stands for the file, of any kind; undefined: there is no file. */
function pin(name: string): number | undefined {
  try {
    return openSync(name, pinned);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Undefined: the file exists already. */
function create(name: string, flags: number): number | undefined {
  try {
    return openSync(name, flags, 0o666);
  } catch (error) {
    if (isFileError(error, "EEXIST")) return undefined;
    throw error;
  }
}

/** The kinds that may be opened: files, folders for listing, and harmless devices. */
function checkKind(file: number, path: string, creates: boolean): void {
  const status = fstatSync(file, { bigint: true });
  if (status.isSymbolicLink()) throw fileError("ELOOP", path);
  if (status.isDirectory()) {
    if (creates) throw fileError("EISDIR", path);
  } else if (!status.isFile() && !(status.isCharacterDevice() && harmlessDevices.has(status.rdev))) {
    throw fileError("ENOTSUP", path);
  }
  if (isKernels(file)) throw fileError("ENOTSUP", path);
}

/** Given folders are found without links: a link that was put into their way later is not followed. */
function openRoot(path: string): number {
  let folder = openSync("/", O_PATH | constants.O_DIRECTORY);
  try {
    for (const part of partsOf(path)) {
      const next = openSync(`${pathOf(folder)}/${part}`, pinned | constants.O_DIRECTORY);
      closeSync(folder);
      folder = next;
    }
    return folder;
  } catch (error) {
    closeSync(folder);
    throw isFileError(error, "ENOTDIR") ? fileError("ENOTCAPABLE", path) : error;
  }
}
