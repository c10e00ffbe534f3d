/**
 * Error handlers (MPI 5.0 §9.3): the consequence of a failed call on a communicator, window, file or session. Handlers are
 * values; ending a job and calling the program's functions are ports.
 */
import { unreachable } from "../base/assert.ts";
import type { ErrorCode, MpiError } from "../base/mpi-error.ts";

type ErrorHandlerOwner = "communicator" | "window" | "file" | "session";

export type ErrorHandling<Callback = unknown> =
  /** Ends every process that is connected. */
  | { readonly kind: "fatal"; readonly handle: number }
  /** Ends the processes of the communicator (window, file, session). */
  | { readonly kind: "abort"; readonly handle: number }
  /** The call returns the code. */
  | { readonly kind: "return"; readonly handle: number }
  /** The program's function is called, then the call returns the code. */
  | { readonly kind: "user"; readonly owner: ErrorHandlerOwner; readonly callback: Callback };

export const errorsAreFatal = { kind: "fatal", handle: 0x141 } as const;
export const errorsAbort = { kind: "abort", handle: 0x142 } as const;
export const errorsReturn = { kind: "return", handle: 0x143 } as const;

export function userErrorHandler<Callback>(owner: ErrorHandlerOwner, callback: Callback): ErrorHandling<Callback> {
  return { kind: "user", owner, callback };
}

interface ErrorPorts<Callback = unknown> {
  /** Neither returns: both end this process too. */
  endJob(error: MpiError): never;
  endMembers(error: MpiError): never;
  call(callback: Callback, code: ErrorCode): void;
}

/** Gives an error to a handler. Returns the result of the failed call. */
export function handle<Callback>(
  handler: ErrorHandling<Callback>,
  error: MpiError,
  ports: ErrorPorts<Callback>,
): ErrorCode {
  switch (handler.kind) {
    case "fatal":
      return ports.endJob(error);
    case "abort":
      return ports.endMembers(error);
    case "return":
      return error.code;
    case "user":
      ports.call(handler.callback, error.code);
      return error.code;
    default:
      return unreachable(handler);
  }
}
