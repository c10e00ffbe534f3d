/** Access modes of MPI_File_open: MPI 5.0 §14.2.1, the ABI's values. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { OpenHow } from "../../wasi/ports.ts";

export const Mode = {
  APPEND: 1,
  CREATE: 2,
  DELETE_ON_CLOSE: 4,
  EXCL: 8,
  RDONLY: 16,
  RDWR: 32,
  SEQUENTIAL: 64,
  UNIQUE_OPEN: 128,
  WRONLY: 256,
} as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

const all = Object.values(Mode).reduce((sum, mode) => sum | mode, 0);

export const modeHas = (modes: number, mode: Mode): boolean => (modes & mode) !== 0;

export function checkMode(modes: number): void {
  const accesses = [Mode.RDONLY, Mode.RDWR, Mode.WRONLY].filter((mode) => modeHas(modes, mode)).length;
  if ((modes & ~all) !== 0) refuse(modes, "it has bits that mean nothing");
  if (accesses !== 1) refuse(modes, "it must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if (modeHas(modes, Mode.RDONLY) && (modes & (Mode.CREATE | Mode.EXCL)) !== 0) {
    refuse(modes, "MPI_MODE_RDONLY cannot go with MPI_MODE_CREATE or MPI_MODE_EXCL");
  }
  if (modeHas(modes, Mode.RDWR) && modeHas(modes, Mode.SEQUENTIAL)) {
    refuse(modes, "MPI_MODE_RDWR cannot go with MPI_MODE_SEQUENTIAL");
  }
}

function refuse(modes: number, why: string): never {
  throw new MpiError(ErrorClass.AMODE, `Cannot open a file with mode ${modes}: ${why}`);
}

/** `isFirst`: of the members that open the file together one creates it, and the others find it. */
export function howToOpen(modes: number, isFirst: boolean): OpenHow {
  const create = isFirst && modeHas(modes, Mode.CREATE);
  return {
    read: !modeHas(modes, Mode.WRONLY),
    write: !modeHas(modes, Mode.RDONLY),
    create,
    exclusive: create && modeHas(modes, Mode.EXCL),
    truncate: false,
    append: false,
  };
}
