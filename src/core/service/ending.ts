/**
 * How a rank's thread came to its end, and what that means: the exit code it stands for, whether it is a failure, and the
 * words for it. Plain data, because it crosses from the rank over its node to the dispatcher.
 */
import { unreachable } from "../base/assert.ts";

/** The program's last statement was reached and nothing was left to do. */
interface Returned {
  readonly kind: "returned";
}
/** `process.exit(code)`, or `process.exitCode` at the end of the program. */
interface Exited {
  readonly kind: "exited";
  readonly code: number;
}
/** The program had called MPI_Finalize, and then ended with that code, which is not 0: it has done its part in the job. */
interface Finalized {
  readonly kind: "finalized";
  readonly code: number;
}
/** It stands still inside an MPI call, and an image of it has been written: it can go on another time. */
interface Frozen {
  readonly kind: "frozen";
}
/** An exception or a rejection that was not caught. */
export interface Threw {
  readonly kind: "threw";
  /** "TypeError: x is not a function", first line only. */
  readonly what: string;
  /** What else it says: the other lines of its message, what caused it. */
  readonly details: readonly string[];
  /** The user's frames, innermost first, "solve (/project/solver.ts:12:5)"; empty when the error has no stack. */
  readonly frames: readonly string[];
}
/** A signal that the program (in C) raised on itself and did not handle, or that machines answer its mistake with. */
export interface Signalled {
  readonly kind: "signalled";
  readonly signal: number;
  /** "SIGKILL", where the number has a name. */
  readonly name: string;
  /** The mistake; empty: it raised the signal. */
  readonly why: string;
  /** Of C, innermost first: "solve (solver.c:42:7)", or "solve" where lines are not known. */
  readonly frames: readonly string[];
}
/** A program in C that cannot go on and says why. */
interface GaveUp {
  readonly kind: "gave-up";
  readonly why: string;
}
/** MPI_Abort on a communicator that is not that of all, where others go on: all of its members end. Known at the dispatcher alone. */
interface Aborted {
  readonly kind: "aborted";
  readonly code: number;
  readonly message: string;
  readonly ranks: readonly number[];
}
/** The event loop ran dry while the program still awaited something. */
interface Starved {
  readonly kind: "starved";
}
/** The thread came to an end, but requests it had started were not finished. */
interface Unfinished {
  readonly kind: "unfinished";
  readonly requests: number;
}
/** The JavaScript heap of the thread was full. */
interface OutOfMemory {
  readonly kind: "out-of-memory";
  readonly heapMb: number;
}
/** The thread was gone without a word: it was terminated. */
interface Vanished {
  readonly kind: "vanished";
  readonly code: number;
}
export type Ending =
  | Returned
  | Frozen
  | Exited
  | Finalized
  | Threw
  | Signalled
  | GaveUp
  | Aborted
  | Starved
  | Unfinished
  | OutOfMemory
  | Vanished;

/** The exit code of the job when this ending decides it; 0 means that the rank did not fail. */
export function codeOfEnding(ending: Ending): number {
  switch (ending.kind) {
    case "returned":
    case "frozen":
      return 0;
    case "exited":
    case "finalized":
      return codeFromNumber(ending.code);
    case "vanished":
    case "aborted":
      return codeFromNumber(ending.code) || 1;
    case "starved":
      // What Node itself exits with for an unsettled top-level await.
      return 13;
    case "signalled":
      return codeFromNumber(128 + ending.signal);
    case "threw":
    case "gave-up":
    case "unfinished":
    case "out-of-memory":
      return 1;
    default:
      return unreachable(ending);
  }
}

/** The operating system keeps eight bits; a code that was not 0 must not become 0. */
export function codeFromNumber(code: number): number {
  return code === 0 ? 0 : code & 0xff || 1;
}

/** Why the rank failed, as the part of a message behind the colon. */
export function describeEnding(ending: Ending): string {
  switch (ending.kind) {
    case "returned":
      return "reached the end of its program";
    case "frozen":
      return "stands still";
    case "exited":
      return `exited with code ${ending.code}`;
    case "finalized":
      return `exited with code ${ending.code} after MPI_Finalize`;
    case "threw":
      return ending.what;
    case "signalled":
      return ending.why === "" ? `ended by ${ending.name}` : `${ending.name}: ${ending.why}`;
    case "gave-up":
      return ending.why;
    case "aborted":
      return `${ending.message} ended ranks ${ending.ranks.join(", ")}`;
    case "starved":
      return "it ended while its program still awaited something that can no longer happen";
    case "unfinished":
      return `it ended with ${ending.requests} unfinished request${ending.requests === 1 ? "" : "s"}; wait for every request before the program ends`;
    case "out-of-memory":
      return `out of memory: its heap of ${ending.heapMb} MB is full; allow more with --heap`;
    case "vanished":
      return "its thread was terminated";
    default:
      return unreachable(ending);
  }
}
