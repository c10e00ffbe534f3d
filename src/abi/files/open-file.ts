/**
 * MPI_File_open: the members get a communicator of their own, look whether they want the same, then the first of them opens the
 * file, and creates it if that is wanted; the others find it as it is.
 */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Info } from "../../core/comm/info.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { type Duplicate, DuplicateForFile } from "../../core/process/communicators/duplicate.ts";
import type { Process } from "../../core/process/process.ts";
import type { Creation } from "../../core/process/task.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { CFile } from "./file.ts";
import type { FileUser } from "./file-user.ts";
import { checkMode, howToOpen, Mode, modeHas } from "./mode.ts";
import { diskOf } from "./program-files.ts";
import { forgetShared } from "./shared-pointer.ts";
import { Together } from "./together.ts";

interface OpenOptions {
  readonly name: string;
  readonly mode: number;
  readonly info: Info;
}

export class OpenFile extends Together {
  private readonly program: FileUser;
  private readonly options: OpenOptions;
  private readonly duplicate: Duplicate;
  private path = "";
  /** −1: not open yet. */
  private descriptor = -1;
  /** Of both pointers. */
  private position = 0;

  constructor(program: FileUser, parent: Communicator, options: OpenOptions) {
    super();
    this.program = program;
    this.options = options;
    this.duplicate = new DuplicateForFile(parent);
  }

  /** As the others see it, until there is a communicator of its own. */
  override get creation(): Creation | null {
    return this.duplicate.result === null ? this.duplicate.creation : null;
  }

  override isStep(comm: Communicator, tag: number): boolean {
    return this.duplicate.isStep(comm, tag);
  }

  protected override members(process: Process): Communicator | null {
    const { duplicate } = this;
    if (duplicate.result === null && duplicate.advance(process)) this.error = duplicate.error;
    return duplicate.result;
  }

  protected override act(step: number): readonly number[] | null {
    const { name, mode } = this.options;
    const isFirst = this.duplicate.result!.rank === 0;
    switch (step) {
      case 0:
        checkMode(mode);
        this.path = diskOf(this.program).pathOf(name);
        return [mode];
      case 1:
        if (isFirst) this.open(true);
        return [isFirst ? this.begin() : 0];
      case 2:
        if (!isFirst) this.open(false);
        return [];
      default:
        return null;
    }
  }

  protected override numberCount(step: number): number {
    return step < 2 ? 1 : 0;
  }

  protected override heard(step: number, numbers: readonly (readonly number[])[]): void {
    if (step === 1) this.position = numbers[0]![0]!;
    if (step !== 0) return;
    const { name, mode } = this.options;
    const other = numbers.find(([theirs]) => theirs !== mode);
    if (other === undefined) return;
    throw new MpiError(ErrorClass.NOT_SAME, `Cannot open "${name}": it is wanted with modes ${mode} and ${other[0]}`);
  }

  protected override undo(): void {
    if (this.descriptor >= 0) diskOf(this.program).close(this.descriptor);
    if (this.duplicate.result !== null) this.program.operations.freeCommunicator(this.duplicate.result);
  }

  /** When it has ended without an error. */
  file(): CFile {
    const { name, mode, info } = this.options;
    const { program, path, descriptor } = this;
    const { errorHandler } = program.noFile;
    const file = new CFile({ comm: this.duplicate.result!, name, path, descriptor, mode, info, errorHandler });
    file.handle = program.files.add(file);
    file.position = this.position;
    file.shared.start = this.position;
    return file;
  }

  /** The position at which every member begins. A run before this one that used the same names has left nothing. */
  private begin(): number {
    const { program, path, descriptor } = this;
    forgetShared(program, { comm: this.duplicate.result!, path, shared: { start: 0, path: "" } });
    return modeHas(this.options.mode, Mode.APPEND) ? diskOf(program).size(descriptor) : 0;
  }

  private open(creates: boolean): void {
    this.descriptor = diskOf(this.program).open(this.path, howToOpen(this.options.mode, creates));
  }
}

/** The file is open everywhere. */
export class Opened implements Continuation {
  private readonly task: OpenFile;
  private readonly out: number;

  constructor(task: OpenFile, out: number) {
    this.task = task;
    this.out = out;
  }

  resume(program: Program): number {
    program.ints[this.out >> 2] = this.task.file().handle;
    return 0;
  }
}

saves({ OpenFile, Opened });
