/**
 * Whether a folder, and what lies in it, can be this user's doing alone. A folder is trusted when nobody but this user and the
 * system's owner could have put it where it is, or anything into it: every folder on the way to it, links followed, belongs to one
 * of them and cannot be written by others. Where others may write, as in /tmp, they must not be able to replace what is not
 * theirs (the sticky bit). The folder itself must be this user's.
 *
 * A group may write if it is the user's own: many systems give every user one, and let it write everywhere.
 */
import { fstatSync, lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";

const linksMax = 40;
const stickyBit = 0o1000;

interface User {
  readonly uid: number;
  readonly gid: number;
}

export const thisUser = (): User => ({ uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 });

/** Why a folder cannot be trusted, a clause that names it; undefined: it can, or is not there and would be if it were made. */
export function distrust(folder: string, user: User = thisUser()): string | undefined {
  const whole = resolve(folder);
  // Whoever owns the root of the file system can do anything; in a container it may have any number.
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

/** Is an open file one of this user's, that nobody else can change? */
export function isOwnFile(descriptor: number, user: User = thisUser()): boolean {
  const status = fstatSync(descriptor);
  return status.isFile() && status.uid === user.uid && !othersMayWrite(status, user);
}

/** The same of a folder that lies in a trusted one; one that is not there is nobody's. */
export function isOwnFolder(path: string, user: User = thisUser()): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === user.uid && !othersMayWrite(status, user);
}

function othersMayWrite({ mode, gid }: Stats, user: User): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== user.gid);
}
