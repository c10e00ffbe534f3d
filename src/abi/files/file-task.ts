/** Something that all members of an open file do together. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Program } from "../program.ts";
import type { CFile } from "./file.ts";
import { Together } from "./together.ts";

export abstract class FileTask extends Together {
  protected readonly program: Program;
  protected readonly file: CFile;

  constructor(program: Program, file: CFile) {
    super();
    this.program = program;
    this.file = file;
  }

  protected override members(): Communicator {
    return this.file.comm;
  }

  protected checkSame(what: string, numbers: readonly (readonly number[])[]): void {
    const [first] = numbers;
    const other = numbers.find((theirs) => theirs.some((value, i) => value !== first![i]));
    if (other === undefined) return;
    const state = `some say ${first!.join(", ")} and others ${other.join(", ")}`;
    throw new MpiError(ErrorClass.NOT_SAME, `Cannot set the ${what} of ${this.file.title}: ${state}`);
  }
}
