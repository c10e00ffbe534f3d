/** The file system for C programs: what is below the folders that they are given, and nothing else (../disk/given-folders.ts). */
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import type { FileStat, Files, OpenHow } from "../../wasi/ports.ts";
import { type GivenFolder, GivenFolders, type OnLeaving } from "../disk/given-folders.ts";

const kindOf = (entry: BigIntStats | Dirent): FileStat["kind"] =>
  entry.isFile() ? "file" : entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other";

function statOf(stats: BigIntStats): FileStat {
  return {
    kind: kindOf(stats),
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

/** Every call on a name is one that follows no link in its last component. */
export function filesOf(given: readonly GivenFolder[], onLeaving?: OnLeaving): Files {
  const folders = new GivenFolders(given, onLeaving);
  return {
    isReplayed: false,
    open: (path, how) => folders.open(path, flagsOf(how)),
    reopen: (path, how) => folders.open(path, flagsOf(how)),
    close: (file) => closeSync(file),
    read: (file, bytes, position) => readSync(file, bytes, 0, bytes.length, position),
    write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
    sync: (file) => fsyncSync(file),
    truncate: (file, size) => ftruncateSync(file, size),
    statOpen: (file) => statOf(fstatSync(file, { bigint: true })),
    stat: (path) => statOf(folders.at(path, (name) => lstatSync(name, { bigint: true }))),
    list: (path) => folders.list(path).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    makeDirectory: (path) => folders.at(path, (name) => void mkdirSync(name)),
    removeDirectory: (path) => folders.at(path, (name) => rmdirSync(name)),
    remove: (path) => folders.at(path, (name) => unlinkSync(name)),
    rename: (from, to) => folders.at(from, (old) => folders.at(to, (name) => renameSync(old, name))),
    link: (from, to) => folders.at(from, (old) => folders.at(to, (name) => linkSync(old, name))),
    symlink: (target, path) => folders.at(path, (name) => symlinkSync(target, name)),
    readLink: (path) => folders.at(path, (name) => readlinkSync(name)),
    setTimes: (path, accessed, modified) =>
      folders.at(path, (name) => lutimesSync(name, seconds(accessed), seconds(modified))),
    resolve: (path, follow) => folders.resolve(path, follow),
  };
}
