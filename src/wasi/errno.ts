/** Error numbers of WASI preview 1, and the mapping from the system's errors. */
export const Errno = {
  SUCCESS: 0,
  ACCES: 2,
  AGAIN: 6,
  BADF: 8,
  BUSY: 10,
  DQUOT: 19,
  EXIST: 20,
  FAULT: 21,
  FBIG: 22,
  ILSEQ: 25,
  INTR: 27,
  INVAL: 28,
  IO: 29,
  ISDIR: 31,
  LOOP: 32,
  MFILE: 33,
  MLINK: 34,
  NAMETOOLONG: 37,
  NFILE: 41,
  NOENT: 44,
  NOSPC: 51,
  NOSYS: 52,
  NOTDIR: 54,
  NOTEMPTY: 55,
  NOTSUP: 58,
  PERM: 63,
  PIPE: 64,
  ROFS: 69,
  SPIPE: 70,
  XDEV: 75,
  NOTCAPABLE: 76,
} as const;
export type Errno = (typeof Errno)[keyof typeof Errno];

/** Thrown by the calls in this folder: the program gets the number. */
export class WasiError extends Error {
  readonly errno: Errno;
  constructor(errno: Errno) {
    super(`WASI error ${errno}`);
    this.errno = errno;
  }
}

/** The number for an error that a call threw; an error that is not the system's is a bug of Banyan and is thrown again. */
export function errnoOf(error: unknown): Errno {
  if (error instanceof WasiError) return error.errno;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  // Errors of Node itself: a number or a name that no system call takes.
  if (code === "ERR_OUT_OF_RANGE" || code === "ERR_INVALID_ARG_VALUE") return Errno.INVAL;
  if (!/^E[A-Z]+$/.test(code)) throw error;
  const name = code.slice(1);
  return name in Errno ? Errno[name as keyof typeof Errno] : Errno.IO;
}
