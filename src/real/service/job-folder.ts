/**
 * The folder of a frozen job: all that is needed to go on with it, here or on another machine.
 *
 *   job.json       what was run and how (`FrozenJob`); written last, so a folder that has it is complete
 *   program.wasm   the program: images fit these very bytes
 *   <rank>.image   an image of each rank
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ImageError } from "../../image/image-error.ts";
import { readImageHeader } from "../image/read-image.ts";
import type { Folder } from "../node/messages.ts";
import { describeSystemError } from "./system-error.ts";

const format = 1;

export interface FrozenJob {
  /** As the program knows itself. */
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  readonly memoryMb: number;
  readonly folders: readonly Folder[];
  /** What the program finds in its environment; none or null: what whoever goes on with the job has. */
  readonly environment?: Readonly<Record<string, string>> | null;
}

export const moduleOf = (folder: string): string => join(folder, "program.wasm");

/** Makes the folder if it is not there; the reason if it cannot be used. */
export function prepareJobFolder(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length === 0) return undefined;
    return `Cannot freeze the job to ${folder}: there is something in it; name a folder that is empty or not there`;
  } catch (error) {
    return `Cannot freeze the job to ${folder}: ${describeSystemError(error)}; name another folder with --job-dir`;
  }
}

const isOurs = (name: string): boolean => /^(\d+\.image|job\.json|program\.wasm)(\.part)?$/.test(name);

/** Takes away what a freeze that failed has left there, and nothing else. */
export function emptyJobFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && isOurs(entry.name)) rmSync(join(folder, entry.name), { force: true });
  }
}

/** The images are there; this makes them a job. Throws the system's errors. */
export function writeJob(folder: string, module: string, job: FrozenJob): void {
  copyFileSync(module, moduleOf(folder));
  const part = join(folder, "job.json.part");
  writeFileSync(part, `${JSON.stringify({ format, ...job }, undefined, 2)}\n`, { flush: true });
  renameSync(part, join(folder, "job.json"));
}

/** The job, or why it cannot be gone on with. All images are looked at: their headers, not their contents. */
export function readJob(folder: string): FrozenJob | string {
  const file = join(folder, "job.json");
  if (!existsSync(file)) return `Cannot thaw ${folder}: it holds no frozen job (there is no job.json)`;
  let job: FrozenJob & { readonly format: number };
  try {
    job = JSON.parse(readFileSync(file, "utf8")) as typeof job;
  } catch (error) {
    return `Cannot thaw ${folder}: job.json cannot be read (${describeSystemError(error)}); copy the folder again`;
  }
  if (job.format !== format) {
    return `Cannot thaw ${folder}: it was frozen by another version of Banyan (format ${job.format}, this one has ${format})`;
  }
  if (!existsSync(moduleOf(folder))) return `Cannot thaw ${folder}: its program.wasm is missing; copy the folder again`;
  for (let rank = 0; rank < job.ranks; rank++) {
    try {
      readImageHeader(join(folder, `${rank}.image`), { rank, ranks: job.ranks });
    } catch (error) {
      if (error instanceof ImageError) return `Cannot thaw ${folder}: ${error.message}`;
      throw error;
    }
  }
  return job;
}
