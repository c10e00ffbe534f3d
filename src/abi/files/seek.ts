/** Where MPI_File_seek and MPI_File_seek_shared lead to: MPI 5.0 §14.4.3. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { CFile } from "./file.ts";
import type { FileUser } from "./file-user.ts";
import { diskOf } from "./program-files.ts";
import { etypesBefore } from "./view.ts";

/** The ABI's. */
export const Whence = { CURRENT: 401, END: 402, SET: 403 } as const;

/** `current`: where the pointer is now. All in etypes of the view. */
export function seekTarget(program: FileUser, file: CFile, offset: number, whence: number, current: number): number {
  const target = offset + base();
  if (target >= 0 && Number.isSafeInteger(target)) return target;
  throw new MpiError(ErrorClass.ARG, `Cannot seek to ${target} in ${file.title}: positions are from 0 to 2^53`);

  function base(): number {
    switch (whence) {
      case Whence.SET:
        return 0;
      case Whence.CURRENT:
        return current;
      case Whence.END:
        return etypesBefore(file.view, diskOf(program).size(file.descriptor));
      default:
        throw new MpiError(ErrorClass.ARG, `Cannot seek in ${file.title}: there is no way ${whence} to count offsets`);
    }
  }
}
