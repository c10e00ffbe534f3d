/**
 * The disk as MPI's files see it: the folders that the program was given, through the port and the descriptors of its C library,
 * with errors as MPI has them.
 */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Descriptors } from "../../wasi/descriptors.ts";
import { Errno, errnoOf } from "../../wasi/errno.ts";
import { pathOfName } from "../../wasi/paths.ts";
import type { Files, OpenHow } from "../../wasi/ports.ts";

const classes: Readonly<Partial<Record<Errno, readonly [errorClass: number, state: string]>>> = {
  [Errno.NOENT]: [ErrorClass.NO_SUCH_FILE, "there is no such file"],
  [Errno.EXIST]: [ErrorClass.FILE_EXISTS, "it exists already"],
  [Errno.ACCES]: [ErrorClass.ACCESS, "permission denied"],
  [Errno.PERM]: [ErrorClass.ACCESS, "permission denied"],
  [Errno.NOTCAPABLE]: [ErrorClass.ACCESS, "it is in no folder that the program was given; --dir gives one"],
  [Errno.NOTSUP]: [ErrorClass.ACCESS, "it is neither a file nor a folder, or it is the kernel's (/proc, /sys)"],
  [Errno.ROFS]: [ErrorClass.READ_ONLY, "the file system is read-only"],
  [Errno.ISDIR]: [ErrorClass.BAD_FILE, "it is a folder"],
  [Errno.NOTDIR]: [ErrorClass.BAD_FILE, "a part of its name is no folder"],
  [Errno.NAMETOOLONG]: [ErrorClass.BAD_FILE, "its name is too long"],
  [Errno.ILSEQ]: [ErrorClass.BAD_FILE, "its name is not UTF-8"],
  [Errno.INVAL]: [ErrorClass.BAD_FILE, "the system does not take it"],
  [Errno.LOOP]: [ErrorClass.BAD_FILE, "links lead in a circle"],
  [Errno.NOSPC]: [ErrorClass.NO_SPACE, "there is no space left"],
  [Errno.DQUOT]: [ErrorClass.QUOTA, "the quota is used up"],
  [Errno.FBIG]: [ErrorClass.NO_SPACE, "it would be too large"],
  [Errno.BADF]: [ErrorClass.FILE, "the program has closed its descriptor"],
};

interface ProgramFilesOptions {
  readonly files: Files;
  readonly descriptors: Descriptors;
  /** Tells this run from all others. */
  readonly run: string;
}

export class ProgramFiles {
  readonly run: string;
  readonly #files: Files;
  readonly #descriptors: Descriptors;

  constructor({ files, descriptors, run }: ProgramFilesOptions) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.run = run;
  }

  /** See `Files`. */
  get isReplayed(): boolean {
    return this.#files.isReplayed;
  }

  /** The system's path of a file that the program names. */
  pathOf(name: string): string {
    if (name === "") throw new MpiError(ErrorClass.BAD_FILE, "Cannot use a file without a name");
    return saying("find", name, () => pathOfName(this.#files, this.#descriptors.folders(), name));
  }

  /** A descriptor of the program's. */
  open(path: string, how: OpenHow): number {
    return saying("open", path, () => {
      const handle = this.#files.open(path, how);
      const { kind } = this.#files.statOpen(handle);
      const file = { kind: "file", path, given: "", how, position: 0, flags: 0 } as const;
      const descriptor = this.#descriptors.addOpen(file, handle);
      if (kind !== "directory") return descriptor;
      this.#descriptors.close(descriptor);
      throw new MpiError(ErrorClass.BAD_FILE, `Cannot open "${path}": it is a folder`);
    });
  }

  close(descriptor: number): void {
    this.#on("close", descriptor, () => this.#descriptors.close(descriptor));
  }

  /** Fewer bytes than asked for only at the end of the file. */
  read(descriptor: number, bytes: Uint8Array, position: number): number {
    return this.#on("read", descriptor, (handle) => {
      let done = 0;
      while (done < bytes.length) {
        const got = this.#files.read(handle, bytes.subarray(done), position + done);
        if (got === 0) break;
        done += got;
      }
      return done;
    });
  }

  write(descriptor: number, bytes: Uint8Array, position: number): number {
    return this.#on("write", descriptor, (handle) => {
      let done = 0;
      while (done < bytes.length) done += this.#files.write(handle, bytes.subarray(done), position + done);
      return done;
    });
  }

  size(descriptor: number): number {
    return this.#on("measure", descriptor, (handle) => Number(this.#files.statOpen(handle).size));
  }

  setSize(descriptor: number, size: number): void {
    this.#on("set the size of", descriptor, (handle) => this.#files.truncate(handle, size));
  }

  sync(descriptor: number): void {
    this.#on("sync", descriptor, (handle) => this.#files.sync(handle));
  }

  remove(path: string): void {
    saying("delete", path, () => this.#files.remove(path));
  }

  // Small files of our own, whole

  /** Removed if it is there; where nothing can be removed nothing can have been made. */
  forget(path: string): void {
    try {
      this.remove(path);
    } catch (error) {
      if (!isClass(error, ErrorClass.NO_SUCH_FILE) && !isClass(error, ErrorClass.READ_ONLY)) throw error;
    }
  }

  /** False: it is there already. */
  create(path: string): boolean {
    try {
      const how = { read: false, write: true, create: true, exclusive: true, truncate: false, append: false };
      saying("create", path, () => this.#files.close(this.#files.open(path, how)));
      return true;
    } catch (error) {
      if (isClass(error, ErrorClass.FILE_EXISTS)) return false;
      throw error;
    }
  }

  /** Gives the file `own` that second name; it is made if it is not there. False: the name is another file's. */
  linkTo(path: string, own: string): boolean {
    try {
      saying("link", path, () => this.#files.link(own, path));
      return true;
    } catch (error) {
      if (isClass(error, ErrorClass.FILE_EXISTS)) return false;
      // A file system without second names.
      if (isClass(error, ErrorClass.ACCESS)) return this.create(path);
      if (!isClass(error, ErrorClass.NO_SUCH_FILE)) throw error;
    }
    this.writeNumber(own, 0);
    return this.linkTo(path, own);
  }

  /** Null: there is no such file. */
  readNumber(path: string): number | null {
    try {
      const how = { read: true, write: false, create: false, exclusive: false, truncate: false, append: false };
      return saying("read", path, () => {
        const handle = this.#files.open(path, how);
        const word = new Float64Array(1);
        const got = this.#files.read(handle, new Uint8Array(word.buffer), 0);
        this.#files.close(handle);
        return got === word.byteLength ? word[0]! : null;
      });
    } catch (error) {
      if (isClass(error, ErrorClass.NO_SUCH_FILE)) return null;
      throw error;
    }
  }

  writeNumber(path: string, value: number): void {
    const how = { read: false, write: true, create: true, exclusive: false, truncate: false, append: false };
    saying("write", path, () => {
      const handle = this.#files.open(path, how);
      this.#files.write(handle, new Uint8Array(Float64Array.of(value).buffer), 0);
      this.#files.close(handle);
    });
  }

  #on<T>(verb: string, descriptor: number, act: (handle: number) => T): T {
    const file = saying(verb, `descriptor ${descriptor}`, () => this.#descriptors.file(descriptor));
    return saying(verb, file.path, () => act(this.#descriptors.handle(file)));
  }
}

function saying<T>(verb: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof MpiError) throw error;
    const [errorClass, state] = classes[errnoOf(error)] ?? [ErrorClass.IO, messageOf(error)];
    throw new MpiError(errorClass, `Cannot ${verb} "${path}": ${state}`);
  }
}

const isClass = (error: unknown, errorClass: number): boolean => error instanceof MpiError && error.code === errorClass;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "the system says no more");

/** The program's disk; without one no file can be used. */
export function diskOf({ disk }: { readonly disk: ProgramFiles | null }): ProgramFiles {
  if (disk !== null) return disk;
  throw new MpiError(ErrorClass.ACCESS, "Cannot use files: this world has none");
}
