/**
 * The program's mistakes and what the standard lets it hear of the world's: an error class (MPI 5.0 ABI values) and one
 * sentence in our grammar: what could not be done, a colon, the state and the wanted state.
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
  INFO_KEY: 30,
  INFO_NOKEY: 31,
  INFO_VALUE: 32,
  INFO: 33,
  KEYVAL: 36,
  NO_MEM: 39,
  UNSUPPORTED_OPERATION: 52,
  PROC_ABORTED: 58,
  VALUE_TOO_LARGE: 59,
  ERRHANDLER: 61,
  /** ULFM has no ABI values; ours lie behind the standard's. */
  PROC_FAILED: 75,
  PROC_FAILED_PENDING: 76,
  REVOKED: 77,
  LASTCODE: 16383,
} as const;
export type ErrorCode = number;

export class MpiError extends Error {
  override readonly name = "MpiError";
  /** The error code; for predefined classes code and class are the same number. */
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
