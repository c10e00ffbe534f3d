/**
 * Addresses and file offsets that a program passes to WASI, checked before a call does anything: memory outside the program's
 * is EFAULT, an offset that no file has is EINVAL. The table below has every parameter of every call that is an address, or 64
 * bits of an offset; a call that is missing in it has no such parameter.
 */
import { Errno, WasiError } from "./errno.ts";
import { textBytes } from "./memory.ts";
import type { Library } from "./ports.ts";

type Args = readonly (number | bigint)[];
/** The check of one argument; throws when a call cannot use it. */
type Rule = (args: Args, memory: Memory) => void;

interface Memory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly library: Library;
}

/** Linux's IOV_MAX. */
const vectorsMax = 1024;
const vectorBytes = 8;

function checkInside({ bytes }: Memory, address: number | bigint | undefined, length: number): void {
  const at = Number(address) >>> 0;
  if (length > 0 && (at === 0 || at + length > bytes.length)) throw new WasiError(Errno.FAULT);
}

const unsigned = (value: number | bigint | undefined): number => Number(value) >>> 0;

/** The address of a result of `bytes` bytes. */
const result =
  (index: number, bytes: number): Rule =>
  (args, memory) =>
    checkInside(memory, args[index], bytes);

/** The address of bytes whose number is the next argument. */
const buffer =
  (index: number): Rule =>
  (args, memory) =>
    checkInside(memory, args[index], unsigned(args[index + 1]));

/** The address of an array whose length is another argument. */
const array =
  (index: number, bytes: number, count: number): Rule =>
  (args, memory) =>
    checkInside(memory, args[index], bytes * unsigned(args[count]));

/** The address of a list of pieces, whose number is the next argument; each piece is checked. */
const vectors =
  (index: number): Rule =>
  (args, memory) => {
    const [list, count] = [unsigned(args[index]), unsigned(args[index + 1])];
    if (count > vectorsMax) throw new WasiError(Errno.INVAL);
    checkInside(memory, list, vectorBytes * count);
    for (let at = list; at < list + vectorBytes * count; at += vectorBytes) {
      checkInside(memory, memory.view.getUint32(at, true), memory.view.getUint32(at + 4, true));
    }
  };

/** Room for a list of addresses of texts, and for the texts. */
const texts =
  (of: (library: Library) => readonly string[]): Rule =>
  (args, memory) => {
    const list = of(memory.library);
    checkInside(memory, args[0], 4 * list.length);
    checkInside(memory, args[1], textBytes(list));
  };

/** Offsets are exact up to 2^53, and no file is as long. */
const place =
  (...indexes: number[]): Rule =>
  (args) => {
    const sum = indexes.reduce((all, index) => all + (args[index] as bigint), 0n);
    if (!Number.isSafeInteger(Number(sum))) throw new WasiError(Errno.INVAL);
  };

const rules: Readonly<Record<string, readonly Rule[]>> = {
  args_sizes_get: [result(0, 4), result(1, 4)],
  args_get: [texts((library) => library.args)],
  environ_sizes_get: [result(0, 4), result(1, 4)],
  environ_get: [texts((library) => library.environment)],
  clock_res_get: [result(1, 8)],
  clock_time_get: [result(2, 8)],
  random_get: [buffer(0)],
  poll_oneoff: [array(0, 48, 2), array(1, 32, 2), result(3, 4)],
  fd_write: [vectors(1), result(3, 4)],
  fd_read: [vectors(1), result(3, 4)],
  fd_pread: [vectors(1), place(3), result(4, 4)],
  fd_pwrite: [vectors(1), place(3), result(4, 4)],
  fd_seek: [place(1), result(3, 8)],
  fd_tell: [result(1, 8)],
  fd_allocate: [place(1), place(1, 2)],
  fd_fdstat_get: [result(1, 24)],
  fd_filestat_get: [result(1, 64)],
  fd_filestat_set_size: [place(1)],
  fd_prestat_get: [result(1, 8)],
  fd_prestat_dir_name: [buffer(1)],
  fd_readdir: [buffer(1), result(4, 4)],
  path_open: [buffer(2), result(8, 4)],
  path_filestat_get: [buffer(2), result(4, 64)],
  path_filestat_set_times: [buffer(2)],
  path_create_directory: [buffer(1)],
  path_remove_directory: [buffer(1)],
  path_unlink_file: [buffer(1)],
  path_rename: [buffer(1), buffer(4)],
  path_link: [buffer(2), buffer(5)],
  path_symlink: [buffer(0), buffer(3)],
  path_readlink: [buffer(1), buffer(3), result(5, 4)],
};

/** The check of a call's arguments. */
export function addressCheck(name: string, bytes: Uint8Array, library: Library): (args: Args) => void {
  const memory = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), library };
  const own = rules[name] ?? [];
  return (args) => {
    for (const check of own) check(args, memory);
  };
}
