/** A communicator as its parts see it: its name for messages to people, and its error handler. */
import { MpiError } from "../core/base/mpi-error.ts";
import type { NamedCommunicator } from "../core/binding/checks.ts";

/** An object that has an error handler. */
export interface ErrorOwner {
  /** Gives the error to the error handler; throws it when the handler returns. */
  raise(error: MpiError): never;
}

export interface Owner extends NamedCommunicator, ErrorOwner {}

/** Gives a mistake of the program to the error handler of `owner`; any other error is thrown as it is. */
export function refuse(owner: ErrorOwner, error: unknown): never {
  if (!(error instanceof MpiError)) throw error;
  // Between the program and the place where its mistake was found are more calls than a stack trace shows.
  Error.captureStackTrace(error, refuse);
  return owner.raise(error);
}

/** Runs `call`; mistakes of the program in it go to the error handler of `owner`. */
export function guarded<T>(owner: ErrorOwner, call: () => T): T {
  try {
    return call();
  } catch (error) {
    return refuse(owner, error);
  }
}
