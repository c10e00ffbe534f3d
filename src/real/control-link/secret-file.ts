/**
 * The file by which a user lets nodes join a job: its name and its secret, in one line of JSON. Whoever can read it can be a node of the job,
 * and see and change all that the job does; so no other user may.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describeSystemError } from "../../core/base/system-error.ts";
import { object, text } from "../../core/base/value-shape.ts";
import { type JobSecret, secretBytes } from "../transport/handshake/handshake.ts";

interface Written {
  readonly job: string;
  readonly secret: string;
}

const written = object<Written>({ job: text, secret: text });
const ownerOnly = 0o600;
const forOthers = 0o077;
/** More is no such file. */
const fileBytesMax = 4096;

/** Makes the file; one of an earlier job may be there, and nothing else. Returns the obstacle; empty: it is made. */
export function writeSecretFile(path: string, { id, secret }: JobSecret): string {
  const value: Written = { job: id, secret: Buffer.from(secret).toString("base64") };
  try {
    if (typeof readSecretFile(path) !== "string") rmSync(path);
    writeFileSync(path, `${JSON.stringify(value)}\n`, { mode: ownerOnly, flag: "wx" });
    return "";
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    return isThere ? "there is such a file already; name another" : describeSystemError(error);
  }
}

/** A text: why it is of no use. */
export function readSecretFile(path: string): JobSecret | string {
  try {
    const { mode, size } = statSync(path);
    if ((mode & forOthers) !== 0) return `other users can read or change it; chmod 600 ${path}`;
    const value: unknown = size > fileBytesMax ? null : JSON.parse(readFileSync(path, "utf8"));
    if (written(value) === "") {
      const { job, secret: encoded } = value as Written;
      const secret = new Uint8Array(Buffer.from(encoded, "base64"));
      if (secret.length === secretBytes) return { id: job, secret };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "there is no such file";
    if (!(error instanceof SyntaxError)) return describeSystemError(error);
  }
  return "it is not the secret file of a job; copy the one that the job has named";
}
