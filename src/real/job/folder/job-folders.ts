/**
 * The two folders of a running job: a temporary one, and the one that outlives the command (job-folder.ts). A job that was given
 * none of the second kind has the temporary one for both.
 */
import { describeSystemError } from "../../../core/base/system-error.ts";
import { removeFolder } from "../../disk/remove-folder.ts";
import type { ProgramPlace } from "../../messages/program-place.ts";
import { checkpointsIn, programsIn, removeEndedJob } from "./job-folder.ts";

interface JobFoldersOptions {
  readonly folder: string;
  /** Empty: nothing of the job outlives the command. */
  readonly jobFolder: string;
}

export class JobFolders {
  readonly #options: JobFoldersOptions;
  /** For everything that is needed to go on with the job. */
  readonly lasting: string;
  /** The program as the ranks load it. */
  readonly bundle: ProgramPlace["bundle"];
  /** Images of checkpoints. */
  readonly checkpoints: string;

  constructor(options: JobFoldersOptions) {
    this.#options = options;
    this.lasting = options.jobFolder === "" ? options.folder : options.jobFolder;
    this.bundle = programsIn(this.lasting);
    this.checkpoints = checkpointsIn(this.lasting);
  }

  /** The job is over, and leaves that in its folder. Returns the obstacle; empty: none. */
  clear(left: "all" | "frozen" | "nothing"): string {
    const { folder, jobFolder } = this.#options;
    try {
      removeFolder(folder);
    } catch (error) {
      return `Cannot remove ${folder}, a folder of the job: ${describeSystemError(error)}`;
    }
    if (jobFolder === "" || left === "all") return "";
    try {
      removeEndedJob(jobFolder, { isFrozen: left === "frozen" });
      return "";
    } catch (error) {
      return `Cannot clear ${jobFolder}, the job's folder: ${describeSystemError(error)}`;
    }
  }
}
