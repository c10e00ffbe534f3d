/**
 * Mistakes of the program, and failures that the standard reports to programs: an error class (MPI 5.0 ABI values) and one
 * sentence in Banyan's grammar: the action that could not be done, a colon, the state and the wanted state.
 */
export const ErrorClass = {
  SUCCESS: 0,
  BUFFER: 1,
  COUNT: 2,
  TYPE: 3,
  TAG: 4,
  COMM: 5,
  RANK: 6,
  REQUEST: 7,
  ROOT: 8,
  GROUP: 9,
  OP: 10,
  TOPOLOGY: 11,
  DIMS: 12,
  ARG: 13,
  UNKNOWN: 14,
  TRUNCATE: 15,
  OTHER: 16,
  INTERN: 17,
  PENDING: 18,
  IN_STATUS: 19,
  ACCESS: 20,
  AMODE: 21,
  ASSERT: 22,
  BAD_FILE: 23,
  BASE: 24,
  CONVERSION: 25,
  DISP: 26,
  DUP_DATAREP: 27,
  FILE_EXISTS: 28,
  FILE_IN_USE: 29,
  FILE: 30,
  INFO_KEY: 31,
  INFO_NOKEY: 32,
  INFO_VALUE: 33,
  INFO: 34,
  IO: 35,
  KEYVAL: 36,
  LOCKTYPE: 37,
  NAME: 38,
  NO_MEM: 39,
  NOT_SAME: 40,
  NO_SPACE: 41,
  NO_SUCH_FILE: 42,
  PORT: 43,
  QUOTA: 44,
  READ_ONLY: 45,
  RMA_ATTACH: 46,
  RMA_CONFLICT: 47,
  RMA_RANGE: 48,
  RMA_SHARED: 49,
  RMA_SYNC: 50,
  SERVICE: 51,
  SIZE: 52,
  SPAWN: 53,
  UNSUPPORTED_DATAREP: 54,
  UNSUPPORTED_OPERATION: 55,
  WIN: 56,
  RMA_FLAVOR: 57,
  PROC_ABORTED: 58,
  VALUE_TOO_LARGE: 59,
  SESSION: 60,
  ERRHANDLER: 61,
  ABI: 62,
  /** ULFM has no ABI values; Banyan's lie behind the standard's. */
  PROC_FAILED: 75,
  PROC_FAILED_PENDING: 76,
  REVOKED: 77,
  LASTCODE: 16383,
} as const;
export type ErrorCode = number;

export const errorClassNames: ReadonlyMap<number, keyof typeof ErrorClass> = new Map(
  Object.entries(ErrorClass).map(([name, code]) => [code as number, name as keyof typeof ErrorClass]),
);

/** `MPI_ERR_RANK`, for messages. */
export function errorClassName(errorClass: number): string {
  if (errorClass === ErrorClass.SUCCESS) return "MPI_SUCCESS";
  return `MPI_ERR_${errorClassNames.get(errorClass) ?? errorClass}`;
}

export class MpiError extends Error {
  override readonly name = "MpiError";
  /** The error code; for predefined classes code and class are the same number. */
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** "MPI_ERR_RANK": the standard's name of the class. */
  get className(): string {
    return errorClassName(this.code);
  }
}
