/** A file that a C program has opened with MPI: plain data, part of an image. */
import { saves } from "../../core/base/saved-classes.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { type ErrorHandling, errorsReturn } from "../../core/comm/error-handler.ts";
import type { Info } from "../../core/comm/info.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { ErrorSubject, FunctionPointer } from "../handles/objects.ts";
import { type Mode, modeHas } from "./mode.ts";
import type { View } from "./view.ts";

export const FILE_NULL = 0x118;

/** What errors about no open file go to. Unlike those of communicators they are returned unless the program says otherwise. */
export class NoFile implements ErrorSubject {
  readonly handle = FILE_NULL;
  readonly title = "MPI_FILE_NULL";
  errorHandler: ErrorHandling<FunctionPointer> = errorsReturn;
}

/** A split collective between its two calls (MPI 5.0 §14.4.5): all is done in the first. */
interface SplitAccess {
  /** Without MPI_File_ and _begin. */
  readonly name: string;
  readonly bytes: number;
}

/** The shared file pointer as this process knows it; where it really is: shared-pointer.ts. */
interface SharedPosition {
  /** In etypes: counts where no file says otherwise. */
  start: number;
  /** The file that says so now, empty: none yet. */
  path: string;
}

interface CFileOptions {
  /** A duplicate of the given communicator: messages about the file meet no others. */
  readonly comm: Communicator;
  readonly name: string;
  readonly path: string;
  readonly descriptor: number;
  readonly mode: number;
  readonly info: Info;
  readonly errorHandler: ErrorHandling<FunctionPointer>;
}

export class CFile implements ErrorSubject {
  handle = 0;
  readonly comm: Communicator;
  readonly name: string;
  /** The system's. */
  readonly path: string;
  /** Among the program's descriptors (wasi/descriptors.ts), which reopen it after a restore. */
  readonly descriptor: number;
  readonly mode: number;
  readonly info: Info;
  errorHandler: ErrorHandling<FunctionPointer>;
  view: View = bytesOfAll;
  /** The individual file pointer, in etypes of the view. */
  position = 0;
  readonly shared: SharedPosition = { start: 0, path: "" };
  isAtomic = false;
  split: SplitAccess | null = null;

  constructor(options: CFileOptions) {
    this.comm = options.comm;
    this.name = options.name;
    this.path = options.path;
    this.descriptor = options.descriptor;
    this.mode = options.mode;
    this.info = options.info;
    this.errorHandler = options.errorHandler;
  }

  get title(): string {
    return `file "${this.name}"`;
  }

  is(mode: Mode): boolean {
    return modeHas(this.mode, mode);
  }
}

/** What a file that was just opened shows. */
const bytesOfAll: View = {
  displacement: 0,
  etype: predefinedTypes.BYTE,
  filetype: predefinedTypes.BYTE,
  representation: "native",
};

saves({ CFile, NoFile });
