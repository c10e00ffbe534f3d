/** Something that all members of an open file do together. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { CFile } from "./file.ts";
import type { FileUser } from "./file-user.ts";
import { Together } from "./together.ts";

export abstract class FileTask<User extends FileUser = FileUser> extends Together {
  protected readonly program: User;
  protected readonly file: CFile;

  constructor(program: User, file: CFile) {
    super();
    this.program = program;
    this.file = file;
  }

  override get together(): Communicator {
    return this.file.comm;
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
