/**
 * The folder of a job (`--job-dir`): everything of the job that outlives the command that runs it.
 *
 *   program.wasm   the program as its ranks run it (program.cjs or program.mjs in TypeScript): images fit these very bytes
 *   journal        the dispatcher's decisions (journal-file.ts)
 *   event-log      what the event logger has acknowledged, under a protocol that has one
 *   memory-<number>  the segments of a channel memory
 *   run.json, output, input, processes   of a job that can be resumed: see resumable-job.ts, output-file.ts, input-file.ts, job-processes.ts
 *   ended          was run.json: the job is over, and its files are being removed
 *   checkpoints    images of checkpoints, in a folder for each set; of those with servers `checkpoint-server-<number>`
 *   <rank>.image   an image of each rank of a frozen job
 *   job.json       what was frozen (`FrozenJob`); written last, so a folder that has it holds a whole frozen job
 *   moved          the images of ranks that have been moved, until they have begun again
 *   world-<number> the images of one world of replicas, which the job goes back to when no replica of a rank is left
 *
 * A job that ended well leaves nothing there. One that was frozen leaves the last two and its program: all that is needed to go on,
 * here or on another machine. One that ended badly, its command killed included, leaves the first four.
 *
 * A user who can write there decides what runs when the job goes on, and which folders it may use. So it is made for its owner alone,
 * and gone on with only if it is this user's and no other user can write to it.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import { ImageError } from "../../../image/image-error.ts";
import { distrust, isOwnFile } from "../../../trust/folder.ts";
import { makeFolder } from "../../../trust/make-folder.ts";
import { imagePath } from "../../image/image-path.ts";
import { readImageHeader } from "../../image/read-image.ts";
import type { ProgramForm } from "../../messages/program-place.ts";
import { type FrozenJob, frozenJobIn, jobFormat, jobText, jobTextBytesMax } from "./frozen-job.ts";

/** Where the program is, whichever form it has. */
export function programsIn(folder: string): Record<ProgramForm, string> {
  const file = (name: string) => join(folder, name);
  return { script: file("program.cjs"), module: file("program.mjs"), wasm: moduleOf(folder) };
}

export const moduleOf = (folder: string): string => join(folder, "program.wasm");
/** Of the programs behind the first, in the order of their ranks. */
export const otherModuleOf = (folder: string, index: number): string => join(folder, `program.${index + 1}.wasm`);
export const checkpointsIn = (folder: string): string => join(folder, "checkpoints");
export const serverFolderIn = (folder: string, server: number): string => join(folder, `checkpoint-server-${server}`);

/** Makes the folder if it is not there; the reason if it cannot be used. */
export function prepareJobFolder(folder: string): string | undefined {
  const cannot = `Cannot use ${folder} as the job's folder`;
  try {
    makeFolder(folder, 0o700);
    const wrong = distrust(folder);
    if (wrong !== undefined) return `${cannot}: ${wrong}; name a folder of your own with --job-dir`;
    if (readdirSync(folder).length === 0) return undefined;
    return `${cannot}: there is something in it; name a folder that is empty or not there`;
  } catch (error) {
    return `${cannot}: ${describeSystemError(error)}; name another folder with --job-dir`;
  }
}

const ofFrozenJob = /^(\d+\.image|job\.json)(\.part)?$/;
const ofProgram = /^program\.(wasm|cjs|mjs)$/;
const ofRunningJob =
  /^(ended|journal(\.spoilt)?|event-log(\.new|\.spoilt)?|memory-\d+|checkpoints|checkpoint-server-\d+|(run\.json|output|processes)(\.new)?|input(\.spoilt)?|moved|world-\d+)$/;

/** Takes away what a freeze that failed has left there, and nothing else. */
export function removeFrozenJob(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && ofFrozenJob.test(entry.name)) rmSync(join(folder, entry.name), { force: true });
  }
}

const removeWhole = (path: string): void => rmSync(path, { recursive: true, force: true });

/**
 * The job is over, and cannot be gone on with but for its frozen state: takes away all other files of the job, and nothing else. One that is killed meanwhile has no
 * run.json any more, so that nobody goes on with half of it; `finishRemoval` takes away the rest.
 */
export function removeEndedJob(
  folder: string,
  { isFrozen }: { readonly isFrozen: boolean },
  remove: (path: string) => void = removeWhole,
): void {
  const run = join(folder, "run.json");
  const ended = endedIn(folder);
  if (existsSync(run)) renameSync(run, ended);
  const isMeant = (name: string): boolean => ofRunningJob.test(name) || (!isFrozen && ofProgram.test(name));
  const names = readdirSync(folder).filter(isMeant);
  for (const name of names) if (join(folder, name) !== ended) remove(join(folder, name));
  remove(ended);
}

/** Of a job that was over, and killed while its files were removed. Throws the system's errors. */
export function finishRemoval(folder: string): void {
  if (existsSync(endedIn(folder))) removeEndedJob(folder, { isFrozen: existsSync(join(folder, "job.json")) });
}

const endedIn = (folder: string): string => join(folder, "ended");

/** The images of a job that is being moved are those that it goes on from, and others may be written beside. Returns their folder. Throws the system's errors. */
export function setMovedAside(folder: string, ranks: number): string {
  const moved = movedIn(folder);
  rmSync(moved, { recursive: true, force: true });
  mkdirSync(moved, { mode: 0o700 });
  for (let rank = 0; rank < ranks; rank++) renameSync(imagePath(folder, rank), imagePath(moved, rank));
  return moved;
}

/** They have begun again. */
export function removeMoved(folder: string): void {
  rmSync(movedIn(folder), { recursive: true, force: true });
}

const movedIn = (folder: string): string => join(folder, "moved");

/** The images are there, and the program: this makes them a frozen job. Throws the system's errors. */
export function writeJob(folder: string, job: FrozenJob): void {
  const part = join(folder, "job.json.part");
  writeFileSync(part, jobText(job), { flush: true, flag: "wx", mode: 0o600 });
  renameSync(part, join(folder, "job.json"));
}

/** The job, or why it cannot be gone on with. All images are looked at: their headers, not their contents. */
export function readJob(folder: string): FrozenJob | string {
  const cannot = `Cannot thaw ${folder}`;
  const file = join(folder, "job.json");
  if (!existsSync(file)) return `${cannot}: it holds no frozen job (there is no job.json)`;
  const wrong = distrust(folder);
  if (wrong !== undefined) return `${cannot}: ${wrong}, who could have changed it; copy it to a folder of your own`;
  let job: ReturnType<typeof frozenJobIn>;
  try {
    const strange = problemOf(file) ?? problemOf(moduleOf(folder));
    if (strange !== undefined) return `${cannot}: ${strange}`;
    job = frozenJobIn(readFileSync(file, "utf8"));
  } catch (error) {
    return `${cannot}: job.json cannot be read (${describeSystemError(error)}); copy the folder again`;
  }
  if (job === null) return `${cannot}: job.json is not as a freeze writes it; copy the folder again`;
  if (typeof job === "number") {
    return `${cannot}: it was frozen by another version of Banyan (format ${job}, this one has ${jobFormat})`;
  }
  for (let rank = 0; rank < job.ranks; rank++) {
    const image = join(folder, `${rank}.image`);
    try {
      readImageHeader(image, { rank, ranks: job.ranks });
      const strange = problemOf(image);
      if (strange !== undefined) return `${cannot}: ${strange}`;
    } catch (error) {
      if (error instanceof ImageError) return `${cannot}: ${error.message}`;
      throw error;
    }
  }
  return job;
}

/** Why a file of the folder is not believed; undefined: it is a file of this user's alone. */
function problemOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `its ${name} is missing; copy the folder again`;
    return `its ${name} cannot be opened (${code === "ELOOP" ? "it is a link" : describeSystemError(error)}); copy the folder again`;
  }
  try {
    const status = fstatSync(file);
    if (!status.isFile()) return `its ${name} is not a file; copy the folder again`;
    if (name === "job.json" && status.size > jobTextBytesMax) return `its ${name} is too large; copy the folder again`;
    return isOwnFile(file)
      ? undefined
      : `its ${name} may have been written by other users; copy it to a folder of your own`;
  } finally {
    closeSync(file);
  }
}
