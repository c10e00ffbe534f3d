/** Open files: the calls of WASI on descriptors. */
import { SUSPENDED } from "../core/base/capture-points.ts";
import { APPEND, type Descriptors } from "./descriptors.ts";
import { Errno, WasiError } from "./errno.ts";
import type { ProgramBytes } from "./memory.ts";
import type { Files, Library } from "./ports.ts";
import { FileType, fileType, putStat } from "./stat.ts";

const Whence = { SET: 0, CURRENT: 1, END: 2 } as const;
const allRights = 0x1fffffffn;
/** A stream can be read and written, but not sought: wasi-libc takes a descriptor that it cannot seek for a terminal. */
const streamRights = 0x4an;
const direntBytes = 24;

export function wasiFileCalls(library: Library, memory: ProgramBytes, descriptors: Descriptors) {
  const files: Files = library.files;

  function readAt(fd: number, list: number, count: number, position: number): number {
    const file = descriptors.file(fd);
    let total = 0;
    for (const piece of memory.pieces(list, count)) {
      const got = files.read(descriptors.handle(file), piece, position + total);
      total += got;
      if (got < piece.length) break;
    }
    return total;
  }

  function writeAt(fd: number, list: number, count: number, position: number): number {
    const file = descriptors.file(fd);
    let total = 0;
    for (const piece of memory.pieces(list, count)) {
      total += files.write(descriptors.handle(file), piece, position + total);
    }
    return total;
  }

  return {
    fd_write(fd: number, list: number, count: number, out: number): void {
      const descriptor = descriptors.get(fd);
      if (descriptor.kind === "output") {
        let total = 0;
        for (const piece of memory.pieces(list, count)) {
          library.write(fd, piece);
          total += piece.length;
        }
        memory.putU32(out, total);
        return;
      }
      if ((descriptor.flags & APPEND) !== 0) {
        descriptor.position = Number(files.statOpen(descriptors.handle(descriptors.file(fd))).size);
      }
      const written = writeAt(fd, list, count, descriptor.position);
      descriptor.position += written;
      memory.putU32(out, written);
    },
    fd_read(fd: number, list: number, count: number, out: number): number {
      const descriptor = descriptors.get(fd);
      if (descriptor.kind === "input") {
        if (!library.awaitInput()) return SUSPENDED;
        let total = 0;
        for (const piece of memory.pieces(list, count)) {
          const got = library.read(piece);
          total += got;
          // More may come later; the bytes at hand are enough.
          if (got < piece.length) break;
        }
        memory.putU32(out, total);
        return Errno.SUCCESS;
      }
      const got = readAt(fd, list, count, descriptor.position);
      descriptor.position += got;
      memory.putU32(out, got);
      return Errno.SUCCESS;
    },
    fd_pread: (fd: number, list: number, count: number, offset: bigint, out: number): void =>
      memory.putU32(out, readAt(fd, list, count, Number(offset))),
    fd_pwrite: (fd: number, list: number, count: number, offset: bigint, out: number): void =>
      memory.putU32(out, writeAt(fd, list, count, Number(offset))),
    fd_seek(fd: number, offset: bigint, whence: number, out: number): void {
      const file = descriptors.file(fd);
      const base =
        whence === Whence.SET
          ? 0
          : whence === Whence.CURRENT
            ? file.position
            : Number(files.statOpen(descriptors.handle(file)).size);
      const position = base + Number(offset);
      if (position < 0 || whence > Whence.END) throw new WasiError(Errno.INVAL);
      file.position = position;
      memory.putU64(out, BigInt(position));
    },
    fd_tell: (fd: number, out: number): void => memory.putU64(out, BigInt(descriptors.file(fd).position)),
    fd_close: (fd: number): void => descriptors.close(fd),
    fd_renumber: (from: number, to: number): void => descriptors.move(from, to),
    fd_sync: (fd: number): void => files.sync(descriptors.handle(descriptors.file(fd))),
    fd_datasync: (fd: number): void => files.sync(descriptors.handle(descriptors.file(fd))),
    fd_advise: (fd: number): void => void descriptors.file(fd),
    fd_allocate(fd: number, offset: bigint, length: bigint): void {
      const handle = descriptors.handle(descriptors.file(fd));
      const end = Number(offset + length);
      if (Number(files.statOpen(handle).size) < end) files.truncate(handle, end);
    },
    fd_fdstat_get(fd: number, out: number): void {
      const { kind, flags } = descriptors.get(fd);
      const isStream = kind === "input" || kind === "output";
      memory.bytes[out] = isStream ? FileType.CHARACTERS : kind === "file" ? FileType.FILE : FileType.DIRECTORY;
      memory.putU16(out + 2, flags);
      memory.putU64(out + 8, isStream ? streamRights : allRights);
      memory.putU64(out + 16, isStream ? 0n : allRights);
    },
    fd_fdstat_set_flags(fd: number, flags: number): void {
      descriptors.get(fd).flags = flags;
    },
    fd_fdstat_set_rights: (fd: number): void => void descriptors.get(fd),
    fd_filestat_get(fd: number, out: number): void {
      const descriptor = descriptors.get(fd);
      if (descriptor.path === "") {
        memory.bytes.fill(0, out, out + 64);
        memory.putU64(out + 16, BigInt(FileType.CHARACTERS));
      } else if (descriptor.kind === "directory") putStat(memory, out, files.stat(descriptor.path));
      else putStat(memory, out, files.statOpen(descriptors.handle(descriptor)));
    },
    fd_filestat_set_size: (fd: number, size: bigint): void =>
      files.truncate(descriptors.handle(descriptors.file(fd)), Number(size)),
    fd_filestat_set_times(fd: number, accessed: bigint, modified: bigint, flags: number): void {
      files.setTimes(descriptors.onDisk(fd).path, ...chosenTimes(library, accessed, modified, flags));
    },
    fd_prestat_get(fd: number, out: number): void {
      const { given } = descriptors.get(fd);
      if (given === "") throw new WasiError(Errno.BADF);
      memory.putU32(out, 0);
      memory.putU32(out + 4, new TextEncoder().encode(given).length);
    },
    fd_prestat_dir_name(fd: number, at: number, length: number): void {
      memory.put(at, new TextEncoder().encode(descriptors.get(fd).given).subarray(0, length));
    },
    /** A cookie is the number of the next entry; behind the last one there is nothing. */
    fd_readdir(fd: number, at: number, length: number, cookie: bigint, out: number): void {
      const { path } = descriptors.directory(fd);
      const entries = [
        { name: ".", kind: "directory" as const },
        { name: "..", kind: "directory" as const },
      ];
      const all = [...entries, ...files.list(path)];
      let used = 0;
      for (let i = Number(BigInt.asUintN(64, cookie)); i < all.length && used < length; i++) {
        const { name, kind } = all[i]!;
        const encoded = new TextEncoder().encode(name);
        const entry = new Uint8Array(direntBytes + encoded.length);
        const view = new DataView(entry.buffer);
        view.setBigUint64(0, BigInt(i + 1), true);
        view.setUint32(16, encoded.length, true);
        view.setUint8(20, fileType(kind));
        entry.set(encoded, direntBytes);
        const piece = entry.subarray(0, length - used);
        memory.bytes.set(piece, at + used);
        used += piece.length;
      }
      memory.putU32(out, used);
    },
  };
}

const TimeFlag = { ACCESSED: 1, ACCESSED_NOW: 2, MODIFIED: 4, MODIFIED_NOW: 8 } as const;

/** A time that is not to be set should stay as it is; it becomes the present time, as `touch` expects. */
export function chosenTimes(library: Library, accessed: bigint, modified: bigint, flags: number): [bigint, bigint] {
  const now = library.realTime();
  return [(flags & TimeFlag.ACCESSED) !== 0 ? accessed : now, (flags & TimeFlag.MODIFIED) !== 0 ? modified : now];
}
