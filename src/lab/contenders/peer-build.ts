/**
 * Compiles the peers' programs, once for each text and version: the results lie in a folder of this user under the system's
 * temporary folder.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { makeResultFolder } from "../folder.ts";
import type { PeerRuntime } from "./peer.ts";

export type BuildOutcome =
  | { readonly kind: "ready"; readonly program: string }
  | { readonly kind: "unusable"; readonly why: string };

/** The compiler's options for the peers' programs, unless a benchmark gives others. */
const flagsDefault: readonly string[] = ["-O2"];
const compileMsMax = 60_000;

export function buildPeerProgram(
  { kind, mpicc, version }: PeerRuntime,
  source: string,
  flags: readonly string[] = flagsDefault,
): BuildOutcome {
  const folder = join(tmpdir(), `banyan-bench-${userInfo().uid}`);
  if (!isOurFolder(folder)) return { kind: "unusable", why: `${folder} is somebody else's; remove it` };
  const words = [...flags, "-w"];
  const hash = createHash("sha256")
    .update([mpicc, version, ...words, ...textsOf(source)].join("\0"))
    .digest("hex");
  const program = join(folder, `${basename(source, ".c")}-${kind.id}-${hash.slice(0, 16)}`);
  if (existsSync(program)) return { kind: "ready", program };
  const unfinished = `${program}.${process.pid}`;
  const { status, stderr, error } = spawnSync(mpicc, [...words, "-o", unfinished, source, "-lm"], {
    encoding: "utf8",
    timeout: compileMsMax,
  });
  if (status !== 0) {
    const why = error?.message ?? stderr.trim().split("\n", 1)[0] ?? "";
    return { kind: "unusable", why: `${mpicc} cannot compile ${basename(source)}: ${why}` };
  }
  renameSync(unfinished, program);
  return { kind: "ready", program };
}

/** The source, and the headers beside it, which it may include. */
function textsOf(source: string): string[] {
  const folder = dirname(source);
  const headers = readdirSync(folder).filter((name) => name.endsWith(".h"));
  return [source, ...headers.sort().map((name) => join(folder, name))].map((path) => readFileSync(path, "utf8"));
}

/** The name can be guessed, and its files will be run: the folder must be this user's. */
function isOurFolder(folder: string): boolean {
  makeResultFolder(folder);
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o022) === 0;
}
