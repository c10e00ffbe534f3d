/** `MPI_Status` in the program's memory: the ABI's three words, and of its five reserved ones our own. */
export const STATUS_IGNORE = 0;
export const statusBytes = 32;

/** Words of a status. */
export const S_SOURCE = 0;
export const S_TAG = 1;
export const S_ERROR = 2;
/** Ours: how many bytes came, and whether the operation was cancelled. */
export const S_BYTES = 3;
export const S_CANCELLED = 4;

/** The words but for the error's, which only calls for several requests write (MPI 5.0 §3.2.5). */
export function writeStatus(ints: Int32Array, status: number, source: number, tag: number, bytes: number): void {
  if (status === STATUS_IGNORE) return;
  const at = status >> 2;
  ints[at + S_SOURCE] = source;
  ints[at + S_TAG] = tag;
  ints[at + S_BYTES] = bytes;
  ints[at + S_CANCELLED] = 0;
}
