/**
 * Do two processes see the same files under the same names? A node that sees the dispatcher's need not be sent them. It proves that by
 * what it reads: a secret in a file of the job's temporary folder, which only a process that sees that folder can know. Other folders of
 * the job are seen as well if the machine and the mount namespace are the same. (Those alone prove nothing: machines that were resumed
 * from one snapshot say the same of themselves.)
 *
 * A node that cannot prove it is sent every file; nothing else depends on the proof.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface FilesProof {
  /** Of the machine since its start, and of what is mounted where. */
  readonly machine: string;
  /** Where the secret can be read. */
  readonly file: string;
  readonly secret: string;
}

/** Of a process that has files for others; null: it cannot be proven here. */
export function offerProof(folder: string): FilesProof | null {
  const machine = machineHere();
  const [file, secret] = [join(folder, "seen-by-nodes"), randomUUID()];
  try {
    writeFileSync(file, secret, { mode: 0o600 });
    return machine === null ? null : { machine, file, secret };
  } catch {
    return null;
  }
}

/** Does this process see the files of the one that offered the proof? */
export function seesSameFiles(proof: FilesProof | null): boolean {
  if (proof === null || proof.machine !== machineHere()) return false;
  try {
    return readFileSync(proof.file, "utf8") === proof.secret;
  } catch {
    return false;
  }
}

function machineHere(): string | null {
  try {
    const start = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${start} ${readlinkSync("/proc/self/ns/mnt")} ${process.getuid?.() ?? ""}`;
  } catch {
    return null;
  }
}
