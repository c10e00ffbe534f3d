/**
 * The address of the compile server: a socket in the cache folder that only its user may reach. The name depends on everything
 * that must be the same at both ends, so a client never speaks to a server of another version.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describeSystemError } from "../core/base/system-error.ts";
import { distrust, thisUser } from "../trust/folder.ts";
import { makeFolder } from "../trust/make-folder.ts";

export interface CompileServerPlace {
  readonly folder: string;
  readonly socket: string;
  /** Held by the one server of this address; see `server-lock.ts`. */
  readonly lock: string;
  /** The server's output, for diagnosis after a crash. */
  readonly log: string;
}

/** Names of sockets are short: 104 bytes on macOS, 108 on Linux. */
const socketNameMax = 100;

export function serverPlace(cacheFolder: string, identity: readonly string[]): CompileServerPlace {
  const key = createHash("sha256").update(identity.join("\0")).digest("hex").slice(0, 16);
  const wanted = join(cacheFolder, "server");
  const fits = Buffer.byteLength(join(wanted, `${key}.sock`)) <= socketNameMax;
  const folder = fits ? wanted : join(tmpdir(), `banyan-${userInfo().uid}-${shortened(wanted)}`);
  const path = (ending: string): string => join(folder, `${key}.${ending}`);
  return { folder, socket: path("sock"), lock: path("lock"), log: path("log") };
}

/** Makes the folder, for its owner alone. Returns the objection to an existing one, if there is any. */
export function prepareFolder(folder: string): string | undefined {
  const wrong = distrust(folder);
  if (wrong !== undefined) return wrong;
  try {
    makeFolder(folder, 0o700);
    chmodSync(folder, 0o700);
    return distrust(folder);
  } catch (error) {
    return `${folder} cannot be made: ${describeSystemError(error)}`;
  }
}

/**
 * The objection to the listener at this address, if there is any: sources are sent only to a server of this user. (Node cannot
 * ask a socket about the process at its other end; but in a folder that only this user can enter, no other user can listen.)
 */
export function distrustServer({ folder, socket }: CompileServerPlace): string | undefined {
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
