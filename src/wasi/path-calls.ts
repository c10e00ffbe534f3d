/** Files by their names: the calls of WASI on paths. A path is relative to an open folder, and stays in the given folders. */

import type { Descriptors } from "./descriptors.ts";
import { Errno, WasiError } from "./errno.ts";
import { chosenTimes } from "./file-calls.ts";
import type { ProgramBytes } from "./memory.ts";
import { checkName, pathBelow } from "./paths.ts";
import type { Library, OpenHow } from "./ports.ts";
import { putStat } from "./stat.ts";

const Lookup = { FOLLOW: 1 } as const;
const OpenFlag = { CREATE: 1, DIRECTORY: 2, EXCLUSIVE: 4, TRUNCATE: 8 } as const;
const Right = { READ: 2n, WRITE: 0x40n, READ_DIRECTORY: 0x4000n } as const;
const APPEND = 1;

export function pathCalls(library: Library, memory: ProgramBytes, descriptors: Descriptors) {
  const { files } = library;

  function pathOf(fd: number, at: number, length: number, follow = false): string {
    return pathBelow(files, descriptors.directory(fd).path, memory.text(at, length), follow);
  }

  return {
    path_open(
      fd: number,
      lookup: number,
      at: number,
      length: number,
      flags: number,
      rights: bigint,
      _inheriting: bigint,
      fdFlags: number,
      out: number,
    ): void {
      const path = pathOf(fd, at, length, (lookup & Lookup.FOLLOW) !== 0);
      const how: OpenHow = {
        read: (rights & (Right.READ | Right.READ_DIRECTORY)) !== 0n,
        write: (rights & Right.WRITE) !== 0n,
        create: (flags & OpenFlag.CREATE) !== 0,
        exclusive: (flags & OpenFlag.EXCLUSIVE) !== 0,
        truncate: (flags & OpenFlag.TRUNCATE) !== 0,
        append: (fdFlags & APPEND) !== 0,
      };
      const wantsDirectory = (flags & OpenFlag.DIRECTORY) !== 0;
      const exists = how.create && !wantsDirectory ? undefined : files.stat(path);
      if (exists !== undefined && wantsDirectory && exists.kind !== "directory") throw new WasiError(Errno.NOTDIR);
      const base = { path, given: "", how, position: 0, flags: fdFlags };
      if (wantsDirectory || exists?.kind === "directory") {
        if (how.write) throw new WasiError(Errno.ISDIR);
        memory.putU32(out, descriptors.add({ ...base, kind: "directory" }));
      } else memory.putU32(out, descriptors.addOpen({ ...base, kind: "file" }, files.open(path, how)));
    },
    path_filestat_get(fd: number, lookup: number, at: number, length: number, out: number): void {
      const follow = (lookup & Lookup.FOLLOW) !== 0;
      putStat(memory, out, files.stat(pathOf(fd, at, length, follow)));
    },
    path_filestat_set_times(
      fd: number,
      lookup: number,
      at: number,
      length: number,
      accessed: bigint,
      modified: bigint,
      flags: number,
    ): void {
      const path = pathOf(fd, at, length, (lookup & Lookup.FOLLOW) !== 0);
      files.setTimes(path, ...chosenTimes(library, accessed, modified, flags));
    },
    path_create_directory: (fd: number, at: number, length: number): void =>
      files.makeDirectory(pathOf(fd, at, length)),
    path_remove_directory: (fd: number, at: number, length: number): void =>
      files.removeDirectory(pathOf(fd, at, length)),
    path_unlink_file: (fd: number, at: number, length: number): void => files.remove(pathOf(fd, at, length)),
    path_rename(fd: number, at: number, length: number, toFd: number, toAt: number, toLength: number): void {
      const [from, to] = [pathOf(fd, at, length), pathOf(toFd, toAt, toLength)];
      files.rename(from, to);
      descriptors.renamed(from, to);
    },
    path_link(
      fd: number,
      lookup: number,
      at: number,
      length: number,
      toFd: number,
      toAt: number,
      toLength: number,
    ): void {
      files.link(pathOf(fd, at, length, (lookup & Lookup.FOLLOW) !== 0), pathOf(toFd, toAt, toLength));
    },
    path_symlink(targetAt: number, targetLength: number, fd: number, at: number, length: number): void {
      const target = memory.text(targetAt, targetLength);
      checkName(target);
      files.symlink(target, pathOf(fd, at, length));
    },
    path_readlink(fd: number, at: number, length: number, to: number, room: number, out: number): void {
      const target = new TextEncoder().encode(files.readLink(pathOf(fd, at, length))).subarray(0, room);
      memory.put(to, target);
      memory.putU32(out, target.length);
    },
  };
}
