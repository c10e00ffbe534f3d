/** The needs of the C library's calls: implemented by real/c-rank/c-library.ts and sim/c/library.ts. */

/** The system's description of a file. Times are nanoseconds. */
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
 * The file system below the folders that a program is given. Paths are the system's own, absolute. Links are followed on the
 * way to the last component and never there: `resolve` follows those. Every call refuses a path that leads out of the folders
 * with "ENOTCAPABLE", whatever an earlier call found: others may place a link anywhere at any moment. Errors are thrown as the
 * system's (`code` "ENOENT" …).
 */
export interface Files {
  /** Does a later life find every file as the life before left it, with a record of the answers that life got? */
  readonly isReplayed: boolean;
  open(path: string, how: OpenHow): number;
  /** Opens a file again that an image lists as open. */
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
  /**
   * The path without links and `..` in it; with `follow` its last component is no link either. The last component need not
   * exist.
   */
  resolve(path: string, follow: boolean): string;
}

/** Clocks, by the programs' numbers. The last two count the time of the process; here they are the same as the second. */
export const WasiClock = { REAL: 0, STEADY: 1, PROCESS: 2, THREAD: 3 } as const;

/** An unfinished sleep: plain data, part of an image. */
export interface Pause {
  /** In the time of `steadyTime`; 0: no sleep. */
  untilNs: bigint;
}

export interface Library {
  /** Distinguishes this run of the job from all others, also from runs of the same image; the same in all its processes. */
  readonly run: string;
  readonly args: readonly string[];
  /** NAME=value. */
  readonly environment: readonly string[];
  readonly files: Files;
  /** Nanoseconds; the first since 1970, the second since an arbitrary moment, never going back. */
  realTime(): bigint;
  steadyTime(): bigint;
  /** Included in `steadyTime`: a process that is restored or replayed continues with the time of its earlier life. */
  steadyShiftNs: bigint;
  random(bytes: Uint8Array): void;
  /** Waits until `steadyTime` reaches this. False: it has not, and the process must stop inside this call and make it again. */
  sleep(untilNs: bigint): boolean;
  yield(): void;
  /** Standard output (1) and error output (2). */
  write(stream: number, bytes: Uint8Array): void;
  /** Waits until `read` need not. False: the process must stop inside this call and make it again. */
  awaitInput(): boolean;
  /** Standard input: waits for at least one byte; 0 at its end. */
  read(bytes: Uint8Array): number;
  exit(code: number): never;
}
