/**
 * Error codes, classes and their texts (MPI 5.0 §9.4, §9.5): the predefined ones, where code and class are one number, and
 * those that a program adds, with numbers behind LASTCODE.
 */
import { ErrorClass, type ErrorCode, errorClassName, MpiError, errorClassNames as names } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";

/** Longest text, without the closing zero of C. */
export const errorStringBytesMax = 511;

type ClassName = Exclude<keyof typeof ErrorClass, "LASTCODE">;

/** The standard's descriptions. */
const texts: Readonly<Record<ClassName, string>> = {
  SUCCESS: "no error",
  BUFFER: "invalid buffer pointer argument",
  COUNT: "invalid count argument",
  TYPE: "invalid datatype argument",
  TAG: "invalid tag argument",
  COMM: "invalid communicator",
  RANK: "invalid rank",
  REQUEST: "invalid request",
  ROOT: "invalid root argument",
  GROUP: "invalid group",
  OP: "invalid operation",
  TOPOLOGY: "invalid topology",
  DIMS: "invalid dimension argument",
  ARG: "invalid argument of some other kind",
  UNKNOWN: "unknown error",
  TRUNCATE: "message truncated on receive",
  OTHER: "known error not in this list",
  INTERN: "internal MPI error",
  PENDING: "operation not complete for one or more requests",
  IN_STATUS: "error code is in status",
  ACCESS: "permission denied",
  AMODE: "error related to the access mode passed to MPI_File_open",
  ASSERT: "invalid assertion argument",
  BAD_FILE: "invalid file name",
  BASE: "invalid base passed to MPI_Free_mem",
  CONVERSION: "an error occurred in a user supplied data conversion function",
  DISP: "invalid displacement argument",
  DUP_DATAREP: "data representation identifier already registered",
  FILE_EXISTS: "file exists",
  FILE_IN_USE: "file operation could not be completed, the file is open in some process",
  FILE: "invalid file handle",
  INFO_KEY: "info key longer than MPI_MAX_INFO_KEY",
  INFO_NOKEY: "invalid key passed to MPI_Info_delete",
  INFO_VALUE: "info value longer than MPI_MAX_INFO_VAL",
  INFO: "invalid info argument",
  IO: "other I/O error",
  KEYVAL: "invalid keyval",
  LOCKTYPE: "invalid lock type argument",
  NAME: "invalid service name passed to MPI_Lookup_name",
  NO_MEM: "memory is exhausted",
  NOT_SAME: "collective argument not identical on all processes, or collective routines called in a different order",
  NO_SPACE: "not enough space",
  NO_SUCH_FILE: "file does not exist",
  PORT: "invalid port name passed to MPI_Comm_connect",
  QUOTA: "quota exceeded",
  READ_ONLY: "read-only file or file system",
  RMA_ATTACH: "memory cannot be attached",
  RMA_CONFLICT: "conflicting accesses to window",
  RMA_RANGE: "target memory is not part of the window",
  RMA_SHARED: "memory cannot be shared",
  RMA_SYNC: "wrong synchronization of RMA calls",
  SERVICE: "invalid service name passed to MPI_Unpublish_name",
  SIZE: "invalid size argument",
  SPAWN: "error in spawning processes",
  UNSUPPORTED_DATAREP: "unsupported data representation passed to MPI_File_set_view",
  UNSUPPORTED_OPERATION: "unsupported operation",
  WIN: "invalid window argument",
  RMA_FLAVOR: "passed window has the wrong flavor for the called function",
  PROC_ABORTED: "operation failed because a peer process has aborted",
  VALUE_TOO_LARGE: "value is too large to store",
  SESSION: "invalid session argument",
  ERRHANDLER: "invalid error handler argument",
  ABI: "invalid use of the application binary interface",
  PROC_FAILED: "a process involved in the operation has failed",
  PROC_FAILED_PENDING: "a process that may have sent the message has failed, the receive is still pending",
  REVOKED: "the communication object is revoked",
};

interface Added {
  readonly errorClass: number;
  text: string;
}

/** The codes of one process. */
export class ErrorCodes {
  private readonly added = new Map<ErrorCode, Added>();
  private last: ErrorCode = ErrorClass.LASTCODE;

  /**
   * The value of the attribute LASTUSEDCODE: no code in use is greater. Numbers are never used twice, so the value only grows.
   */
  get lastUsed(): ErrorCode {
    return this.last;
  }

  addClass(): number {
    const errorClass = ++this.last;
    this.added.set(errorClass, { errorClass, text: "" });
    return errorClass;
  }

  addCode(errorClass: number): ErrorCode {
    if (this.classOf(errorClass) !== errorClass)
      throw wrong(`add a code to class ${errorClass}`, "it is a code, not a class");
    const code = ++this.last;
    this.added.set(code, { errorClass, text: "" });
    return code;
  }

  /** Replaces an earlier text. */
  addString(code: ErrorCode, text: string): void {
    if (text.length > errorStringBytesMax) {
      throw wrong(
        `set the text of error code ${code}`,
        `it has ${text.length} characters and may have ${errorStringBytesMax}`,
      );
    }
    this.own("set the text of", code).text = text;
  }

  removeString(code: ErrorCode): void {
    const added = this.own("remove the text of", code);
    if (added.text === "") throw wrong(`remove the text of error code ${code}`, "it has none");
    added.text = "";
  }

  removeCode(code: ErrorCode): void {
    if (this.own("remove", code).errorClass === code)
      throw wrong(`remove error code ${code}`, "it is a class, not a code");
    this.added.delete(code);
  }

  removeClass(errorClass: number): void {
    if (this.own("remove", errorClass).errorClass !== errorClass) {
      throw wrong(`remove error class ${errorClass}`, "it is a code, not a class");
    }
    for (const [code, added] of this.added) {
      if (added.errorClass === errorClass && code !== errorClass) {
        throw wrong(`remove error class ${errorClass}`, `its code ${code} is still there`);
      }
    }
    this.added.delete(errorClass);
  }

  classOf(code: ErrorCode): number {
    if (isPredefined(code)) return code;
    const added = this.added.get(code);
    if (added === undefined) throw wrong(`find the class of error code ${code}`, "there is no such code");
    return added.errorClass;
  }

  /** Empty for an added code without a text. */
  stringOf(code: ErrorCode): string {
    if (isPredefined(code)) return `${errorClassName(code)}: ${texts[names.get(code) as ClassName]}`;
    const added = this.added.get(code);
    if (added === undefined) throw wrong(`find the text of error code ${code}`, "there is no such code");
    return added.text;
  }

  private own(verb: string, code: ErrorCode): Added {
    const added = this.added.get(code);
    if (added !== undefined) return added;
    throw wrong(`${verb} error code ${code}`, isPredefined(code) ? "it is predefined" : "there is no such code");
  }
}

const isPredefined = (code: ErrorCode): boolean => names.has(code) && code !== ErrorClass.LASTCODE;

function wrong(what: string, state: string): MpiError {
  return new MpiError(ErrorClass.ARG, `Cannot ${what}: ${state}`);
}

lives({ ErrorCodes });
