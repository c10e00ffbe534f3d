/** What the C library's calls need of the world: real/node/c-library.ts, sim/c/library.ts. */

/** A file as the system tells of it. Times are nanoseconds. */
export interface FileStat {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly device: bigint;
  readonly inode: bigint;
  readonly links: bigint;
  readonly size: bigint;
  readonly accessed: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

export interface OpenHow {
  readonly read: boolean;
  readonly write: boolean;
  readonly create: boolean;
  readonly exclusive: boolean;
  readonly truncate: boolean;
  readonly append: boolean;
}

/**
 * The file system below the folders that a program is given. Paths are the system's own, whole. Links are followed on the way to the
 * last component and never there: `resolve` follows those. What leads out of the folders is refused by every call, with
 * "ENOTCAPABLE", whatever was found out before: others may put a link anywhere at any moment. Errors are thrown as the system's
 * (`code` "ENOENT" …).
 */
export interface Files {
  /** Does a later life find every file as the life before has left it, and know what that was told? */
  readonly isReplayed: boolean;
  open(path: string, how: OpenHow): number;
  /** What a life before had open, and an image says so. */
  reopen(path: string, how: OpenHow): number;
  close(file: number): void;
  read(file: number, bytes: Uint8Array, position: number): number;
  write(file: number, bytes: Uint8Array, position: number): number;
  sync(file: number): void;
  truncate(file: number, size: number): void;
  statOpen(file: number): FileStat;
  stat(path: string): FileStat;
  list(path: string): { readonly name: string; readonly kind: FileStat["kind"] }[];
  makeDirectory(path: string): void;
  removeDirectory(path: string): void;
  remove(path: string): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  symlink(target: string, path: string): void;
  readLink(path: string): string;
  setTimes(path: string, accessed: bigint, modified: bigint): void;
  /** The path without links and `..` in it; with `follow` its last component is no link either. That need not exist. */
  resolve(path: string, follow: boolean): string;
}

/** Clocks, as programs number them. The last two count the time of the process here, as the second does. */
export const WasiClock = { REAL: 0, STEADY: 1, PROCESS: 2, THREAD: 3 } as const;

/** A sleep that is not over: plain data, part of an image. */
export interface Pause {
  /** As `steadyTime` says it; 0: there is none. */
  untilNs: bigint;
}

export interface Library {
  /** Tells this run of the job from all others, also from those of the same image; the same in all its processes. */
  readonly run: string;
  readonly args: readonly string[];
  /** NAME=value. */
  readonly environment: readonly string[];
  readonly files: Files;
  /** Nanoseconds; the first since 1970, the second since some moment, never going back. */
  realTime(): bigint;
  steadyTime(): bigint;
  /** In `steadyTime` already: a process that is restored or replayed goes on with the time of its earlier life. */
  steadyShiftNs: bigint;
  random(bytes: Uint8Array): void;
  /** Waits until `steadyTime` is that. False: it is not, and the process shall stop inside this call and make it again. */
  sleep(untilNs: bigint): boolean;
  yield(): void;
  /** Standard output (1) and error output (2). */
  write(stream: number, bytes: Uint8Array): void;
  /** Standard input: waits for at least one byte; 0 at its end. */
  read(bytes: Uint8Array): number;
  exit(code: number): never;
}
