/**
 * Can a folder and its contents be the work of this user alone? A folder is trusted when only this user and the owner of the
 * system could have put it into its place, or anything into it: every folder on the way to it, links followed, belongs to one
 * of the two and cannot be written by others. Where others may write, as in /tmp, the sticky bit must keep them from replacing
 * files of this user. The folder itself must be this user's.
 *
 * A group may write if it is the user's own: many systems give every user such a group, and let it write everywhere.
 */
import { fstatSync, lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeSystemError } from "../core/base/system-error.ts";

const linksMax = 40;
const stickyBit = 0o1000;

interface User {
  readonly uid: number;
  readonly gid: number;
}

export const thisUser = (): User => ({ uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 });

/**
 * Why a folder cannot be trusted, a clause that names it; undefined: it can be trusted, or does not exist and could be once
 * made.
 */
export function distrust(folder: string, user: User = thisUser()): string | undefined {
  try {
    return objectionTo(resolve(folder), user);
  } catch (error) {
    // A folder on the way that this user may not enter, a name that is too long.
    const { path = folder } = error as NodeJS.ErrnoException;
    return `${path} cannot be reached (${describeSystemError(error)})`;
  }
}

function objectionTo(whole: string, user: User): string | undefined {
  // The owner of the root of the file system can do anything; in a container that user may have any number.
  const owners = new Set([0, user.uid, lstatSync("/").uid]);
  const left = whole.split("/").filter((name) => name !== "");
  let at = "/";
  for (let links = 0; left.length > 0; ) {
    const name = left.shift()!;
    if (name === "..") at = dirname(at);
    if (name === ".." || name === "." || name === "") continue;
    const path = join(at, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return undefined;
    if (!owners.has(status.uid)) return `${path} belongs to user ${status.uid}`;
    if (status.isSymbolicLink()) {
      if (++links > linksMax) return `${path} is one link too many`;
      const target = readlinkSync(path);
      if (target.startsWith("/")) at = "/";
      left.unshift(...target.split("/"));
      continue;
    }
    const isSticky = (status.mode & stickyBit) !== 0;
    if (!isSticky && othersMayWrite(status, user)) return `${path} can be written by other users`;
    if (!status.isDirectory()) return `${path} is not a folder`;
    at = path;
    if (left.length === 0 && status.uid !== user.uid) return `${path} belongs to user ${status.uid}`;
  }
  return undefined;
}

/** Does an open file belong to this user, and can nobody else change it? */
export function isOwnFile(descriptor: number, user: User = thisUser()): boolean {
  const status = fstatSync(descriptor);
  return status.isFile() && status.uid === user.uid && !othersMayWrite(status, user);
}

/** The same question for a folder inside a trusted one; a folder that is missing or out of reach belongs to nobody. */
export function isOwnFolder(path: string, user: User = thisUser()): boolean {
  try {
    const status = lstatSync(path);
    return status.isDirectory() && status.uid === user.uid && !othersMayWrite(status, user);
  } catch {
    return false;
  }
}

function othersMayWrite({ mode, gid }: Stats, user: User): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== user.gid);
}
