/** MPI_File_close: when no member uses the file any more its lock and shared pointer go, and the file itself if that was wanted. */
import type { ErrorCode } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { TaskHost } from "../../core/process/task.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { type CFile, FILE_NULL } from "./file.ts";
import { FileTask } from "./file-task.ts";
import type { FileUser } from "./file-user.ts";
import { Mode } from "./mode.ts";
import { diskOf } from "./program-files.ts";
import { forgetOwn, forgetShared, isFirst } from "./shared-pointer.ts";

export class CloseFile extends FileTask {
  protected override act(step: number): readonly number[] | null {
    const { program, file } = this;
    switch (step) {
      case 0:
        forgetOwn(program, file);
        diskOf(program).close(file.descriptor);
        return [];
      case 1:
        forgetShared(program, file);
        // The others return when it is gone: they may make a new one.
        if (isFirst(file) && file.is(Mode.DELETE_ON_CLOSE)) diskOf(program).forget(file.path);
        return [];
      default:
        return null;
    }
  }

  /** With a dead member the others close it each for itself. */
  override callOff(_process: TaskHost, error: ErrorCode): void {
    this.error = error;
    this.act(0);
    this.undo();
  }

  /** What could not be closed is not open either. */
  protected override undo(): void {
    release(this.program, this.file);
  }
}

export class Closed implements Continuation {
  private readonly file: CFile;
  private readonly handleAt: number;

  constructor(file: CFile, handleAt: number) {
    this.file = file;
    this.handleAt = handleAt;
  }

  resume(program: Program): number {
    release(program, this.file);
    return program.putInt(this.handleAt, FILE_NULL);
  }
}

/** The program has the file no longer. */
export function release(program: FileUser, { comm, handle }: CFile): void {
  program.operations.freeCommunicator(comm);
  program.files.remove(handle);
}

saves({ CloseFile, Closed });
