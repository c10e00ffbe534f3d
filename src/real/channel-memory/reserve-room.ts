/**
 * Room on the disk for what will be written to a file, which stays as long as it is. ext4 chooses places for bytes when it writes them to the disk, and
 * whoever writes much waits for that: a megabyte takes 0.16 ms then and 1.3 while others of the same program are on their way to the disk, where
 * there is room already 0.13 (Neoverse-N1, Linux 6.18).
 */
import { openLibrary } from "../machine/library-functions.ts";

/** So many bytes of a file from there on. False: there is no room, or the file system does not do that. */
export type ReserveRoom = (file: number, from: number, bytes: number) => boolean;

const FALLOC_FL_KEEP_SIZE = 1;

type Allocate = (file: number, mode: number, from: number, bytes: number) => number;

/** Null: there is no such way here. */
export const openReserveRoom = (): ReserveRoom | null =>
  openLibrary((library) => {
    const allocate = library.func("int fallocate(int, int, int64_t, int64_t)") as Allocate;
    return (file, from, bytes) => allocate(file, FALLOC_FL_KEEP_SIZE, from, bytes) === 0;
  });
