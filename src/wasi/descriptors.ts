/**
 * Open files of a program. A descriptor is a plain record, so that an image can hold it: which file, how it was opened, where
 * in it the program is. The system's own descriptor is opened when it is first needed, in every life anew; reads and writes say
 * their position, so the system need not know it.
 */
import { lives } from "../core/base/saved-classes.ts";
import { Errno, WasiError } from "./errno.ts";
import type { GivenFolder } from "./paths.ts";
import type { Files, OpenHow } from "./ports.ts";

type DescriptorKind = "input" | "output" | "file" | "directory";

export interface Descriptor {
  readonly kind: DescriptorKind;
  /** The system's path; empty for standard streams. */
  path: string;
  /** How the program names a folder it was given at the start; empty for all others. */
  readonly given: string;
  readonly how: OpenHow;
  position: number;
  /** Flags as `fd_fdstat_set_flags` sets them. */
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
  /** The system's descriptors of those that are open. */
  private readonly open = new Map<Descriptor, number>();

  /** `folders`: what the program is given, under the names by which it knows them. */
  constructor(files: Files, folders: readonly GivenFolder[]) {
    this.files = files;
    this.add({ kind: "input", path: "", given: "", how: { ...nothing, read: true }, position: 0, flags: 0 });
    for (let stream = 1; stream <= 2; stream++) {
      this.add({ kind: "output", path: "", given: "", how: { ...nothing, write: true }, position: 0, flags: 0 });
    }
    for (const { name, path } of folders) {
      this.add({ kind: "directory", path, given: name, how: nothing, position: 0, flags: 0 });
    }
  }

  /** What the program was given and has not closed. */
  folders(): GivenFolder[] {
    return this.table.flatMap((descriptor) =>
      descriptor === undefined || descriptor.given === "" ? [] : [{ name: descriptor.given, path: descriptor.path }],
    );
  }

  /** All of them, by their numbers. */
  all(): readonly (Descriptor | undefined)[] {
    return this.table;
  }

  get(fd: number): Descriptor {
    const descriptor = this.table[fd];
    if (descriptor === undefined) throw new WasiError(Errno.BADF);
    return descriptor;
  }

  /** Of a file or folder that the program has opened, or was given. */
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

  /** A file that has been opened: the system's descriptor is there already. */
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

  /** `to` is what `from` was: fd_renumber. */
  move(from: number, to: number): void {
    const descriptor = this.get(from);
    if (this.table[to] !== undefined) this.close(to);
    this.table[to] = descriptor;
    this.table[from] = undefined;
  }

  /** Files have other names now: those that are open among them. */
  renamed(from: string, to: string): void {
    for (const descriptor of this.table) {
      if (descriptor === undefined || descriptor.kind !== "file") continue;
      if (descriptor.path === from) descriptor.path = to;
      else if (descriptor.path.startsWith(`${from}/`)) descriptor.path = to + descriptor.path.slice(from.length);
    }
  }

  /** Before an image is taken: a file that is appended to is as long as it is now, and must be so again after a restore. */
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

/** As `fd_fdstat_set_flags` says it. */
export const APPEND = 1;

const isAppended = ({ kind, flags }: Descriptor): boolean => kind === "file" && (flags & APPEND) !== 0;

lives({ Descriptors });
