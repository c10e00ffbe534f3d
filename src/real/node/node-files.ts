/** The file system for C programs. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FileStat, Files, OpenHow } from "../../wasi/ports.ts";

function statOf(stats: BigIntStats): FileStat {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";
  return {
    kind,
    device: stats.dev,
    inode: stats.ino,
    links: stats.nlink,
    size: stats.size,
    accessed: stats.atimeNs,
    modified: stats.mtimeNs,
    changed: stats.ctimeNs,
  };
}

function flagsOf({ read, write, create, exclusive, truncate }: OpenHow): number {
  const access = write ? (read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY;
  // Not O_APPEND: Linux would then ignore the position, which is ours to say.
  return (
    access | (create ? constants.O_CREAT : 0) | (exclusive ? constants.O_EXCL : 0) | (truncate ? constants.O_TRUNC : 0)
  );
}

const seconds = (ns: bigint): number => Number(ns) / 1e9;

export const nodeFiles: Files = {
  isReplayed: false,
  open: (path, how) => openSync(path, flagsOf(how), 0o666),
  reopen: (path, how) => openSync(path, flagsOf(how), 0o666),
  close: (file) => closeSync(file),
  read: (file, bytes, position) => readSync(file, bytes, 0, bytes.length, position),
  write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
  sync: (file) => fsyncSync(file),
  truncate: (file, size) => ftruncateSync(file, size),
  statOpen: (file) => statOf(fstatSync(file, { bigint: true })),
  stat: (path, follow) => statOf(follow ? statSync(path, { bigint: true }) : lstatSync(path, { bigint: true })),
  list: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isFile()
        ? "file"
        : entry.isDirectory()
          ? "directory"
          : entry.isSymbolicLink()
            ? ("link" as const)
            : "other",
    })),
  makeDirectory: (path) => void mkdirSync(path),
  removeDirectory: (path) => rmdirSync(path),
  remove: (path) => unlinkSync(path),
  rename: (from, to) => renameSync(from, to),
  link: (from, to) => linkSync(from, to),
  symlink: (target, path) => symlinkSync(target, path),
  readLink: (path) => readlinkSync(path),
  setTimes: (path, accessed, modified) => utimesSync(path, seconds(accessed), seconds(modified)),
  resolve(path) {
    try {
      return realpathSync(path);
    } catch {
      return join(realpathSync(dirname(path)), basename(path));
    }
  },
};
