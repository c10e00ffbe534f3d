/** What all members of an open file do together, but for opening, closing and views. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { type Access, etypesOf } from "./access.ts";
import type { CFile } from "./file.ts";
import { FileTask } from "./file-task.ts";
import type { FileUser, FileUserWithMemory } from "./file-user.ts";
import { diskOf } from "./program-files.ts";
import { seekTarget } from "./seek.ts";
import { advanceShared, isFirst, setShared, sharedPosition } from "./shared-pointer.ts";

export class SyncFile extends FileTask {
  protected override act(step: number): readonly number[] | null {
    if (step > 0) return null;
    diskOf(this.program).sync(this.file.descriptor);
    return [];
  }
}

/** MPI_File_set_size, and MPI_File_preallocate, which never makes a file smaller. */
export class SetSize extends FileTask {
  private readonly size: number;
  private readonly mayShrink: boolean;

  constructor(program: FileUser, file: CFile, size: number, mayShrink: boolean) {
    super(program, file);
    this.size = size;
    this.mayShrink = mayShrink;
  }

  protected override act(step: number): readonly number[] | null {
    const { program, file, size } = this;
    if (step > 1) return null;
    if (step === 0) {
      if (size >= 0) return [size];
      throw new MpiError(ErrorClass.ARG, `Cannot set the size of ${file.title} to ${size}: sizes are from 0`);
    }
    const disk = diskOf(program);
    if (isFirst(file) && (this.mayShrink || disk.size(file.descriptor) < size)) disk.setSize(file.descriptor, size);
    return [];
  }

  protected override numberCount(step: number): number {
    return step === 0 ? 1 : 0;
  }

  protected override heard(step: number, numbers: readonly (readonly number[])[]): void {
    if (step === 0) this.checkSame("size", numbers);
  }
}

export class SetAtomicity extends FileTask {
  private readonly isAtomic: boolean;

  constructor(program: FileUser, file: CFile, isAtomic: boolean) {
    super(program, file);
    this.isAtomic = isAtomic;
  }

  protected override act(step: number): readonly number[] | null {
    if (step === 0) return [this.isAtomic ? 1 : 0];
    this.file.isAtomic = this.isAtomic;
    return null;
  }

  protected override numberCount(): number {
    return 1;
  }

  protected override heard(_step: number, numbers: readonly (readonly number[])[]): void {
    this.checkSame("atomicity", numbers);
  }
}

/** MPI_File_seek_shared: the first member finds the place, and no member goes on before the pointer is there. */
export class SeekShared extends FileTask {
  private readonly offset: number;
  private readonly whence: number;
  private target = 0;

  constructor(program: FileUser, file: CFile, offset: number, whence: number) {
    super(program, file);
    this.offset = offset;
    this.whence = whence;
  }

  protected override act(step: number): readonly number[] | null {
    const { program, file, offset, whence } = this;
    switch (step) {
      case 0:
        return [offset, whence];
      case 1:
        return [isFirst(file) ? seekTarget(program, file, offset, whence, sharedPosition(program, file)) : 0];
      case 2:
        setShared(program, file, this.target);
        return [];
      default:
        return null;
    }
  }

  protected override numberCount(step: number): number {
    return Math.max(0, 2 - step);
  }

  protected override heard(step: number, numbers: readonly (readonly number[])[]): void {
    if (step === 0) this.checkSame("shared pointer", numbers);
    if (step === 1) this.target = numbers[0]![0]!;
  }
}

/** The place of each member in an access in the order of their ranks: the shared pointer moves on by what all want together. */
export class TakeTurns extends FileTask<FileUserWithMemory> {
  private readonly access: Access;
  private total = 0;
  /** In etypes: where this member's part begins. */
  start = 0;

  constructor(program: FileUserWithMemory, file: CFile, access: Access) {
    super(program, file);
    this.access = access;
  }

  protected override act(step: number): readonly number[] | null {
    const { program, file } = this;
    if (step === 0) return [etypesOf(program, file, this.access)];
    if (step > 1) return null;
    return [isFirst(file) ? advanceShared(program, file, this.total) : 0];
  }

  protected override numberCount(): number {
    return 1;
  }

  protected override heard(step: number, numbers: readonly (readonly number[])[]): void {
    if (step === 1) {
      this.start += numbers[0]![0]!;
      return;
    }
    const { rank } = this.file.comm;
    for (const [other, [etypes]] of numbers.entries()) {
      this.total += etypes!;
      if (other < rank) this.start += etypes!;
    }
  }
}

saves({ SyncFile, SetSize, SetAtomicity, SeekShared, TakeTurns });
