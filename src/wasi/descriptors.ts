/**
 * Open files of a program. A descriptor is a plain record, so that an image can hold it: the file, its open mode, the program's
 * position. Every life opens the system's own descriptor anew, at the first use; reads and writes pass their position, so the
 * system's descriptor needs none.
 */
import { lives } from "../core/base/saved-classes.ts";
import { Errno, WasiError } from "./errno.ts";
import type { ProgramFolder } from "./paths.ts";
import type { Files, OpenHow } from "./ports.ts";

type DescriptorKind = "input" | "output" | "file" | "directory";

export interface Descriptor {
  readonly kind: DescriptorKind;
  /** The system's path; empty for standard streams. */
  path: string;
  /** The program's name of a folder that it was given at the start; empty for all other files. */
  readonly given: string;
  readonly how: OpenHow;
  position: number;
  /** Flags in the form of `fd_fdstat_set_flags`. */
  flags: number;
}

const nothing: OpenHow = {
  read: false,
  write: false,
  create: false,
  exclusive: false,
  truncate: false,
  append: false,
};

export class Descriptors {
  static readonly unsaved = { open: null };
  private readonly files: Files;
  private readonly table: (Descriptor | undefined)[] = [];
  /** The system's descriptors, as far as they are open. */
  private readonly open = new Map<Descriptor, number>();

  /** `folders`: the folders given to the program, under the program's names. */
  constructor(files: Files, folders: readonly ProgramFolder[]) {
    this.files = files;
    this.add({ kind: "input", path: "", given: "", how: { ...nothing, read: true }, position: 0, flags: 0 });
    for (let stream = 1; stream <= 2; stream++) {
      this.add({ kind: "output", path: "", given: "", how: { ...nothing, write: true }, position: 0, flags: 0 });
    }
    for (const { name, path } of folders) {
      this.add({ kind: "directory", path, given: name, how: nothing, position: 0, flags: 0 });
    }
  }

  /** The given folders that the program has not closed. */
  folders(): ProgramFolder[] {
    return this.table.flatMap((descriptor) =>
      descriptor === undefined || descriptor.given === "" ? [] : [{ name: descriptor.given, path: descriptor.path }],
    );
  }

  /** All descriptors, by their numbers. */
  all(): readonly (Descriptor | undefined)[] {
    return this.table;
  }

  get(fd: number): Descriptor {
    const descriptor = this.table[fd];
    if (descriptor === undefined) throw new WasiError(Errno.BADF);
    return descriptor;
  }

  /** The descriptor of a file or folder that the program has opened, or was given. */
  onDisk(fd: number): Descriptor {
    const descriptor = this.get(fd);
    if (descriptor.path === "") throw new WasiError(Errno.SPIPE);
    return descriptor;
  }

  file(fd: number): Descriptor {
    const descriptor = this.onDisk(fd);
    if (descriptor.kind !== "file") throw new WasiError(Errno.ISDIR);
    return descriptor;
  }

  directory(fd: number): Descriptor {
    const descriptor = this.get(fd);
    if (descriptor.kind !== "directory") throw new WasiError(Errno.NOTDIR);
    return descriptor;
  }

  add(descriptor: Descriptor): number {
    let fd = this.table.indexOf(undefined);
    if (fd < 0) fd = this.table.length;
    this.table[fd] = descriptor;
    return fd;
  }

  /** Adds a file that has been opened: its system descriptor exists already. */
  addOpen(descriptor: Descriptor, handle: number): number {
    this.open.set(descriptor, handle);
    return this.add(descriptor);
  }

  close(fd: number): void {
    const descriptor = this.get(fd);
    this.table[fd] = undefined;
    const handle = this.open.get(descriptor);
    this.open.delete(descriptor);
    if (handle !== undefined) this.files.close(handle);
  }

  /** `to`, which must be open, becomes what `from` was: fd_renumber. */
  move(from: number, to: number): void {
    const descriptor = this.get(from);
    this.get(to);
    if (from === to) return;
    this.close(to);
    this.table[to] = descriptor;
    this.table[from] = undefined;
  }

  /** Files were renamed: changes the paths of those that are open. */
  renamed(from: string, to: string): void {
    for (const descriptor of this.table) {
      if (descriptor === undefined || descriptor.kind !== "file") continue;
      if (descriptor.path === from) descriptor.path = to;
      else if (descriptor.path.startsWith(`${from}/`)) descriptor.path = to + descriptor.path.slice(from.length);
    }
  }

  /**
   * Called before an image is taken: notes the length of files that are appended to, which they must have again after a
   * restore.
   */
  beforeSave(): void {
    if (this.files.isReplayed) return;
    for (const descriptor of this.table) {
      if (descriptor !== undefined && isAppended(descriptor)) {
        descriptor.position = Number(this.files.statOpen(this.handle(descriptor)).size);
      }
    }
  }

  afterRestore(): void {
    if (this.files.isReplayed) return;
    for (const descriptor of this.table) {
      if (descriptor === undefined || !isAppended(descriptor)) continue;
      try {
        this.files.truncate(this.handle(descriptor), descriptor.position);
      } catch (error) {
        const why = error instanceof Error ? error.message : "the system refuses";
        throw new Error(`Cannot go on: the program appends to "${descriptor.path}", and now: ${why}`);
      }
    }
  }

  /** The system's descriptor. */
  handle(descriptor: Descriptor): number {
    const known = this.open.get(descriptor);
    if (known !== undefined) return known;
    const how = { ...descriptor.how, create: false, exclusive: false, truncate: false };
    const handle = this.files.reopen(descriptor.path, how);
    this.open.set(descriptor, handle);
    return handle;
  }
}

/** In the form of `fd_fdstat_set_flags`. */
export const APPEND = 1;

const isAppended = ({ kind, flags }: Descriptor): boolean => kind === "file" && (flags & APPEND) !== 0;

lives({ Descriptors });
