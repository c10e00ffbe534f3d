/**
 * At most one server for a socket. The lock is a file with the holder's process id and a random word, made by an exclusive
 * create; the holder renews its time while it lives. A lock whose process is gone, or that was not renewed for long, is stale,
 * and the process that moves it away first may make a new one.
 *
 * Two processes that find the same stale lock at once could, in a window of microseconds, both believe they hold it; so a
 * holder reads the lock each time it renews it, and ends if its word is gone.
 */
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";

/** Even a server without processor time renews its lock within this time. */
const staleMs = 15_000;
export const renewMs = 2_000;
/** A server's exit code when it cannot write the lock at all: the disk is full, or read-only. */
export const unwritableCode = 5;

export class ServerLock {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** Undefined when another process holds the lock. Throws when the lock cannot be written. */
  static take(path: string): ServerLock | undefined {
    const text = `${process.pid} ${randomUUID()}\n`;
    for (let tries = 0; tries < 3; tries++) {
      if (createExclusively(path, text)) return new ServerLock(path, text);
      if (isLockHeld(path)) return undefined;
      moveAway(path);
    }
    return undefined;
  }

  /** False when another process holds the lock by now. */
  renew(): boolean {
    if (readText(this.#path) !== this.#text) return false;
    try {
      utimesSync(this.#path, new Date(), new Date());
      return true;
    } catch {
      return false;
    }
  }

  release(): void {
    if (readText(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }
}

/** Does a living process hold the lock? */
export function isLockHeld(path: string): boolean {
  return lockHolder(path) !== undefined;
}

/** The id of the living process that holds the lock. */
export function lockHolder(path: string): number | undefined {
  const pid = Number.parseInt(readText(path) ?? "", 10);
  try {
    return isAlive(pid) && Date.now() - statSync(path).mtimeMs < staleMs ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // In a container dead processes may not be collected: they still have a number. Systems other than Linux have no such file.
  return !/^\d+ \(.*\) [ZX]/.test(readText(`/proc/${pid}/stat`) ?? "");
}

/** The file appears together with its text. */
function createExclusively(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Only one of several attempts succeeds; a lock that was renewed meanwhile goes back to its place. */
function moveAway(path: string): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
    if (isLockHeld(aside)) linkSync(aside, path);
  } catch {
    // Another process was faster.
  } finally {
    rmSync(aside, { force: true });
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
