/**
 * A collective under way, as plain data: an image can hold it, and a process restored from the image goes on with it.
 */
import type { Brand, Pointer } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { CompiledSchedule } from "./program.ts";

export type OperationId = Brand<"OperationId">;

/** What the caller says of an operation. All but `program` are handed through to the ports. */
export interface OperationCall {
  readonly program: CompiledSchedule;
  /** Which communicator. */
  readonly channel: number;
  /**
   * Keeps the messages of this operation from those of others on the communicator: the number of the collective there, the
   * same on all ranks because all start collectives in the same order. Many may be outstanding, each with its own.
   */
  readonly tag: number;
  /** Which operation on which datatype; anything when the collective reduces nothing. */
  readonly reduction: number;
  /** Who is told in the end. */
  readonly request: number;
  readonly send: Pointer;
  readonly receive: Pointer;
  /**
   * Is a message that is shorter than the schedule says a mistake? It is where ranks pass on what they were given or combine
   * it; where each message is a part of its own, what has come is there.
   */
  readonly exact: boolean;
  /** What is wrong with the call already; it runs, for the sake of the others, and ends with this. 0: nothing. */
  readonly error: ErrorCode;
}

export const Phase = {
  FREE: 0,
  /** Waits for the messages of a round, `records`. */
  RUNNING: 1,
  /** The program combines; see `CollectivePorts.reduce`. */
  REDUCING: 2,
  /** Has failed; messages still under way use its buffers, so it stays, and is reported when they have ended. */
  FAILED: 3,
  /** Over; its place in the table is about to be free. */
  DONE: 4,
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

export interface Operation extends Omit<OperationCall, "error"> {
  readonly id: OperationId;
  phase: Phase;
  /** Word of the program where the next round begins. */
  nextRound: number;
  /** Word of the program where the next local step of this round is, and how many there are. */
  nextLocal: number;
  localsLeft: number;
  /** The messages of the round that are under way: the first `recordCount` entries. */
  records: number[];
  recordCount: number;
  /** Valid when the program wants scratch space. */
  scratch: Pointer;
  /** How it has ended, or will. */
  error: ErrorCode;
  /**
   * Numbers of its sends in their channels, where those must follow from the program's order: whenever a round begins, its
   * messages have the numbers of the moment when the operation was started. Empty otherwise.
   */
  numbers: number[];
  nextNumber: number;
}
