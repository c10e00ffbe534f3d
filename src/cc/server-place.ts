/**
 * Where the compile server listens: a socket in the cache folder that only its user may reach. The name is made of everything
 * that must be the same at both ends, so a server of another version is never asked.
 */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

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
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (statSync(folder).uid !== userInfo().uid) return `${folder} belongs to somebody else`;
    chmodSync(folder, 0o700);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function shortened(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
