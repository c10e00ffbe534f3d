/**
 * The values that a process needs to become a node of a job: the dispatcher's address, the job's secret, and the number of the
 * invitation. One line of JSON on its standard input: no other user can read that, unlike arguments and environments.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { object, text, whole } from "../../core/base/value-shape.ts";
import { secretBytes } from "../transport/handshake/handshake.ts";

export interface Invitation {
  readonly host: string;
  readonly port: number;
  readonly jobId: string;
  readonly secret: Uint8Array;
  /** Each is for one process. Which node that will be, it hears when it is needed: it may be in reserve first. 0: it offers itself. */
  readonly number: number;
  /** Of one that offers itself: the number that it had as a node of this job; 0: none. */
  readonly had: number;
}

interface Written extends Omit<Invitation, "secret"> {
  readonly secret: string;
}

const written = object<Written>({
  host: text,
  port: whole(1, 65535),
  jobId: text,
  secret: text,
  number: whole(0, 0x7fffffff),
  had: whole(0, 0x7fffffff),
});
/** The bound of the line: an input that is no invitation may have no line at all. */
const lineBytesMax = 4096;
const newline = 10;

export function encodeInvitation(invitation: Invitation): string {
  return `${JSON.stringify({ ...invitation, secret: Buffer.from(invitation.secret).toString("base64") })}\n`;
}

/** Null: that is none. */
export function decodeInvitation(line: string): Invitation | null {
  try {
    const value: unknown = JSON.parse(line);
    if (written(value) !== "") return null;
    const { secret: encoded, ...others } = value as Written;
    const secret = new Uint8Array(Buffer.from(encoded, "base64"));
    return secret.length === secretBytes ? { ...others, secret } : null;
  } catch {
    return null;
  }
}

/**
 * Waits for the line, with nothing else to do, and leaves an empty standard input behind: programs that ranks start have the same.
 * Null: no invitation came, because the starter of this process is gone.
 */
export function readInvitation(): Invitation | null {
  const line = readLine(0);
  closeSync(0);
  openSync("/dev/null", "r");
  return line === null ? null : decodeInvitation(line);
}

/** Bytes behind the line are ignored. */
function readLine(descriptor: number): string | null {
  const line = Buffer.alloc(lineBytesMax);
  for (let have = 0; have < lineBytesMax; ) {
    const bytes = readSome(descriptor, line, have);
    if (bytes === 0) return null;
    have += bytes;
    const end = line.subarray(0, have).indexOf(newline);
    if (end >= 0) return line.toString("utf8", 0, end);
  }
  return null;
}

/** Zero: its end. */
function readSome(descriptor: number, into: Buffer, at: number): number {
  for (;;) {
    try {
      return readSync(descriptor, into, at, into.length - at, null);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return 0;
      // Another process has made this input non-blocking.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
