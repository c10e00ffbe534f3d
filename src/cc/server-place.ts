/**
 * Where the compile server listens: a socket in the cache folder that only its user may reach. The name is made of everything
 * that must be the same at both ends, so a server of another version is never asked.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describeSystemError } from "../core/base/system-error.ts";
import { distrust, thisUser } from "../trust/folder.ts";

export interface ServerPlace {
  readonly folder: string;
  readonly socket: string;
  /** Held by the one server of this place; see `server-lock.ts`. */
  readonly lock: string;
  /** What the server printed, for us when it broke. */
  readonly log: string;
}

/** Names of sockets are short: 104 bytes on macOS, 108 on Linux. */
const socketNameMax = 100;

export function serverPlace(cacheFolder: string, identity: readonly string[]): ServerPlace {
  const key = createHash("sha256").update(identity.join("\0")).digest("hex").slice(0, 16);
  const wanted = join(cacheFolder, "server");
  const fits = Buffer.byteLength(join(wanted, `${key}.sock`)) <= socketNameMax;
  const folder = fits ? wanted : join(tmpdir(), `banyan-${userInfo().uid}-${shortened(wanted)}`);
  const path = (ending: string): string => join(folder, `${key}.${ending}`);
  return { folder, socket: path("sock"), lock: path("lock"), log: path("log") };
}

/** Makes the folder, for its owner alone. Returns what is wrong with one that is there already, if anything is. */
export function prepareFolder(folder: string): string | undefined {
  const wrong = distrust(folder);
  if (wrong !== undefined) return wrong;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    return distrust(folder);
  } catch (error) {
    return `${folder} cannot be made: ${describeSystemError(error)}`;
  }
}

/**
 * What is wrong with whoever listens there, if anything is: sources are sent to this user's own server and to nobody else. (Node
 * cannot ask a socket who is at its other end; but in a folder that only this user can enter, nobody else can listen.)
 */
export function distrustServer({ folder, socket }: ServerPlace): string | undefined {
  const wrong = distrust(folder);
  if (wrong !== undefined) return wrong;
  const { uid } = thisUser();
  const inside = lstatSync(folder, { throwIfNoEntry: false });
  if (inside === undefined) return undefined;
  if (!inside.isDirectory() || (inside.mode & 0o077) !== 0) return `${folder} is not for its owner alone`;
  const status = lstatSync(socket, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  if (!status.isSocket()) return `${socket} is not a socket`;
  return status.uid === uid ? undefined : `${socket} belongs to user ${status.uid}`;
}

function shortened(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
